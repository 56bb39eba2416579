//! Removing what we applied once and no longer want.

use kube::{
    Client,
    api::{DeleteParams, DynamicObject, Preconditions},
};
use serde_json::Value;

use crate::{
    ApiError, FIELD_MANAGER,
    resource::{Kinds, describe},
};

/// Those of the objects that are there and that we made. What another client made under the same name is not ours to evaluate.
pub async fn left_over(client: &Client, objects: &[Value]) -> Result<Vec<Value>, ApiError> {
    let mut kinds = Kinds::default();
    kinds.learn(client, objects).await?;
    let mut left = Vec::new();
    for object in objects {
        if live(client, &kinds, object).await?.is_some_and(|live| is_ours(&live)) {
            left.push(object.clone());
        }
    }
    Ok(left)
}

/// Removes those of the objects that are there and that we made.
pub async fn remove_all(client: &Client, objects: &[Value]) -> Result<(), ApiError> {
    let mut kinds = Kinds::default();
    kinds.learn(client, objects).await?;
    for object in objects {
        let Some(live) = live(client, &kinds, object).await?.filter(is_ours) else { continue };
        // Exactly what was seen: it may have been made again.
        let same = Preconditions { uid: live.metadata.uid, resource_version: live.metadata.resource_version };
        let removed =
            kinds.api(client, object)?.delete(name(object), &DeleteParams::default().preconditions(same)).await;
        match removed {
            Ok(_) => {}
            // Another master was faster, or the next check shows what has changed.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
            Err(error) => return Err(ApiError::of(format!("remove {}", describe(object)))(error)),
        }
    }
    Ok(())
}

async fn live(client: &Client, kinds: &Kinds, object: &Value) -> Result<Option<DynamicObject>, ApiError> {
    let read = kinds.api(client, object)?.get_opt(name(object)).await;
    read.map_err(ApiError::of(format!("read {}", describe(object))))
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

fn is_ours(live: &DynamicObject) -> bool {
    live.metadata.managed_fields.iter().flatten().any(|by| by.manager.as_deref() == Some(FIELD_MANAGER))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_we_applied_is_ours() {
        for (managers, expected) in [
            (vec![], false),
            (vec!["kubectl"], false),
            (vec!["kubectl", FIELD_MANAGER], true),
            (vec!["blackstart2"], false),
        ] {
            let fields: Vec<Value> = managers.iter().map(|manager| json!({ "manager": manager })).collect();
            let live = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "managedFields": fields } });
            assert_eq!(is_ours(&serde_json::from_value(live).unwrap()), expected, "{managers:?}");
        }
    }
}
