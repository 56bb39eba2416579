//! Which process writes a record, and whether it still lives.

use std::path::Path;

use host::Disk;
use serde::{Deserialize, Serialize};

use super::{Outcome, RunRecord};

/// A process of one boot. Its number alone may be another one's by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it began, in the kernel's ticks since the boot.
    pub began: u64,
}

impl Process {
    /// The one that asks.
    pub(super) fn current(disk: &dyn Disk) -> Self {
        let pid = std::process::id();
        Self { pid, began: began(disk, pid).unwrap_or_default() }
    }

    fn is_alive(self, disk: &dyn Disk) -> bool {
        began(disk, self.pid) == Some(self.began)
    }
}

impl RunRecord {
    /// How the run ended, as seen on the machine it ran on: a run that says it is working and whose process is gone was
    /// interrupted.
    pub fn outcome_seen_by(&self, disk: &dyn Disk) -> Outcome {
        let is_over = || self.boot_id != boot_id(disk) || !self.process.is_alive(disk);
        if self.outcome == Outcome::Working && is_over() { Outcome::Interrupted } else { self.outcome }
    }
}

/// The machine's boot; empty where it cannot be read.
pub(super) fn boot_id(disk: &dyn Disk) -> String {
    crate::boot_id(disk).unwrap_or_default()
}

/// When a process began, in ticks since the boot; `None` if it is gone.
pub fn began(disk: &dyn Disk, pid: u32) -> Option<u64> {
    let stat = disk.read(&Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    began_in(&String::from_utf8_lossy(&stat))
}

/// Field 22. The second one is the program's name and may hold spaces and parentheses.
fn began_in(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(") ")?;
    after_name.split(' ').nth(22 - 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_begin_of_a_process_is_found_behind_any_name() {
        let rest = "S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2 3";
        for name in ["blackstart", "a b", "x) S 1 (y"] {
            assert_eq!(began_in(&format!("7 ({name}) {rest}")), Some(98765), "{name}");
        }
        assert_eq!(began_in("7 (x) S 1"), None);
    }
}
