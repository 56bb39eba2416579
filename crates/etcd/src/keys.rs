//! Which keys there are, without what they hold.

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
}

/// A range ends before the first key that begins with something greater.
fn keys_below(prefix: &str, limit: u32) -> Value {
    let mut end = prefix.as_bytes().to_vec();
    if let Some(last) = end.last_mut() {
        *last = last.saturating_add(1);
    }
    json!({
        "key": BASE64.encode(prefix),
        "range_end": BASE64.encode(end),
        "limit": limit.to_string(),
        "keys_only": true,
    })
}

fn base64_text<'de, D: Deserializer<'de>>(text: D) -> Result<String, D::Error> {
    let bytes = BASE64.decode(String::deserialize(text)?).map_err(serde::de::Error::custom)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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
