//! Where an OSD keeps its data: a device or a file, by an absolute path without detours.

use std::path::{Component, Path, PathBuf};

use explain::Diagnostic;
use schemars::{Schema, json_schema};

use super::{Value, is_not};
use crate::codes;

/// A block device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DevicePath(pub(crate) PathBuf);

/// A file that an OSD keeps its data in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoreFile(pub(crate) PathBuf);

/// Where nothing survives a reboot, or where others keep house.
const NO_PLACE_FOR_DATA: &[&str] = &["/dev", "/proc", "/sys", "/run", "/tmp", "/etc", "/boot", "/var/lib/ceph"];

impl Value for DevicePath {
    const EXPECTED: &'static str = "a device";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        match plain(text) {
            Some(path) if path.starts_with("/dev") && path != Path::new("/dev") => Ok(Self(path)),
            Some(_) => Err(is_not(codes::BAD_PATH, text, Self::EXPECTED)
                .with_hint("devices are below `/dev`; data in a file is given as `file:` and `size:`")),
            None => Err(is_not(codes::BAD_PATH, text, "the path of a device")
                .with_hint("write the whole path, such as `/dev/disk/by-id/ata-…` or `/dev/sdb`")),
        }
    }

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^/dev/.", "examples": ["/dev/sdb"] })
    }
}

impl Value for StoreFile {
    const EXPECTED: &'static str = "the path of a file";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        let Some(path) = plain(text).filter(|path| path.parent().is_some()) else {
            return Err(is_not(codes::BAD_PATH, text, Self::EXPECTED)
                .with_hint("write the whole path, such as `/var/lib/ceph-osd/one`"));
        };
        match NO_PLACE_FOR_DATA.iter().find(|taken| path.starts_with(taken)) {
            Some(taken) => Err(is_not(codes::BAD_PATH, text, "a place for an OSD's data")
                .with_hint(format!("choose a file outside `{taken}`, such as `/var/lib/ceph-osd/one`"))),
            None => Ok(Self(path)),
        }
    }

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^/.", "examples": ["/var/lib/ceph-osd/one"] })
    }
}

/// The path, if it is absolute and each file has only this one spelling: `//`, `.` and `..` would hide a duplicate.
pub(super) fn plain(text: &str) -> Option<PathBuf> {
    let path = Path::new(text);
    let mut components = path.components();
    let absolute = components.next() == Some(Component::RootDir);
    let names = components.all(|component| matches!(component, Component::Normal(_)));
    let spelled_out = path.components().collect::<PathBuf>().as_os_str() == path.as_os_str();
    (absolute && names && spelled_out && !text.chars().any(|c| c.is_control() || c.is_whitespace()))
        .then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{super::outcome, *};

    #[test]
    fn devices() {
        let rows = [
            "/dev/sdb",
            "/dev/disk/by-id/ata-X",
            "sdb",
            "/dev",
            "/srv/osd",
            "/dev/../sdb",
            "/dev//sdb",
            "/dev/s b",
            "",
        ];
        let report: Vec<String> = rows.iter().map(|text| outcome::<DevicePath>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }

    #[test]
    fn files() {
        let rows = [
            "/var/lib/ceph-osd/one",
            "/one",
            "one",
            "/",
            "/srv/",
            "/dev/shm/one",
            "/var/lib/ceph/osd/one",
            "/srv/./one",
        ];
        let report: Vec<String> = rows.iter().map(|text| outcome::<StoreFile>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }
}
