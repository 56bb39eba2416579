//! The KMS plugin that encrypts Secrets: where the API server finds it, and how long it waits.

use std::{path::PathBuf, time::Duration};

use explain::Diagnostic;
use schemars::{Schema, json_schema};

use super::{
    Value, is_not,
    name::{label, label_schema},
    store::plain,
};
use crate::codes;

/// What a KMS is called in etcd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KmsName(pub(crate) String);

/// The plugin's socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KmsEndpoint(pub(crate) PathBuf);

/// The deadline of one call to the plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KmsTimeout(pub(crate) Duration);

const SCHEME: &str = "unix://";
/// Longer, and every write of a Secret outlives the deadline of its caller.
const MAX_SECONDS: u64 = 30;

impl Value for KmsName {
    const EXPECTED: &'static str = "a name for a KMS";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        label(text, Self::EXPECTED).map(Self)
    }

    fn schema() -> Schema {
        label_schema("vault")
    }
}

impl Value for KmsEndpoint {
    const EXPECTED: &'static str = "a unix socket";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        let path = text.strip_prefix(SCHEME).and_then(plain).filter(|path| path.parent().is_some());
        path.map(Self).ok_or_else(|| is_not(codes::BAD_KMS, text, Self::EXPECTED))
    }

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^unix:///.", "examples": ["unix:///run/kms/plugin.sock"] })
    }
}

impl Value for KmsTimeout {
    const EXPECTED: &'static str = "a number of seconds";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        let seconds = text.strip_suffix('s').and_then(|number| number.parse().ok());
        match seconds {
            Some(seconds) if (1..=MAX_SECONDS).contains(&seconds) => Ok(Self(Duration::from_secs(seconds))),
            Some(_) => Err(Diagnostic::new(codes::OUT_OF_RANGE, format!("`{text}` is out of range"))
                .with_hint(format!("use `1s` to `{MAX_SECONDS}s`"))),
            None => Err(is_not(codes::BAD_KMS, text, Self::EXPECTED).with_hint("write seconds, such as `3s`")),
        }
    }

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]+s$", "examples": ["3s"] })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::outcome, *};

    #[test]
    fn names_endpoints_and_timeouts() {
        let names = ["vault", "a.b", "a:b", ""].iter().map(|text| outcome::<KmsName>(text));
        let endpoints = ["unix:///run/kms.sock", "/run/kms.sock", "unix://run/kms.sock", "unix:///", "tcp://kms:1", ""];
        let timeouts = ["3s", "30s", "31s", "0s", "3", "100ms", "-1s", "99999999999999999999s"];
        let endpoints = endpoints.iter().map(|text| outcome::<KmsEndpoint>(text));
        let timeouts = timeouts.iter().map(|text| outcome::<KmsTimeout>(text));
        insta::assert_snapshot!(names.chain(endpoints).chain(timeouts).collect::<Vec<_>>().join("\n"));
    }
}
