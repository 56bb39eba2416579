//! Server-side apply, and the question whether there is anything to apply.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use kube::{
    Client,
    api::{Patch, PatchParams},
};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::{
    ApiError, FIELD_MANAGER,
    resource::{Kinds, describe},
};

/// Requests at once: the API server of a cluster that starts has other things to do too.
const AT_ONCE: usize = 8;

/// How long the API server may take to serve a kind that was just defined.
const NEW_KIND: Duration = Duration::from_secs(10);

/// Those of the objects that applying would change or create, in their order.
pub async fn differing(client: &Client, objects: &[Value]) -> Result<Vec<Value>, ApiError> {
    let mut kinds = Kinds::default();
    // Kinds that a definition among the objects brings are not there yet.
    let mut known = Vec::new();
    let mut differing = Vec::new();
    for object in objects {
        match kinds.learn(client, std::slice::from_ref(object)).await {
            Err(ApiError::UnknownKind { .. }) => differing.push(object.clone()),
            learnt => {
                learnt?;
                known.push(object.clone());
            }
        }
    }
    let checks: Vec<_> = known.into_iter().map(|object| differs(client, &kinds, object)).collect();
    let checked: Vec<Option<Value>> = stream::iter(checks).buffered(AT_ONCE).try_collect().await?;
    differing.extend(checked.into_iter().flatten());
    let position = |object: &Value| objects.iter().position(|one| one == object);
    differing.sort_by_key(position);
    Ok(differing)
}

/// The object itself, if applying it would change or create something.
async fn differs(client: &Client, kinds: &Kinds, object: Value) -> Result<Option<Value>, ApiError> {
    let api = kinds.api(client, &object)?;
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let trial = PatchParams::apply(FIELD_MANAGER).force().dry_run();
    loop {
        let read = api.get_opt(name).await.map_err(ApiError::of(format!("read {}", describe(&object))))?;
        let Some(live) = read else { return Ok(Some(object)) };
        let doing = format!("try to apply {}", describe(&object));
        let tried = api.patch(name, &trial, &Patch::Apply(&object)).await.map_err(ApiError::of(doing))?;
        if comparable(&live) == comparable(&tried) {
            return Ok(None);
        }
        if live.metadata.resource_version == tried.metadata.resource_version {
            return Ok(Some(object));
        }
        // A controller wrote to it between the two requests: what differs may be that.
    }
}

/// An object without what the server changes by itself at every request.
fn comparable(object: &kube::api::DynamicObject) -> Value {
    let mut value = serde_json::to_value(object).unwrap_or_default();
    if let Some(metadata) = value["metadata"].as_object_mut() {
        metadata.remove("managedFields");
        metadata.remove("resourceVersion");
    }
    value
}

/// Creates or changes one object. Another owner of a field we set loses it: it is part of the cluster's promise.
pub async fn apply(client: &Client, object: &Value) -> Result<(), ApiError> {
    let mut kinds = Kinds::default();
    kinds.learn(client, std::slice::from_ref(object)).await?;
    apply_known(client, &kinds, object).await
}

async fn apply_known(client: &Client, kinds: &Kinds, object: &Value) -> Result<(), ApiError> {
    let api = kinds.api(client, object)?;
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let params = PatchParams::apply(FIELD_MANAGER).force();
    let doing = format!("apply {}", describe(object));
    api.patch(name, &params, &Patch::Apply(object)).await.map_err(ApiError::of(doing))?;
    Ok(())
}

/// Applies objects: namespaces and definitions of kinds first, because others need them. All others at once.
pub async fn apply_all(client: &Client, objects: &[Value]) -> Result<(), ApiError> {
    let (first, rest): (Vec<&Value>, Vec<&Value>) = objects
        .iter()
        .partition(|object| matches!(object["kind"].as_str(), Some("Namespace" | "CustomResourceDefinition")));
    for part in [first, rest] {
        // Each kind is asked for once, and not for every object of it.
        let (mut kinds, mut known, mut unknown) = (Kinds::default(), Vec::new(), Vec::new());
        for object in part {
            match kinds.learn(client, std::slice::from_ref(object)).await {
                Err(ApiError::UnknownKind { .. }) => unknown.push(object),
                learnt => {
                    learnt?;
                    known.push(object);
                }
            }
        }
        let work: Vec<_> = known.into_iter().map(|object| apply_known(client, &kinds, object)).collect();
        stream::iter(work).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        // What was just applied may bring their kinds.
        let work: Vec<_> = unknown.into_iter().map(|object| apply_with_retries(client, object)).collect();
        stream::iter(work).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    }
    Ok(())
}

/// A kind that has just been defined is served a moment later.
async fn apply_with_retries(client: &Client, object: &Value) -> Result<(), ApiError> {
    let deadline = Instant::now() + NEW_KIND;
    loop {
        match apply(client, object).await {
            Err(ApiError::UnknownKind { .. }) if Instant::now() < deadline => sleep(Duration::from_millis(200)).await,
            applied => return applied,
        }
    }
}
