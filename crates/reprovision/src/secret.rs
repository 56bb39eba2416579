//! The Secret of a run, as a driver reads it.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

/// Keys and values. Shown are only the keys.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(BTreeMap<String, String>);

impl Secret {
    /// Of these.
    pub fn new(data: BTreeMap<String, String>) -> Self {
        Self(data)
    }

    /// A value without white space around it, which editors and `kubectl create secret --from-file` leave; none if it is empty.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// Every value, for those who must not print one.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(String::as_str)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_trimmed_and_never_shown() {
        let data = [("token", " abc\n"), ("empty", " ")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let secret = Secret::new(data.into());
        assert_eq!((secret.get("token"), secret.get("empty"), secret.get("none")), (Some("abc"), None, None));
        assert_eq!(format!("{secret:?}"), r#"{"empty", "token"}"#);
    }
}
