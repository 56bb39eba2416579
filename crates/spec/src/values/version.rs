//! Kubernetes versions, and which of them we support.

use explain::Diagnostic;
use schemars::{Schema, json_schema};

use super::{Value, is_not};
use crate::{cluster::Version, codes};

/// What a cluster gets that names no version.
pub(crate) const DEFAULT_VERSION: Version = Version { major: 1, minor: 36, patch: 3 };

/// The supported minor versions of Kubernetes 1: those that upstream supports at the time of a release.
const SUPPORTED_MINORS: &[u16] = &[34, 35, 36];

impl Value for Version {
    const EXPECTED: &'static str = "a Kubernetes version";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        let Some(version) = numbers(text) else {
            let complaint = is_not(codes::BAD_VERSION, text, "a full version");
            return Err(match suggestion(text) {
                Some(version) => complaint.with_hint(format!("write `{version}`")),
                None => complaint,
            });
        };
        if version.major != 1 || !SUPPORTED_MINORS.contains(&version.minor) {
            let minors: Vec<String> = SUPPORTED_MINORS.iter().map(|minor| format!("1.{minor}")).collect();
            return Err(Diagnostic::new(codes::UNSUPPORTED_VERSION, format!("Kubernetes {version} is not supported"))
                .with_hint(format!("supported are {}; the default is {DEFAULT_VERSION}", minors.join(", "))));
        }
        Ok(version)
    }

    fn schema() -> Schema {
        let minors: Vec<String> = SUPPORTED_MINORS.iter().map(u16::to_string).collect();
        json_schema!({ "type": "string", "pattern": format!(r"^1\.({})\.(0|[1-9][0-9]*)$", minors.join("|")) })
    }
}

/// Three decimal numbers without leading zeros.
fn numbers(text: &str) -> Option<Version> {
    let number = |part: &str| {
        let plain = part.bytes().all(|byte| byte.is_ascii_digit()) && (part == "0" || !part.starts_with('0'));
        if plain { part.parse::<u16>().ok() } else { None }
    };
    let mut parts = text.split('.').map(number);
    let version = Version { major: parts.next()??, minor: parts.next()??, patch: parts.next()?? };
    parts.next().is_none().then_some(version)
}

/// The full version that the user may have meant.
fn suggestion(text: &str) -> Option<Version> {
    let bare = text.trim().trim_start_matches(['v', 'V']);
    let version = numbers(bare).or_else(|| numbers(&format!("{bare}.0")))?;
    let is_default_minor = (version.major, version.minor) == (DEFAULT_VERSION.major, DEFAULT_VERSION.minor);
    let minor_only = numbers(bare).is_none();
    Some(if is_default_minor && minor_only { DEFAULT_VERSION } else { version })
}

#[cfg(test)]
mod tests {
    use super::{super::outcome, *};

    #[test]
    fn versions() {
        let rows =
            ["1.36.3", "1.34.0", "1.36", "1.35", "v1.36.2", "1.33.1", "2.0.0", "1.36.03", "latest", "1.36.3-rc.1"];
        let report: Vec<String> = rows.iter().map(|text| outcome::<Version>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }

    #[test]
    fn the_default_is_supported() {
        assert_eq!(Version::parse(&DEFAULT_VERSION.to_string()), Ok(DEFAULT_VERSION));
    }
}
