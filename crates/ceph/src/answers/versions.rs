//! `ceph versions`.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Which versions run, by kind of daemon: how many daemons of each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Versions(BTreeMap<String, BTreeMap<String, u32>>);

impl Versions {
    /// Each kind of daemon with the versions that run of it and how many of each, in short.
    pub fn by_daemon(&self) -> BTreeMap<&str, BTreeMap<&str, u32>> {
        let kinds = self.0.iter().filter(|(kind, versions)| *kind != "overall" && !versions.is_empty());
        kinds
            .map(|(kind, versions)| {
                (kind.as_str(), versions.iter().map(|(text, count)| (number(text), *count)).collect())
            })
            .collect()
    }
}

/// `16.2.15` of `ceph version 16.2.15 (618f…) pacific (stable)`.
fn number(text: &str) -> &str {
    text.split_whitespace().nth(2).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_reported_in_short() {
        let text = r#"{"mon":{"ceph version 16.2.15 (618f440892089921c3e944a991122ddc44e60516) pacific (stable)":3},
                       "mgr":{"ceph version 16.2.15 (618f440892089921c3e944a991122ddc44e60516) pacific (stable)":2},
                       "osd":{},"mds":{},
                       "overall":{"ceph version 16.2.15 (618f440892089921c3e944a991122ddc44e60516) pacific (stable)":5}}"#;
        let versions: Versions = serde_json::from_str(text).unwrap();
        let shown = format!("{:?}", versions.by_daemon());
        assert_eq!(shown, r#"{"mgr": {"16.2.15": 2}, "mon": {"16.2.15": 3}}"#);
    }
}
