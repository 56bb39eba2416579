//! How the API server encrypts secrets before they go to etcd.
//!
//! What it writes is encrypted with the first key; all others are for what was written before. So a key is replaced by
//! putting a new one second, then first, then alone, with every API server at each step before any goes to the next.

use serde_json::{Value, json};

use crate::yaml;

/// The first key of a cluster.
const FIRST: &str = "key1";

/// `/etc/kubernetes/encryption.yaml`, which all masters share. It is a secret, so the file is for root alone.
///
/// Whatever was written before encryption was turned on can still be read, and is encrypted when it is next written.
#[derive(Clone, PartialEq, Eq)]
pub struct Encryption {
    /// What is written is encrypted with the first; nothing is without one.
    pub keys: Vec<EncryptionKey>,
}

/// A key of 32 bytes. Cannot be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptionKey {
    /// It stands before every value that was encrypted with the key: two keys never have the same.
    pub name: String,
    /// base64.
    pub secret: String,
}

impl EncryptionKey {
    /// Which key encrypted a value in etcd is told by what it begins with.
    pub fn prefix(&self) -> String {
        format!("k8s:enc:secretbox:v1:{}:", self.name)
    }
}

impl Encryption {
    /// Of a new cluster.
    pub fn first(key_base64: &str) -> Self {
        Self { keys: vec![EncryptionKey { name: FIRST.to_owned(), secret: key_base64.to_owned() }] }
    }

    /// Reads what [`text`](Self::text) writes; `None` for what somebody else wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let read: Value = serde_saphyr::from_str(text).ok()?;
        let [rule] = read["resources"].as_array()?.as_slice() else { return None };
        let [secretbox, identity] = rule["providers"].as_array()?.as_slice() else { return None };
        let key = |key: &Value| {
            let field = |name: &str| key[name].as_str().map(str::to_owned);
            Some(EncryptionKey { name: field("name")?, secret: field("secret")? })
        };
        let keys: Vec<_> = secretbox["secretbox"]["keys"].as_array()?.iter().map(key).collect::<Option<_>>()?;
        let is_ours = rule["resources"] == json!(["secrets"]) && identity.get("identity").is_some() && !keys.is_empty();
        is_ours.then_some(Self { keys })
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let keys: Vec<Value> = self.keys.iter().map(|key| json!({ "name": key.name, "secret": key.secret })).collect();
        yaml::document(&json!({
            "apiVersion": "apiserver.config.k8s.io/v1",
            "kind": "EncryptionConfiguration",
            "resources": [{
                "resources": ["secrets"],
                "providers": [{ "secretbox": { "keys": keys } }, { "identity": {} }],
            }],
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "c2l4dGVlbiBieXRlcyBhbmQgc2l4dGVlbiBtb3JlIQ==";

    #[test]
    fn secrets_are_encrypted_and_old_ones_still_read() {
        insta::assert_snapshot!(Encryption::first(SECRET).text());
    }

    #[test]
    fn what_is_written_is_read_back_in_its_order() {
        let key = |name: &str| EncryptionKey { name: name.to_owned(), secret: SECRET.to_owned() };
        for names in [vec!["key1"], vec!["key1", "key-2"], vec!["key-2", "key1"], vec!["0042", "true", "1e3"]] {
            let written = Encryption { keys: names.iter().map(|name| key(name)).collect() };
            assert!(Encryption::parse(&written.text()).is_some_and(|read| read == written), "{names:?}");
        }
        assert_eq!(key("key-2").prefix(), "k8s:enc:secretbox:v1:key-2:");
    }

    #[test]
    fn what_somebody_else_wrote_is_not_taken_for_ours() {
        let ours = Encryption::first(SECRET).text();
        for text in [
            String::new(),
            "resources: []".to_owned(),
            ours.replace("secretbox", "aescbc"),
            ours.replace("- secrets", "- secrets\n  - configmaps"),
            ours.replace("  - identity: {}\n", ""),
            ours.replace("identity: {}", "aesgcm: {}"),
            ours.replace("secret: ", "hidden: "),
        ] {
            assert!(Encryption::parse(&text).is_none(), "{text}");
        }
    }
}
