//! How the API server encrypts secrets before they go to etcd.
//!
//! What it writes is encrypted by the first provider; all others are for what was written before. So a key is replaced by
//! putting a new one behind the old, then before it, then alone, with every API server at each step before any goes to the next.
//! A KMS comes and goes the same way. Masters keep a key of their own beside it: nothing in etcd is encrypted with it, but
//! it is what they open the keys of a rotation with.

use serde_json::{Value, json};
use spec::Kms;

use crate::yaml;

/// The first key of a cluster.
const FIRST: &str = "key1";

/// `/etc/kubernetes/encryption.yaml`, which all masters share. It is a secret, so the file is for root alone.
///
/// Whatever was written before encryption was turned on can still be read, and is encrypted when it is next written.
#[derive(Clone, PartialEq, Eq)]
pub struct Encryption {
    /// What is written is encrypted by the first; nothing is without one.
    pub providers: Vec<EncryptionProvider>,
}

/// One of the ways in which values are encrypted. Cannot be printed.
#[derive(Clone, PartialEq, Eq)]
pub enum EncryptionProvider {
    /// A key of the masters' own.
    Key(EncryptionKey),
    /// A KMS v2 plugin.
    Kms(Kms),
}

/// A key of 32 bytes. Cannot be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptionKey {
    /// It stands before every value that was encrypted with the key: two keys never have the same.
    pub name: String,
    /// base64.
    pub secret: String,
}

impl EncryptionProvider {
    /// Which provider encrypted a value in etcd is what it begins with.
    pub fn prefix(&self) -> String {
        match self {
            Self::Key(key) => format!("k8s:enc:secretbox:v1:{}:", key.name),
            Self::Kms(kms) => format!("k8s:enc:kms:v2:{}:", kms.name),
        }
    }

    fn is_kms_named(&self, name: &str) -> bool {
        matches!(self, Self::Kms(kms) if kms.name == name)
    }

    fn read(provider: &Value) -> Option<Vec<Self>> {
        let field = |value: &Value, name: &str| value[name].as_str().map(str::to_owned);
        if let Some(kms) = provider.get("kms") {
            let socket = field(kms, "endpoint")?.strip_prefix("unix://")?.into();
            let timeout =
                serde_json::from_value(kms["timeout"].clone()).ok().and_then(|text: String| seconds(&text))?;
            let is_ours = kms["apiVersion"] == "v2";
            return is_ours.then_some(vec![Self::Kms(Kms { name: field(kms, "name")?, socket, timeout })]);
        }
        let key =
            |key: &Value| Some(Self::Key(EncryptionKey { name: field(key, "name")?, secret: field(key, "secret")? }));
        provider["secretbox"]["keys"].as_array()?.iter().map(key).collect()
    }

    fn value(&self) -> Value {
        match self {
            Self::Key(EncryptionKey { name, secret }) => {
                json!({ "secretbox": { "keys": [{ "name": name, "secret": secret }] } })
            }
            Self::Kms(Kms { name, socket, timeout }) => json!({ "kms": {
                "apiVersion": "v2",
                "name": name,
                "endpoint": format!("unix://{}", socket.display()),
                "timeout": format!("{}s", timeout.as_secs()),
            } }),
        }
    }
}

impl Encryption {
    /// Of a new cluster.
    pub fn first(key_base64: &str, kms: Option<&Kms>) -> Self {
        Self::with(EncryptionKey { name: FIRST.to_owned(), secret: key_base64.to_owned() }, kms)
    }

    /// With this key and, before it, a KMS.
    pub fn with(key: EncryptionKey, kms: Option<&Kms>) -> Self {
        let kms = kms.cloned().map(EncryptionProvider::Kms);
        Self { providers: kms.into_iter().chain([EncryptionProvider::Key(key)]).collect() }
    }

    /// What is written is encrypted by it.
    pub fn current(&self) -> Option<&EncryptionProvider> {
        self.providers.first()
    }

    /// The KMS that is in use.
    pub fn kms(&self) -> Option<&Kms> {
        match self.current()? {
            EncryptionProvider::Kms(kms) => Some(kms),
            EncryptionProvider::Key(_) => None,
        }
    }

    /// The masters' own keys, the newest one in use first.
    pub fn keys(&self) -> impl Iterator<Item = &EncryptionKey> {
        self.providers.iter().filter_map(|provider| match provider {
            EncryptionProvider::Key(key) => Some(key),
            EncryptionProvider::Kms(_) => None,
        })
    }

    /// Splits off the KMS that is in use here and in `other`, which a rotation leaves where it is: its own keys are replaced
    /// behind its socket.
    pub fn without_common_kms(mut self, other: &mut Self) -> (Option<Kms>, Self) {
        let common = match (self.kms(), other.kms()) {
            (Some(here), Some(there)) if here.name == there.name => Some(there.clone()),
            _ => None,
        };
        if let Some(kms) = &common {
            for providers in [&mut self.providers, &mut other.providers] {
                providers.retain(|provider| !provider.is_kms_named(&kms.name));
            }
        }
        (common, self)
    }

    /// Reads what [`text`](Self::text) writes; `None` for what another program wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let read: Value = serde_saphyr::from_str(text).ok()?;
        let [rule] = read["resources"].as_array()?.as_slice() else { return None };
        let [providers @ .., identity] = rule["providers"].as_array()?.as_slice() else { return None };
        let read: Vec<_> = providers.iter().map(EncryptionProvider::read).collect::<Option<_>>()?;
        let providers: Vec<_> = read.into_iter().flatten().collect();
        let parsed = Self { providers };
        let has_key = parsed.keys().next().is_some();
        let is_ours = rule["resources"] == json!(["secrets"]) && identity.get("identity").is_some() && has_key;
        is_ours.then_some(parsed)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let providers = self.providers.iter().map(EncryptionProvider::value).chain([json!({ "identity": {} })]);
        yaml::document(&json!({
            "apiVersion": "apiserver.config.k8s.io/v1",
            "kind": "EncryptionConfiguration",
            "resources": [{ "resources": ["secrets"], "providers": providers.collect::<Vec<_>>() }],
        }))
    }
}

fn seconds(text: &str) -> Option<std::time::Duration> {
    text.strip_suffix('s')?.parse().ok().map(std::time::Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECRET: &str = "c2l4dGVlbiBieXRlcyBhbmQgc2l4dGVlbiBtb3JlIQ==";

    fn key(name: &str) -> EncryptionProvider {
        EncryptionProvider::Key(EncryptionKey { name: name.to_owned(), secret: SECRET.to_owned() })
    }

    fn kms(name: &str) -> Kms {
        Kms { name: name.to_owned(), socket: "/run/kms/plugin.sock".into(), timeout: Duration::from_secs(3) }
    }

    #[test]
    fn secrets_are_encrypted_and_old_ones_still_read() {
        insta::assert_snapshot!(Encryption::first(SECRET, None).text());
    }

    #[test]
    fn a_kms_encrypts_where_there_is_one() {
        insta::assert_snapshot!(Encryption::first(SECRET, Some(&kms("vault"))).text());
    }

    #[test]
    fn what_is_written_is_read_back_in_its_order() {
        let vault = || EncryptionProvider::Kms(kms("vault"));
        for providers in [
            vec![key("key1")],
            vec![key("key1"), key("key-2")],
            vec![key("key-2"), key("key1")],
            vec![key("0042"), key("true"), key("1e3")],
            vec![vault(), key("key1")],
            vec![key("key1"), vault(), key("key-2")],
        ] {
            let written = Encryption { providers };
            assert!(Encryption::parse(&written.text()).is_some_and(|read| read == written), "{}", written.text());
        }
        assert_eq!(key("key-2").prefix(), "k8s:enc:secretbox:v1:key-2:");
        assert_eq!(vault().prefix(), "k8s:enc:kms:v2:vault:");
    }

    /// As a version before this one wrote it, which had no KMS.
    #[test]
    fn several_keys_of_one_provider_are_read() {
        let one = Encryption { providers: vec![key("key1")] }.text();
        let two = one.replace("- name: key1", &format!("- name: key-2\n        secret: {SECRET}\n      - name: key1"));
        let read = Encryption::parse(&two).unwrap_or_else(|| panic!("{two}"));
        assert_eq!(read.keys().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["key-2", "key1"]);
    }

    #[test]
    fn what_another_program_wrote_is_not_taken_for_ours() {
        let ours = Encryption::first(SECRET, Some(&kms("vault"))).text();
        for (old, new) in [
            ("secretbox", "aescbc"),
            ("- secrets", "- secrets\n  - configmaps"),
            ("  - identity: {}\n", ""),
            ("identity: {}", "aesgcm: {}"),
            ("secret: ", "hidden: "),
            ("apiVersion: v2", "apiVersion: v1"),
            ("unix://", "tcp://"),
        ] {
            let text = ours.replace(old, new);
            assert_ne!(text, ours, "{old}");
            assert!(Encryption::parse(&text).is_none(), "{text}");
        }
        assert!(Encryption::parse("").is_none() && Encryption::parse("resources: []").is_none());
    }
}
