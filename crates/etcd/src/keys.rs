//! Which keys there are, and what they hold.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::{Etcd, EtcdError};

impl Etcd {
    /// Some keys below a prefix, at most so many, without what they hold.
    pub async fn keys(&self, prefix: &str, limit: u32) -> Result<Vec<String>, EtcdError> {
        let answer: Keys = self.call("/v3/kv/range", keys_below(prefix, limit)).await?;
        Ok(answer.kvs.into_iter().map(|entry| entry.key).collect())
    }

    /// A page of what is below a prefix: the first keys behind `after`, at most so many, and what they hold.
    pub async fn values(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<(String, Vec<u8>)>, EtcdError> {
        let answer: Keys = self.call("/v3/kv/range", values_behind(prefix, after, limit)).await?;
        Ok(answer.kvs.into_iter().map(|entry| (entry.key, entry.value)).collect())
    }
}

#[derive(Deserialize)]
struct Keys {
    #[serde(default)]
    kvs: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(deserialize_with = "base64_text")]
    key: String,
    #[serde(default, deserialize_with = "base64_bytes")]
    value: Vec<u8>,
}

fn keys_below(prefix: &str, limit: u32) -> Value {
    json!({
        "key": BASE64.encode(prefix),
        "range_end": BASE64.encode(end_of(prefix)),
        "limit": limit.to_string(),
        "keys_only": true,
    })
}

/// The next key behind one is the same with a zero byte.
fn values_behind(prefix: &str, after: Option<&str>, limit: u32) -> Value {
    let begin = after.map_or_else(|| prefix.to_owned(), |after| format!("{after}\0"));
    json!({
        "key": BASE64.encode(begin),
        "range_end": BASE64.encode(end_of(prefix)),
        "limit": limit.to_string(),
    })
}

/// A range ends before the first key that begins with something greater.
fn end_of(prefix: &str) -> Vec<u8> {
    let mut end = prefix.as_bytes().to_vec();
    if let Some(last) = end.last_mut() {
        *last = last.saturating_add(1);
    }
    end
}

fn base64_bytes<'de, D: Deserializer<'de>>(text: D) -> Result<Vec<u8>, D::Error> {
    BASE64.decode(String::deserialize(text)?).map_err(serde::de::Error::custom)
}

fn base64_text<'de, D: Deserializer<'de>>(text: D) -> Result<String, D::Error> {
    Ok(String::from_utf8_lossy(&base64_bytes(text)?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other() {
        let asked = |after| values_behind("/registry/secrets/", after, 5);
        assert_eq!(asked(None)["key"], BASE64.encode("/registry/secrets/"));
        assert_eq!(asked(Some("/registry/secrets/a/b"))["key"], BASE64.encode("/registry/secrets/a/b\0"));
        assert_eq!(asked(None)["range_end"], asked(Some("x"))["range_end"]);
        let Keys { kvs } = serde_json::from_str(r#"{"kvs":[{"key":"YQ==","value":"azhz"},{"key":"Yg=="}]}"#).unwrap();
        let held: Vec<_> = kvs.into_iter().map(|entry| (entry.key, entry.value)).collect();
        assert_eq!(held, [("a".to_owned(), b"k8s".to_vec()), ("b".to_owned(), Vec::new())]);
    }

    #[test]
    fn keys_are_asked_for_by_their_prefix() {
        let asked = keys_below("/registry/secrets/", 5);
        assert_eq!(asked["range_end"], BASE64.encode("/registry/secrets0"));
        let Keys { kvs } =
            serde_json::from_str(r#"{"kvs":[{"key":"L3JlZ2lzdHJ5L3NlY3JldHMvYS9i","version":"1"}],"count":"1"}"#)
                .unwrap();
        assert_eq!(kvs.into_iter().map(|entry| entry.key).collect::<Vec<_>>(), ["/registry/secrets/a/b"]);
        assert!(serde_json::from_str::<Keys>("{}").unwrap().kvs.is_empty());
    }
}
