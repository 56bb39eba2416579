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
use spec::{Node, ValidatedCluster};

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
    /// Whether its machines are set up by Ignition at their first boot.
    #[serde(default)]
    pub with_ignition: bool,
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

    /// Where the configs are that machines are set up with at their first boot, one file per machine.
    pub(crate) fn ignition_dir(&self) -> PathBuf {
        Self::dir(&self.name).join("ignition")
    }

    /// The config that a machine was given for its next first boot, in place of one that the lab renders.
    pub(crate) fn given_config(&self, machine: &str) -> PathBuf {
        self.ignition_dir().join("given").join(format!("{machine}.ign"))
    }

    /// The config of a machine's next first boot, if Ignition is to set it up.
    pub(crate) fn config_of(&self, machine: &str) -> Option<PathBuf> {
        let rendered = self.ignition_dir().join(format!("{machine}.ign"));
        [self.given_config(machine), rendered].into_iter().find(|path| path.exists())
    }

    /// Whether one of its machines is set up by Ignition.
    pub(crate) fn is_ignited(&self) -> bool {
        self.with_ignition || self.machines.iter().any(|machine| self.given_config(&machine.name).exists())
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

    /// What is different with the machines of a description, in words; `None` if they are those of this lab.
    pub fn difference(&self, cluster: &ValidatedCluster) -> Option<String> {
        let known = |name: &str| self.machines.iter().find(|machine| machine.name == name);
        let differs = |node: &Node| match known(&node.name) {
            None => Some(format!("{} is new", node.name)),
            Some(machine) if machine.ip != node.ip => Some(format!("{} has another address", node.name)),
            Some(machine) => {
                let macs = &node.hardware.mac_addresses;
                let is_same = macs.is_empty() || macs.iter().any(|mac| mac.to_string() == machine.mac);
                (!is_same).then(|| format!("{} has another MAC address", node.name))
            }
        };
        let gone = self.machines.iter().filter(|machine| cluster.machine(&machine.name).is_none());
        let gone = gone.map(|machine| format!("{} is not in it", machine.name));
        let all: Vec<String> = cluster.machines().filter_map(differs).chain(gone).collect();
        (!all.is_empty()).then(|| all.join(", "))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_description_has_that_the_lab_has_not() {
        let node = |name: &str, ip: u8, mac: u8| {
            let roles = if name.starts_with('m') { "master" } else { "worker" };
            format!(
                "  - {{name: {name}, ip: 10.88.0.{ip}, roles: [{roles}], hardware: {{mac_addresses: ['52:54:00:00:00:{mac:02x}']}}}}\n"
            )
        };
        let machine = |name: &str, index: usize, last: u8| MachineRecord {
            name: name.to_owned(),
            index,
            ip: [10, 88, 0, last].into(),
            mac: format!("52:54:00:00:00:{last:02x}"),
            ceph: false,
        };
        let lab = Lab {
            name: "lab".parse().unwrap(),
            subnet: "10.88.0.0/24".parse().unwrap(),
            gateway: None,
            with_cluster: true,
            with_ignition: false,
            machines: vec![machine("m", 0, 11), machine("w", 1, 12)],
        };
        let (m, w) = (node("m", 11, 11), node("w", 12, 12));
        for (nodes, expected) in [
            (format!("{m}{w}"), None),
            (format!("{m}{w}{}", node("x", 13, 13)), Some("x is new")),
            (m.clone(), Some("w is not in it")),
            (format!("{m}{}", node("w", 13, 12)), Some("w has another address")),
            (format!("{m}{}", node("w", 12, 13)), Some("w has another MAC address")),
            (format!("{m}  - {{name: w, ip: 10.88.0.12, roles: [worker]}}\n"), None),
        ] {
            let checked = spec::check_text(&format!("cluster:\n  name: test\nnodes:\n{nodes}"));
            let cluster = checked.cluster.unwrap();
            assert_eq!(lab.difference(&cluster).as_deref(), expected, "{nodes}");
        }
    }
}
