//! Removes a lab until nothing is left of it, whatever state it is in.
//!
//! It does not trust the record: machines are found by their directories and by their control groups. Errors are
//! collected, so that one that resists does not save the others.

use std::{collections::BTreeSet, fs, io, path::Path};

use crate::{Capabilities, Lab, LabError, LabName, lock::Lock, network, record, settings};

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destroyed {
    /// The machines that were there.
    pub machines: Vec<String>,
}

/// Removes a lab.
pub async fn destroy(name: &LabName, capabilities: &Capabilities) -> Result<Destroyed, LabError> {
    let _all_labs = Lock::of_all_labs(Path::new(record::HOME))?;
    let dir = Lab::dir(name);
    let _lab = if dir.exists() { Some(Lock::of_lab(name.as_str(), &dir)?) } else { None };
    let machines = machines(name, capabilities);
    let mut errors = Vec::new();
    let mut collect = |result: Result<(), LabError>| {
        if let Err(error) = result {
            errors.push(explain::chain(&error));
        }
    };
    for machine in &machines {
        collect(capabilities.cgroups.machine(name.as_str(), machine).end());
    }
    collect(network::remove(name).await);
    collect(capabilities.cgroups.remove_lab(name.as_str()));
    collect(remove_directory(&dir));
    if Lab::names().is_ok_and(|names| names.is_empty()) {
        collect(settings::put_back());
        record::tidy();
    }
    if errors.is_empty() {
        return Ok(Destroyed { machines: machines.into_iter().collect() });
    }
    Err(LabError::Left { lab: name.to_string(), what: errors.join("; ") })
}

fn machines(name: &LabName, capabilities: &Capabilities) -> BTreeSet<String> {
    let mut machines = capabilities.cgroups.machines(name.as_str());
    let entries = fs::read_dir(Lab::dir(name).join("machines")).into_iter().flatten().flatten();
    machines.extend(entries.map(|entry| entry.file_name().to_string_lossy().into_owned()));
    machines
}

fn remove_directory(dir: &Path) -> Result<(), LabError> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(LabError::while_doing(format!("remove {}", dir.display()))(error))
        }
        _ => Ok(()),
    }
}
