//! Which deployments of the system there are: what `rpm-ostree status --json` says.

use std::path::PathBuf;

use engine::StepError;
use host::{Cmd, Host};
use serde::{Deserialize, Serialize};

use crate::codes::BAD_STATUS;

/// All of them; the first is booted next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Status {
    pub(super) deployments: Vec<Deployment>,
}

/// One of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct Deployment {
    #[serde(flatten)]
    pub(super) id: DeploymentId,
    pub(super) booted: bool,
    pub(super) staged: bool,
    pub(super) pinned: bool,
    pub(super) version: Option<String>,
    container_image_reference: Option<String>,
    custom_origin: Option<Vec<String>>,
}

/// What makes one another than the others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct DeploymentId {
    pub(super) osname: String,
    pub(super) checksum: String,
    pub(super) serial: u64,
}

impl Status {
    /// Asks.
    pub(super) async fn read(host: &Host) -> Result<Self, StepError> {
        let printed = host.commands.run(&Cmd::new("rpm-ostree").args(["status", "--json"])).await?.stdout;
        Self::parse(&printed)
    }

    pub(super) fn parse(printed: &str) -> Result<Self, StepError> {
        let bad = |error| StepError::new(BAD_STATUS, format!("cannot parse `rpm-ostree status --json`: {error}"));
        serde_json::from_str(printed).map_err(bad)
    }

    /// The one that runs.
    pub(super) fn booted(&self) -> Result<&Deployment, StepError> {
        let none = || StepError::new(BAD_STATUS, "`rpm-ostree status` names no booted deployment");
        self.deployments.iter().find(|deployment| deployment.booted).ok_or_else(none)
    }

    /// The one that waits for a reboot: staged, or put before the booted one.
    pub(super) fn pending(&self) -> Option<&Deployment> {
        self.deployments.first().filter(|first| !first.booted)
    }

    /// Where this one is in the list, as `ostree admin` counts.
    pub(super) fn position(&self, id: &DeploymentId) -> Option<usize> {
        self.deployments.iter().position(|deployment| deployment.id == *id)
    }
}

impl Deployment {
    /// Whether it is of this image.
    pub(super) fn is_of(&self, image: &str) -> bool {
        let ends = |name: &String| name.strip_suffix(image).is_some_and(|kind| kind.ends_with([':', '/']));
        let origin = self.custom_origin.iter().flatten().next();
        self.container_image_reference.as_ref().or(origin).is_some_and(ends)
    }

    /// `412.86 (registry/os@sha256:…)`, as far as it says.
    pub(super) fn name(&self) -> String {
        let image = self.container_image_reference.as_deref().unwrap_or(&self.id.checksum);
        let short = match image.rsplit_once("@sha256:") {
            Some((_, digest)) => digest.get(..12).unwrap_or(digest),
            None => image.get(..12).unwrap_or(image),
        };
        self.version.as_ref().map_or_else(|| short.to_owned(), |version| format!("{version} ({short})"))
    }
}

impl DeploymentId {
    /// Where its files are.
    pub(super) fn directory(&self) -> PathBuf {
        format!("/ostree/deploy/{}/deploy/{}.{}", self.osname, self.checksum, self.serial).into()
    }
}

#[cfg(test)]
mod tests {
    use super::{super::samples::OS, *};

    #[test]
    fn every_form_of_a_reference_is_recognized() {
        for (reference, is_it) in [
            (format!("ostree-unverified-registry:{OS}"), true),
            (format!("ostree-unverified-image:docker://{OS}"), true),
            (format!("ostree-remote-registry:fedora:{OS}"), true),
            (format!("ostree-unverified-image:containers-storage:{OS}"), true),
            (format!("pivot://{OS}"), true),
            (format!("ostree-unverified-registry:mirror-{OS}"), false),
            (OS.to_owned(), false),
            (String::new(), false),
        ] {
            let deployment = Deployment { container_image_reference: Some(reference.clone()), ..Deployment::default() };
            assert_eq!(deployment.is_of(OS), is_it, "{reference}");
        }
        let pivot =
            Deployment { custom_origin: Some(vec![format!("pivot://{OS}"), String::new()]), ..Deployment::default() };
        assert!(pivot.is_of(OS));
    }

    #[test]
    fn what_is_printed_is_read() {
        let printed = r#"{"deployments": [
            {"osname": "rhcos", "checksum": "cc", "serial": 0, "booted": false, "staged": true, "pinned": false, "version": "9.6",
             "container-image-reference": "ostree-unverified-registry:a/b@sha256:0123456789abcdef", "requested-packages": []},
            {"osname": "rhcos", "checksum": "aa", "serial": 1, "booted": true, "pinned": true}
        ], "transaction": null}"#;
        let status = Status::parse(printed).unwrap();
        assert_eq!(status.booted().unwrap().id.directory(), PathBuf::from("/ostree/deploy/rhcos/deploy/aa.1"));
        assert_eq!(status.pending().unwrap().name(), "9.6 (0123456789ab)");
        assert_eq!(status.position(&status.booted().unwrap().id.clone()), Some(1));
        assert!(Status::parse("<html>").is_err() && Status::default().booted().is_err());
    }
}
