//! Who we are for a registry: `auths` as `.dockerconfigjson` has them.

use std::{collections::BTreeMap, fmt, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD};
use engine::StepError;
use host::Disk;
use serde::Deserialize;
use serde_json::Value;
use upgrades::names::key;

use super::super::payload::content;
use crate::{Secret, codes::BAD_PULL_SECRET};

/// Where a node has its pull secret, and a payload brings it to.
const FILE: &str = "/var/lib/kubelet/config.json";

/// A pull secret. Never printed but for where it is from.
#[derive(Clone, Default)]
pub(in super::super) struct Credentials {
    from: &'static str,
    text: Vec<u8>,
    auths: BTreeMap<String, Auth>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    auths: BTreeMap<String, Auth>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Auth {
    #[serde(rename = "auth")]
    basic: Option<String>,
    username: Option<String>,
    password: Option<String>,
}

impl Credentials {
    /// Those of the payload, else of the Secret, else of the machine; where there are none, those of nobody.
    pub(in super::super) fn find(files: &[Value], secret: &Secret, disk: &dyn Disk) -> Result<Self, StepError> {
        let bad = |from: &str, why: String| StepError::new(BAD_PULL_SECRET, format!("{from}: {why}"));
        if let Some(bytes) = content(files, FILE) {
            const FROM: &str = "the payload's /var/lib/kubelet/config.json";
            return Self::parse(FROM, bytes.map_err(|why| bad(FROM, why))?);
        }
        if let Some(text) = secret.get(key::PULL_SECRET) {
            return Self::parse("key `pull-secret` of the Secret", text.as_bytes().to_vec());
        }
        match disk.read_optional(Path::new(FILE))? {
            Some(bytes) => Self::parse("the node's /var/lib/kubelet/config.json", bytes),
            None => Ok(Self { from: "nobody", text: br#"{"auths":{}}"#.to_vec(), auths: BTreeMap::new() }),
        }
    }

    fn parse(from: &'static str, text: Vec<u8>) -> Result<Self, StepError> {
        // The words of the parser may quote a password.
        let bad = |error: serde_json::Error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            StepError::new(BAD_PULL_SECRET, format!("{from} is no JSON with `auths`: {place}"))
        };
        let File { auths } = serde_json::from_slice(&text).map_err(bad)?;
        Ok(Self { from, text, auths })
    }

    /// Whose they are.
    pub(in super::super) fn from(&self) -> &'static str {
        self.from
    }

    /// The file that podman is given.
    pub(in super::super) fn bytes(&self) -> &[u8] {
        &self.text
    }

    /// The value of `Authorization` for a repository: the entry of the longest part of its name counts.
    pub(super) fn basic(&self, registry: &str, repository: &str) -> Option<String> {
        let name = format!("{registry}/{repository}");
        let fits =
            |entry: &str| name.strip_prefix(bare(entry)).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let (_, auth) =
            self.auths.iter().filter(|(entry, _)| fits(entry)).max_by_key(|(entry, _)| bare(entry).len())?;
        let made = || Some(STANDARD.encode(format!("{}:{}", auth.username.as_ref()?, auth.password.as_ref()?)));
        Some(format!("Basic {}", auth.basic.clone().filter(|basic| !basic.is_empty()).or_else(made)?))
    }
}

/// `https://registry/v1/` is an old way to write `registry`.
fn bare(entry: &str) -> &str {
    let host = entry.trim_start_matches("https://").trim_start_matches("http://").trim_end_matches('/');
    host.trim_end_matches("/v1").trim_end_matches("/v2")
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials of {}", self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_of_the_longest_name_counts() {
        let text = r#"{"auths": {"quay.io": {"auth": "YTpi"}, "quay.io/ocp": {"username": "u", "password": "p"},
            "https://old.lab/v1/": {"auth": "b2xk"}, "empty.lab": {}}, "credHelpers": {}}"#;
        let credentials = Credentials::parse("a test", text.as_bytes().to_vec()).unwrap();
        for (registry, repository, basic) in [
            ("quay.io", "other/x", Some("Basic YTpi")),
            ("quay.io", "ocp/release", Some("Basic dTpw")),
            ("quay.io", "ocpx/release", Some("Basic YTpi")),
            ("old.lab", "a", Some("Basic b2xk")),
            ("empty.lab", "a", None),
            ("quay.io.evil", "a", None),
        ] {
            assert_eq!(credentials.basic(registry, repository).as_deref(), basic, "{registry}/{repository}");
        }
        assert_eq!(format!("{credentials:?}"), "Credentials of a test");
    }

    #[test]
    fn a_password_is_in_no_error() {
        let error = Credentials::parse("a test", br#"{"auths": {"x": {"auth": ["hunter2"]}}}"#.to_vec()).unwrap_err();
        assert_eq!(error.to_string(), "a test is no JSON with `auths`: line 1, column 25");
    }
}
