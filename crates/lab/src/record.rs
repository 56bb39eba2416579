//! What is known of a lab: its directory and its record.
//!
//! The record says what was asked for; what there is, is found out by looking.

use std::{
    fs,
    net::IpAddr,
    path::{Path, PathBuf},
};

use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};

use crate::{LabError, LabName};

/// Where labs live.
pub(crate) const HOME: &str = "/var/lib/blackstart/lab";

/// A lab on this computer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lab {
    /// Its name.
    pub name: LabName,
    /// Its network.
    pub subnet: Ipv4Net,
    /// The way out of it: the host's address on the bridge.
    pub gateway: Option<IpAddr>,
    /// Whether its machines become a cluster, or only boot.
    #[serde(default)]
    pub with_cluster: bool,
    /// Its machines, in the order of their names.
    pub machines: Vec<MachineRecord>,
}

/// A machine as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineRecord {
    /// Its name.
    pub name: String,
    /// Its number in the lab, for the name of its link.
    pub index: usize,
    /// Its address.
    pub ip: IpAddr,
    /// The address of its interface.
    pub mac: String,
    /// Whether Ceph is installed on it from the beginning.
    #[serde(default)]
    pub ceph: bool,
}

impl Lab {
    /// The lab's directory.
    pub fn dir(name: &LabName) -> PathBuf {
        Path::new(HOME).join(name.as_str())
    }

    /// The directory of a machine.
    pub fn machine_dir(&self, machine: &str) -> PathBuf {
        Self::dir(&self.name).join("machines").join(machine)
    }

    /// Where the lab's cluster.yaml is.
    pub fn config_dir(&self) -> PathBuf {
        Self::dir(&self.name).join("config")
    }

    /// Where the nodes' sealed directories are, one per machine.
    pub(crate) fn sealed_dir(&self) -> PathBuf {
        Self::dir(&self.name).join("sealed")
    }

    /// Reads the record of a lab.
    pub fn open(name: &LabName) -> Result<Self, LabError> {
        let path = Self::dir(name).join("lab.json");
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let begun = Self::dir(name).exists();
                let name = name.to_string();
                return Err(if begun { LabError::Unfinished(name) } else { LabError::UnknownLab(name) });
            }
            Err(error) => return Err(LabError::while_doing(format!("read {}", path.display()))(error)),
        };
        serde_json::from_slice(&text).map_err(|source| LabError::Record { path, source })
    }

    /// The names of all labs that have a directory, whatever is in it.
    pub fn names() -> Result<Vec<LabName>, LabError> {
        let entries = match fs::read_dir(HOME) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(LabError::while_doing(format!("list {HOME}"))(error)),
        };
        let mut names: Vec<LabName> =
            entries.flatten().filter_map(|entry| entry.file_name().to_string_lossy().parse().ok()).collect();
        names.sort();
        Ok(names)
    }

    /// The machine of that name.
    pub fn machine(&self, name: &str) -> Result<&MachineRecord, LabError> {
        self.machines.iter().find(|machine| machine.name == name).ok_or_else(|| LabError::UnknownMachine {
            lab: self.name.to_string(),
            machine: name.to_owned(),
            known: self.machines.iter().map(|machine| machine.name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }
}

/// Writes a file that is there as a whole or not at all.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), LabError> {
    let fresh = path.with_extension("new");
    let failed = || LabError::while_doing(format!("write {}", path.display()));
    fs::write(&fresh, content).map_err(failed())?;
    fs::rename(&fresh, path).map_err(failed())
}

/// The directories above, when the last lab is gone. One that still holds something stays.
pub(crate) fn tidy() {
    let above = Path::new(HOME).parent().unwrap_or(Path::new(HOME));
    for dir in [Path::new(HOME), above] {
        let _ = fs::remove_dir(dir);
    }
}
