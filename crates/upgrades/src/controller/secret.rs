//! The Secret of a node: which driver its keys are for, and where progress is reported to. No value of it is shown.

use std::collections::BTreeMap;

use kubeapi::{
    ApiError, Client,
    k8s_openapi::{ByteString, api::core::v1::Secret},
    kube::Api,
};

use crate::{
    Driver,
    names::{NAMESPACE, SECRET_LABEL, key},
    next::SecretSeen,
    progress::Destination,
};

const RHCOS: [&str; 3] = [key::IGNITION_URL, key::IGNITION_TOKEN, key::CA];
const RHEL: [&str; 5] = [key::BOOTSTRAP_URL, key::BOOTSTRAP_TOKEN, key::WORKER, key::CLUSTER, key::REGION];

/// A node's Secret as it was read.
pub(super) struct NodeSecret {
    pub(super) name: String,
    pub(super) uid: Option<String>,
    pub(super) version: Option<String>,
    /// Why it may not be used.
    not_ours: Option<String>,
    /// Keys that have a value; none if there is no Secret of this name.
    keys: Option<Vec<String>>,
    /// Where progress is reported to, or what is wrong with that.
    pub(super) destination: Result<Option<Destination>, String>,
}

/// Reads it.
pub(super) async fn read(client: &Client, name: &str) -> Result<NodeSecret, ApiError> {
    let api: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
    let found = api.get_opt(name).await.map_err(ApiError::of(format!("read Secret {name}")))?;
    let Some(found) = found else {
        let (uid, version, keys) = (None, None, None);
        return Ok(NodeSecret { name: name.to_owned(), uid, version, not_ours: None, keys, destination: Ok(None) });
    };
    let (uid, version) = (found.metadata.uid, found.metadata.resource_version);
    let labels = found.metadata.labels.unwrap_or_default();
    let is_ours = labels.get(SECRET_LABEL).is_some_and(|value| value == "true");
    let not_ours = match (is_ours, found.immutable == Some(true)) {
        (false, _) => Some(format!("it lacks the label {SECRET_LABEL}=true")),
        (true, true) => Some("it is immutable, so that its tokens could not be removed".to_owned()),
        (true, false) => None,
    };
    Ok(NodeSecret { uid, version, not_ours, ..NodeSecret::new(name, &found.data.unwrap_or_default()) })
}

impl NodeSecret {
    fn new(name: &str, data: &BTreeMap<String, ByteString>) -> Self {
        // A key that is there and empty is one that the user forgot to fill.
        let is_filled = |value: &ByteString| value.0.iter().any(|byte| !byte.is_ascii_whitespace());
        let keys = data.iter().filter(|(_, value)| is_filled(value)).map(|(key, _)| key.clone()).collect();
        let (uid, version, keys) = (None, None, Some(keys));
        Self { name: name.to_owned(), uid, version, not_ours: None, keys, destination: Destination::read(data) }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.iter().flatten().any(|there| there == key)
    }

    /// Which driver it is for, by its keys, unless that is given.
    pub(super) fn seen(&self, wanted: Option<Driver>) -> SecretSeen {
        let name = &self.name;
        if self.keys.is_none() {
            return SecretSeen::Missing(name.clone());
        }
        if let Some(why) = &self.not_ours {
            return SecretSeen::Bad(format!("Secret {name} cannot be used: {why}"));
        }
        if let Err(why) = &self.destination {
            return SecretSeen::Bad(format!("Secret {name}: {why}"));
        }
        // What makes the difference is where the payload comes from; the CA belongs to both.
        let driver = match (wanted, self.has(key::IGNITION_URL), self.has(key::BOOTSTRAP_URL)) {
            (Some(driver), ..) => driver,
            (None, true, false) => Driver::Rhcos,
            (None, false, true) => Driver::Rhel,
            (None, has, _) => {
                let word = if has { ["both", "and"] } else { ["neither", "nor"] };
                let (one, other) = (key::IGNITION_URL, key::BOOTSTRAP_URL);
                return SecretSeen::Bad(format!("Secret {name} has {} {one} {} {other}", word[0], word[1]));
            }
        };
        let wants: &[&str] = match driver {
            Driver::Rhcos => &RHCOS,
            Driver::Rhel => &RHEL,
        };
        let missing: Vec<&str> = wants.iter().copied().filter(|key| !self.has(key)).collect();
        if missing.is_empty() {
            return SecretSeen::For(driver);
        }
        SecretSeen::Bad(format!("Secret {name} lacks {} for {driver}", missing.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(keys: &[&str]) -> NodeSecret {
        let value = |key: &str| if key == key::REGION { " eu \n" } else { "x" };
        let data = keys.iter().map(|key| ((*key).to_owned(), ByteString(value(key).into()))).collect();
        NodeSecret::new("ipb-w1", &data)
    }

    #[test]
    fn the_keys_say_which_driver() {
        let both: Vec<&str> = RHCOS.into_iter().chain(RHEL).collect();
        let none = NodeSecret { keys: None, ..of(&[]) };
        let empty = [(key::BOOTSTRAP_URL.to_owned(), ByteString(b" \n".to_vec()))].into();
        let cases = vec![
            ("none", None, none),
            ("rhcos", None, of(&RHCOS)),
            ("rhel", None, of(&RHEL)),
            ("both", None, of(&both)),
            ("both, rhel wanted", Some(Driver::Rhel), of(&both)),
            ("neither", None, of(&[key::CA])),
            ("half", None, of(&RHEL[..3])),
            ("empty", None, NodeSecret::new("ipb-w1", &empty)),
            ("another is wanted", Some(Driver::Rhcos), of(&RHEL)),
            ("not ours", None, NodeSecret { not_ours: Some("it lacks a label".into()), ..of(&RHEL) }),
            ("no token for progress", None, of(&[RHEL.as_slice(), &[key::PROGRESS_URL]].concat())),
        ];
        let lines = cases.iter().map(|(case, wanted, secret)| format!("{case}: {:?}", secret.seen(*wanted)));
        insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
    }
}
