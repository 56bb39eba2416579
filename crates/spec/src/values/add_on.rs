//! The network add-on, and the path of its manifests.

use explain::Diagnostic;
use schemars::{Schema, json_schema};

use super::{Value, choose, is_not};
use crate::{codes, excerpt::quoted_part};

/// Which network add-on; the manifest's path is a key of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddOnKind {
    Basic,
    Manifest,
    None,
}

/// A file or directory of manifests, relative to cluster.yaml or absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ManifestPath(pub(crate) String);

const ADD_ONS: &[(&str, AddOnKind)] =
    &[("basic", AddOnKind::Basic), ("manifest", AddOnKind::Manifest), ("none", AddOnKind::None)];

impl Value for AddOnKind {
    const EXPECTED: &'static str = "a network add-on";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        choose(codes::UNKNOWN_CHOICE, Self::EXPECTED, text, ADD_ONS).map_err(|complaint| match text {
            _ if text.contains(['/', '.']) => {
                complaint.with_hint(format!("write `add_on: manifest` and `manifest: {}`", quoted_part(text)))
            }
            "calico" | "cilium" | "flannel" => complaint
                .with_hint(format!("write `add_on: manifest`, and in `manifest` the path of {text}'s manifest")),
            _ => complaint,
        })
    }

    fn schema() -> Schema {
        let names: Vec<&str> = ADD_ONS.iter().map(|(name, _)| *name).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

impl Value for ManifestPath {
    const EXPECTED: &'static str = "a path";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        if text.contains("://") {
            return Err(is_not(codes::BAD_PATH, text, "a path").with_hint(
                "download the manifest and name the file: a node must not depend on the internet to start",
            ));
        }
        if text.trim().is_empty() || text.chars().any(char::is_control) {
            return Err(is_not(codes::BAD_PATH, text, "a path"));
        }
        Ok(Self(text.to_owned()))
    }

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "\\S", "examples": ["manifests/calico.yaml"] })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::outcome, *};

    #[test]
    fn add_ons() {
        let rows = ["basic", "none", "manifest", "Basic", "calico", "manifests/calico.yaml", "weave"];
        let report: Vec<String> = rows.iter().map(|text| outcome::<AddOnKind>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }

    #[test]
    fn paths() {
        let rows = ["manifests/calico.yaml", "/etc/calico", "https://example.org/calico.yaml", " "];
        let report: Vec<String> = rows.iter().map(|text| outcome::<ManifestPath>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }
}
