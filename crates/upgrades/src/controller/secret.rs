//! The Secret of a node: which driver its keys are for. Values are neither kept nor shown.

use std::collections::BTreeMap;

use kubeapi::{
    ApiError, Client,
    k8s_openapi::api::core::v1::Secret,
    kube::Api,
};

use crate::{
    Driver,
    names::{NAMESPACE, key},
    next::SecretSeen,
};

const RHCOS: [&str; 3] = [key::IGNITION_URL, key::IGNITION_TOKEN, key::CA];
const RHEL: [&str; 5] = [key::BOOTSTRAP_URL, key::BOOTSTRAP_TOKEN, key::WORKER, key::CLUSTER, key::REGION];

/// The data of a Secret; none if there is none of this name.
pub(super) async fn read(client: &Client, name: &str) -> Result<Option<BTreeMap<String, String>>, ApiError> {
    let api: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
    let found = api.get_opt(name).await.map_err(ApiError::of(format!("read Secret {name}")))?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(found.map(|found| found.data.unwrap_or_default().into_iter().map(|(key, value)| (key, text(value.0))).collect()))
}

/// Which driver it is for, by its keys. A key that is there and empty is one that somebody forgot to fill.
pub(super) fn seen(name: &str, wanted: Option<Driver>, data: Option<&BTreeMap<String, String>>) -> SecretSeen {
    let Some(data) = data else { return SecretSeen::Missing(name.to_owned()) };
    let has = |key: &&str| data.get(*key).is_some_and(|value| !value.trim().is_empty());
    let missing = |keys: &[&str]| keys.iter().filter(|key| !has(key)).copied().collect::<Vec<_>>().join(", ");
    // What makes the difference is where the payload comes from; the CA belongs to both.
    let (rhcos, rhel) = (has(&key::IGNITION_URL), has(&key::BOOTSTRAP_URL));
    let driver = match (wanted, rhcos, rhel) {
        (Some(driver), ..) => driver,
        (None, true, false) => Driver::Rhcos,
        (None, false, true) => Driver::Rhel,
        (None, true, true) => {
            return SecretSeen::Bad(format!("Secret {name} has both {} and {}", key::IGNITION_URL, key::BOOTSTRAP_URL));
        }
        (None, false, false) => {
            return SecretSeen::Bad(format!("Secret {name} has neither {} nor {}", key::IGNITION_URL, key::BOOTSTRAP_URL));
        }
    };
    let missing = match driver {
        Driver::Rhcos => missing(&RHCOS),
        Driver::Rhel => missing(&RHEL),
    };
    if missing.is_empty() {
        return SecretSeen::For(driver);
    }
    SecretSeen::Bad(format!("Secret {name} lacks {missing} for {driver}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_say_which_driver() {
        let keys = |keys: &[&str]| keys.iter().map(|key| ((*key).to_owned(), "x".to_owned())).collect::<BTreeMap<_, _>>();
        let both: Vec<&str> = RHCOS.into_iter().chain(RHEL).collect();
        let mut empty = keys(&RHEL);
        empty.insert(key::REGION.to_owned(), " \n".to_owned());
        let lines = [
            ("none", None, None),
            ("rhcos", None, Some(keys(&RHCOS))),
            ("rhel", None, Some(keys(&RHEL))),
            ("both", None, Some(keys(&both))),
            ("both, rhel wanted", Some(Driver::Rhel), Some(keys(&both))),
            ("neither", None, Some(keys(&[key::CA]))),
            ("half", None, Some(keys(&RHEL[..3]))),
            ("empty", None, Some(empty)),
            ("another is wanted", Some(Driver::Rhcos), Some(keys(&RHEL))),
        ]
        .map(|(case, wanted, data)| format!("{case}: {:?}", seen("ipb-w1", wanted, data.as_ref())));
        insta::assert_snapshot!(lines.join("\n"));
    }
}
