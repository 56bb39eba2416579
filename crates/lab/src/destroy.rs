//! Removes a lab until nothing is left of it, whatever state it is in.
//!
//! It does not trust the record: machines are found by their directories and by their control groups. Errors are
//! collected, so that one that resists does not save the others.

use std::{collections::BTreeSet, fs, io, path::Path};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::{Lab, LabError, LabName, Surroundings, network, record};

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destroyed {
    /// The machines that were there.
    pub machines: Vec<String>,
}

/// Removes a lab.
pub async fn destroy(name: &LabName, surroundings: &Surroundings) -> Result<Destroyed, LabError> {
    let record = Lab::open(name).ok();
    let machines = machines(name, surroundings);
    let mut errors = Vec::new();
    let mut collect = |result: Result<(), LabError>| {
        if let Err(error) = result {
            errors.push(explain::chain(&error));
        }
    };
    for machine in &machines {
        let groups = surroundings.cgroups.machine(name.as_str(), machine);
        // First the supervisor: it would boot a machine that seems to reboot.
        collect(end_supervisors(name, machine));
        collect(groups.kill());
        collect(groups.remove());
    }
    collect(network::remove(name).await);
    collect(surroundings.cgroups.remove_lab(name.as_str()));
    collect(remove_directory(&Lab::dir(name)));
    let last = Lab::names().is_ok_and(|names| names.is_empty());
    if last && record.is_some_and(|lab| !lab.forwarded_before) {
        collect(network::set_forwarding(false));
    }
    if last {
        tidy();
    }
    if errors.is_empty() {
        return Ok(Destroyed { machines: machines.into_iter().collect() });
    }
    Err(LabError::Left { lab: name.to_string(), what: errors.join("; ") })
}

fn machines(name: &LabName, surroundings: &Surroundings) -> BTreeSet<String> {
    let mut machines = surroundings.cgroups.machines(name.as_str());
    let entries = fs::read_dir(Lab::dir(name).join("machines")).into_iter().flatten().flatten();
    machines.extend(entries.map(|entry| entry.file_name().to_string_lossy().into_owned()));
    machines
}

/// Finds them by their command line: also one that has just been started and holds no lock yet.
fn end_supervisors(name: &LabName, machine: &str) -> Result<(), LabError> {
    let wanted = ["lab", "supervise", name.as_str(), machine];
    for entry in fs::read_dir("/proc").map_err(LabError::while_doing("list /proc"))?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let Ok(line) = fs::read(entry.path().join("cmdline")) else { continue };
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        let ends_so = words.len() > wanted.len()
            && words[words.len() - 5..words.len() - 1]
                .iter()
                .zip(wanted)
                .all(|(word, wanted)| *word == wanted.as_bytes());
        if ends_so {
            // One that ended in the meantime is what we want.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
    Ok(())
}

fn remove_directory(dir: &Path) -> Result<(), LabError> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(LabError::while_doing(format!("remove {}", dir.display()))(error))
        }
        _ => Ok(()),
    }
}

/// The directories above, when the last lab is gone. One that still holds something stays.
fn tidy() {
    let above = Path::new(record::HOME).parent().unwrap_or(Path::new(record::HOME));
    for dir in [Path::new(record::HOME), above] {
        let _ = fs::remove_dir(dir);
    }
}
