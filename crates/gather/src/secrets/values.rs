//! Takes the secret values out of what a file holds.

use std::{path::Path, sync::LazyLock};

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use regex::Regex;
use serde_json::Value;

use super::paths::Holds;
use crate::patterns::{CEPHX, NAMED_SECRET, is_harmless, sounds_secret};

/// Lines of a key's body that are worth looking for on their own.
const LINE: usize = 16;

/// What projected volumes hold for everybody.
const PUBLIC: &[&str] = &["-----BEGIN CERTIFICATE-----"];

/// Secrets of Kubernetes' own kinds hold much that is none.
const TOKEN_KIND: &str = "bootstrap.kubernetes.io/token";
const ACCOUNT_KIND: &str = "kubernetes.io/service-account-token";

static KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(.*?)-----END [A-Z0-9 ]*PRIVATE KEY-----").ok()
});
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(NAMED_SECRET).ok());
static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[a-z0-9]{6}\.([a-z0-9]{16})").ok());

static CEPH_KEY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(CEPHX).ok());

/// Values found so far.
#[derive(Default)]
pub(super) struct Values(Vec<Vec<u8>>);

impl Values {
    /// Everything found.
    pub(super) fn all(self) -> Vec<Vec<u8>> {
        self.0
    }

    /// Takes what is secret in a file.
    pub(super) fn take(&mut self, bytes: &[u8], holds: Holds) {
        let text = String::from_utf8_lossy(bytes);
        self.keys(&text);
        self.tokens(&text);
        self.ceph_keys(&text);
        match holds {
            Holds::Some => self.named(&text),
            Holds::Only => text.split_whitespace().for_each(|word| self.word(word)),
            Holds::Mounted => self.mounted(&text),
            Holds::Environment => self.environment(&text),
        }
    }

    /// Private keys: the whole text, the body with and without line breaks, and the bytes it stands for.
    fn keys(&mut self, text: &str) {
        let Some(pattern) = &*KEY else { return };
        for found in pattern.captures_iter(text) {
            let body = found.get(1).map_or("", |body| body.as_str());
            self.0.push(found[0].as_bytes().to_vec());
            self.0.push(format!("{}\n", &found[0]).into_bytes());
            self.0.extend(body.lines().filter(|line| line.len() >= LINE).map(|line| line.as_bytes().to_vec()));
            let joined: String = body.split_whitespace().collect();
            if let Ok(bytes) = STANDARD.decode(&joined) {
                self.0.push(bytes);
            }
            self.0.push(joined.into_bytes());
        }
    }

    fn tokens(&mut self, text: &str) {
        let Some(pattern) = &*TOKEN else { return };
        self.0.extend(pattern.captures_iter(text).map(|found| found[1].as_bytes().to_vec()));
    }

    /// Keyrings hold much that is none.
    fn ceph_keys(&mut self, text: &str) {
        let Some(pattern) = &*CEPH_KEY else { return };
        pattern.find_iter(text).for_each(|found| self.word(found.as_str()));
    }

    fn named(&mut self, text: &str) {
        let Some(pattern) = &*NAMED else { return };
        for found in pattern.captures_iter(text) {
            if !is_harmless(&found["value"]) {
                self.word(&found["value"]);
            }
        }
    }

    /// A word that is a secret, its last part, and what it stands for if it is base64.
    fn word(&mut self, word: &str) {
        let last = word.rsplit('.').next().unwrap_or(word);
        for part in [word, last] {
            self.0.push(part.as_bytes().to_vec());
            for engine in [&STANDARD, &URL_SAFE_NO_PAD] {
                let Ok(bytes) = engine.decode(part) else { continue };
                let inner = String::from_utf8_lossy(&bytes);
                self.keys(&inner);
                self.0.push(bytes);
            }
        }
    }

    fn mounted(&mut self, text: &str) {
        let whole = text.trim();
        let is_name = whole.len() < 64 && whole.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        if is_name || PUBLIC.iter().any(|begin| whole.starts_with(begin)) {
            return; // a namespace, a CA
        }
        self.0.push(whole.as_bytes().to_vec());
        self.0.extend(whole.lines().map(|line| line.trim().as_bytes().to_vec()));
    }

    fn environment(&mut self, text: &str) {
        let settings: Value = serde_json::from_str(text).unwrap_or_default();
        let all = settings["process"]["env"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for (name, value) in all.filter_map(|variable| variable.split_once('=')) {
            if sounds_secret(name) {
                self.0.push(value.as_bytes().to_vec());
            }
        }
    }
}

/// The values in a list of Secret objects, as `kubectl get secrets -o json` prints it; `None` if it is no such list.
pub(crate) fn of_secret_objects(list: &str) -> Option<Vec<Vec<u8>>> {
    let list: Value = serde_json::from_str(list).ok()?;
    let mut values = Values::default();
    for secret in list["items"].as_array()? {
        let is_wanted = |name: &str| match secret["type"].as_str() {
            Some(TOKEN_KIND) => name == "token-secret",
            Some(ACCOUNT_KIND) => name == "token",
            _ => true,
        };
        for (name, value) in secret["data"].as_object().into_iter().flatten().filter(|(name, _)| is_wanted(name)) {
            let Some(bytes) = value.as_str().and_then(|text| STANDARD.decode(text).ok()) else { continue };
            let public = Path::new(name).extension() == Some("crt".as_ref()) || name == "namespace";
            if !public {
                values.take(&bytes, Holds::Mounted);
                values.0.push(bytes);
            }
        }
    }
    Some(values.all())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEM: &str = "-----BEGIN PRIVATE KEY-----\nQUFBQUFBQUFBQUFBQUFBQQ==\n-----END PRIVATE KEY-----";

    fn taken(text: &str, holds: Holds) -> Vec<String> {
        let mut values = Values::default();
        values.take(text.as_bytes(), holds);
        values.all().iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect()
    }

    #[test]
    fn a_key_is_known_by_its_lines_and_bytes() {
        for (text, holds) in [
            (PEM.to_owned(), Holds::Some),
            (format!("cert\n{PEM}\n"), Holds::Only),
            (format!("client-key-data: {}\n", STANDARD.encode(PEM)), Holds::Some),
        ] {
            let all = taken(&text, holds);
            for expected in [PEM, "QUFBQUFBQUFBQUFBQUFBQQ==", "AAAAAAAAAAAAAAAA"] {
                assert!(all.iter().any(|value| value == expected), "{expected} of {text} in {all:?}");
            }
        }
    }

    #[test]
    fn values_behind_names_and_in_environments() {
        assert!(
            taken("resources: []\n  - secret: aGVsbG8gd29ybGQhIQ==\n", Holds::Some).contains(&"hello world!!".into())
        );
        let keyring = "[client.admin]\n\tkey = AQDRRxlp6SUZBBAAQUJDREVGR0hJSktMTU5PUA==\n\tcaps mon = \"allow *\"\n";
        assert!(taken(keyring, Holds::Some).contains(&"AQDRRxlp6SUZBBAAQUJDREVGR0hJSktMTU5PUA==".into()));
        assert!(!taken(keyring, Holds::Some).contains(&"allow".into()));
        assert_eq!(taken("name: nothing-here\n", Holds::Some), Vec::<String>::new());
        let settings = r#"{"process":{"env":["PATH=/usr/bin","DB_PASSWORD=correct-horse"]}}"#;
        assert_eq!(taken(settings, Holds::Environment), ["correct-horse"]);
    }

    #[test]
    fn secret_objects_give_what_is_secret_in_them() {
        let data = |text: &str| STANDARD.encode(text);
        let list = serde_json::json!({ "items": [
            { "type": "Opaque", "data": { "word": data("correct-horse"), "ca.crt": data("public-thing") } },
            { "type": TOKEN_KIND, "data": { "token-id": data("abcdef-long"), "token-secret": data("0123456789abcdef"),
                "auth-extra-groups": data("system:bootstrappers") } },
        ] });
        let values = of_secret_objects(&list.to_string()).unwrap();
        let has = |text: &str| values.contains(&text.as_bytes().to_vec());
        assert!(has("correct-horse") && has("0123456789abcdef"));
        assert!(!has("public-thing") && !has("system:bootstrappers") && !has("abcdef-long"));
        assert!(of_secret_objects("Unable to connect").is_none());
    }
}
