//! Machines made ready for what runs on them: volumes by iSCSI, transcoding by an Intel GPU.
//!
//! ```text
//! survey (what is there) ─► playbook (iscsi, gpu) ─► run ─► report: state, code, what was seen, what such a node needs
//! ```
//! Ready means that it was seen to work, not that a command ended well. A machine that cannot (its kernel lacks iSCSI) gets
//! everything else, and the report says what it lacks. Everything may be run again at any time: what is there is only
//! looked at, what has been removed is repaired. What was installed is noted in the state directory, so that
//! [`undos`] is about that and nothing else.
//!
//! To add a step: a file in `iscsi/` or `gpu/`, its name in `ids` and its line in the list there. To add a requirement: a file in
//! `requirements/` and its line in the registry there.

mod gpu;
pub mod ids;
mod iscsi;
mod note;
mod os;
mod packages;
mod report;
mod requirements;
mod survey;
#[cfg(test)]
mod testing;

use std::path::{Path, PathBuf};

use crate::{Prep, paths};
use engine::{Ledger, LedgerError, LedgerStore, Playbook, PlaybookError, StepError, Undos};
use host::{Disk, HostError};
pub use nodekit::boot_id;
pub use survey::Survey;

use nodekit::cleanup::tree;

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Packages come from this directory instead of a mirror.
    pub packages: Option<PathBuf>,
    /// What the machine is prepared for.
    pub goal: Goal,
}

/// What a machine is prepared for, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Goal {
    /// Volumes by iSCSI.
    Iscsi {
        /// With the client of NFS version 4.
        with_nfs: bool,
    },
    /// Transcoding by an Intel GPU.
    Gpu {
        /// Install everything on a machine without one too.
        even_without_gpu: bool,
        /// Add the component of the distribution that holds the drivers, where it is left out.
        add_non_free: bool,
    },
}

impl Task {
    /// Its name, in which the state directory and the report are kept.
    pub fn prep(&self) -> Prep {
        match self.goal {
            Goal::Iscsi { .. } => Prep::Iscsi,
            Goal::Gpu { .. } => Prep::Gpu,
        }
    }

    /// The list of steps, for a machine as it was found.
    pub fn playbook(&self, survey: &Survey) -> Result<Playbook, PlaybookError> {
        match self.goal {
            Goal::Iscsi { .. } => iscsi::playbook(self),
            Goal::Gpu { add_non_free, .. } => gpu::playbook(self, survey.is_applicable(self), add_non_free),
        }
    }

    fn state_dir(&self) -> PathBuf {
        paths::state_dir(self.prep())
    }

    fn wanted(&self) -> packages::Wanted {
        match self.goal {
            Goal::Iscsi { with_nfs } => iscsi::wanted(with_nfs),
            Goal::Gpu { .. } => gpu::WANTED,
        }
    }
}

/// How a preparation is undone, from what is noted in its state directory.
pub fn undos(prep: Prep, disk: &dyn Disk) -> Result<Undos, StepError> {
    let state_dir = paths::state_dir(prep);
    let packages = packages::Installed::read(disk, &state_dir)?;
    Ok(match prep {
        Prep::Iscsi => iscsi::undos(packages, &state_dir),
        Prep::Gpu => gpu::undos(packages),
    })
}

/// Whether the ledger of this preparation knows of something.
pub fn is_begun(prep: Prep, disk: &dyn Disk) -> Result<bool, LedgerError> {
    Ok(!ledger(&paths::state_dir(prep), disk)?.steps.is_empty())
}

/// What the pod of a DaemonSet has brought to this machine, as far as it is there; the ledger knows nothing of it.
pub fn brought(prep: Prep, disk: &dyn Disk) -> Result<Vec<PathBuf>, HostError> {
    let mut there = Vec::new();
    for path in [paths::script(prep), paths::program(prep), paths::options(prep)] {
        if disk.exists(&path)? {
            there.push(path);
        }
    }
    Ok(there)
}

/// Removes what the pod has brought and the state directory, unless the ledger still knows something. Returns whether it
/// does.
pub fn tidy(prep: Prep, disk: &dyn Disk) -> Result<bool, LedgerError> {
    let dir = paths::state_dir(prep);
    if is_begun(prep, disk)? {
        return Ok(true);
    }
    for path in brought(prep, disk)? {
        host::remove_file(disk, &path)?;
    }
    for dir in paths::program(prep).ancestors().skip(1).take(2) {
        host::remove_dir_if_empty(disk, dir)?;
    }
    // The newest ledger goes after the previous one: that one still names what is gone, and would be believed.
    for name in ["ledger.prev.json", "ledger.json"] {
        tree::remove(disk, &dir.join(name))?;
    }
    tree::remove(disk, &dir)?;
    if let Some(above) = dir.parent() {
        host::remove_dir_if_empty(disk, above)?;
    }
    Ok(false)
}

fn ledger(dir: &Path, disk: &dyn Disk) -> Result<Ledger, LedgerError> {
    if disk.exists(dir)? { Ok(LedgerStore::new(dir).open(disk)?.ledger) } else { Ok(Ledger::default()) }
}

#[cfg(test)]
mod tests {
    use super::{testing::Machine, *};

    #[test]
    fn nothing_of_ours_is_left() {
        let machine = Machine::default();
        let disk = &*machine.host().disk;
        for file in [
            "/usr/local/bin/iscsi-bootstrap.sh",
            "/opt/node-bootstrap/iscsi/blackstart",
            "/opt/node-bootstrap/gpu/options",
        ] {
            machine.write(file, "");
        }
        machine.write("/var/lib/node-bootstrap/iscsi/report.json", "{}");
        assert_eq!(brought(Prep::Iscsi, disk).unwrap().len(), 2);
        for _ in 0..2 {
            assert!(!tidy(Prep::Iscsi, disk).unwrap());
        }
        assert!(
            !machine.path("/var/lib/node-bootstrap").exists() && !machine.path("/opt/node-bootstrap/iscsi").exists()
        );
        assert!(machine.path("/opt/node-bootstrap/gpu/options").exists() && machine.path("/usr/local/bin").exists());
    }

    #[test]
    fn the_lists_make_sense_and_can_be_undone() {
        let iscsi = Task { packages: None, goal: Goal::Iscsi { with_nfs: true } };
        let gpu = Task { packages: None, goal: Goal::Gpu { even_without_gpu: true, add_non_free: true } };
        let mut reported = String::new();
        for task in [iscsi, gpu] {
            let playbook = task.playbook(&Survey::default()).unwrap();
            reported += &format!("{}:\n", playbook.name());
            for about in playbook.about() {
                reported += &format!("  {}: {}, as {}\n", about.id, about.title, about.why);
            }
        }
        insta::assert_snapshot!(reported);
    }
}
