//! What a node of `OpenShift` says of itself, in files.

use std::path::{Path, PathBuf};

use host::{Disk, HostError, Kind};

use super::{machine_config::MachineConfig, payload::FULL};

/// The `MachineConfig` that the machine-config-daemon has made of this node.
pub(super) const CURRENT: &str = "/etc/machine-config-daemon/currentconfig";
/// What that daemon keeps.
pub(super) const MCD: &str = "/etc/machine-config-daemon";
/// Where it writes units.
pub(super) const UNITS: &str = "/etc/systemd/system";

/// The id of this boot; empty where the machine does not say.
pub(super) fn boot_id(disk: &dyn Disk) -> Result<String, HostError> {
    let text = disk.read_optional(Path::new("/proc/sys/kernel/random/boot_id"))?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&text).trim().to_owned())
}

/// The `MachineConfig` that this node has, if it says so in a form that can be read.
pub(super) fn current(disk: &dyn Disk) -> Result<Option<MachineConfig>, HostError> {
    let bytes = disk.read_optional(Path::new(CURRENT))?;
    Ok(bytes.and_then(|bytes| MachineConfig::parse(&bytes).ok()))
}

/// The same before any work: a node that never got another config has only what it was installed with.
pub(super) fn previous(disk: &dyn Disk) -> Result<Option<MachineConfig>, HostError> {
    if let Some(current) = current(disk)? {
        return Ok(Some(current));
    }
    let bytes = disk.read_optional(Path::new(FULL))?;
    Ok(bytes.and_then(|bytes| MachineConfig::parse(&bytes).ok()))
}

/// Whether the kernel was started with all of these.
pub(super) fn has_arguments(disk: &dyn Disk, wanted: &[String]) -> Result<bool, HostError> {
    let text = disk.read_optional(Path::new("/proc/cmdline"))?.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let has: Vec<&str> = text.split_whitespace().collect();
    Ok(wanted.iter().flat_map(|one| one.split_whitespace()).all(|one| has.contains(&one)))
}

/// The files and links below a directory, in order. Links are not followed.
pub(super) fn tree(disk: &dyn Disk, dir: &Path) -> Result<Vec<PathBuf>, HostError> {
    let mut found = Vec::new();
    if disk.meta(dir)?.is_none_or(|meta| meta.kind != Kind::Directory) {
        return Ok(found);
    }
    for name in disk.list(dir)? {
        let path = dir.join(name);
        match disk.meta(&path)?.map(|meta| meta.kind) {
            Some(Kind::Directory) => found.extend(tree(disk, &path)?),
            Some(Kind::File | Kind::Link) => found.push(path),
            Some(Kind::Other) | None => {}
        }
    }
    Ok(found)
}

/// The files that are a unit and its drop-ins.
pub(super) fn unit_files(config: &MachineConfig) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for unit in config.units() {
        let Some(name) = unit.get("name").and_then(|name| name.as_str()) else { continue };
        found.push(Path::new(UNITS).join(name));
        let dropins = super::machine_config::list(unit, "/dropins").iter();
        let names = dropins.filter_map(|dropin| dropin.get("name")?.as_str());
        found.extend(names.map(|dropin| Path::new(UNITS).join(format!("{name}.d")).join(dropin)));
    }
    found
}
