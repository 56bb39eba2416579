//! The Secret of a run, as a driver reads it.

use std::{collections::BTreeMap, fmt, fs, io, path::Path};

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

/// The keys in a directory: a file for each. Hidden ones are those of editors and of mounted Secrets.
pub fn read_keys(dir: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut keys = BTreeMap::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') && fs::metadata(entry.path())?.is_file() {
            keys.insert(name, fs::read_to_string(entry.path())?);
        }
    }
    if keys.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "it has no files"));
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_a_key() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read_keys(dir.path()).is_err(), "an empty directory is a mistake");
        fs::write(dir.path().join("region"), "eu-de\n").unwrap();
        fs::write(dir.path().join(".swp"), "x").unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        assert_eq!(read_keys(dir.path()).unwrap(), BTreeMap::from([("region".to_owned(), "eu-de\n".to_owned())]));
    }

    #[test]
    fn values_are_trimmed_and_never_shown() {
        let data = [("token", " abc\n"), ("empty", " ")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let secret = Secret::new(data.into());
        assert_eq!((secret.get("token"), secret.get("empty"), secret.get("none")), (Some("abc"), None, None));
        assert_eq!(format!("{secret:?}"), r#"{"empty", "token"}"#);
    }
}
