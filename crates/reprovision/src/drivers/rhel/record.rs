//! What the stages note for the run after a reboot and for the way back: `rhel.json` in the state directory.
//!
//! A script promises nothing that could be observed from outside. So that one ended well is noted here, by the run it was for: it is
//! the one marker that this driver believes.

use std::path::PathBuf;

use engine::StepError;
use host::{Disk, Host, create_dir_all, write_atomic};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{codes, paths};

/// What is noted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    /// For which run.
    pub(super) run: String,
    /// Before the reboot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stage1: Option<Begun>,
    /// After it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stage2: Option<Begun>,
    /// The newest dnf transaction once all of ours were undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) undone_at: Option<u32>,
}

/// A stage that was begun, and the node as it was then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Begun {
    /// The newest dnf transaction; 0 where there was none.
    pub(super) transaction: u32,
    /// The kernel that ran.
    pub(super) kernel: String,
    /// The script ended with 0.
    pub(super) ended: bool,
    /// The transaction of the script that was interrupted and is being completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) repairing: Option<u32>,
}

impl Record {
    /// Where it is.
    pub(super) fn path() -> PathBuf {
        paths::state("rhel.json")
    }

    /// As it was noted last; none where no stage was ever begun.
    pub(super) fn read(disk: &dyn Disk) -> Result<Option<Self>, StepError> {
        read(disk, &Self::path())
    }

    /// Of this run; an empty one where that has begun nothing.
    pub(super) fn of(disk: &dyn Disk, run: &str) -> Result<Self, StepError> {
        let noted = Self::read(disk)?.filter(|record| record.run == run);
        Ok(noted.unwrap_or_else(|| Self { run: run.to_owned(), ..Self::default() }))
    }

    /// Notes it.
    pub(super) fn write(&self, disk: &dyn Disk) -> Result<(), StepError> {
        write(disk, &Self::path(), self)
    }

    /// The node as it was before anything was begun.
    pub(super) fn before(&self) -> Option<&Begun> {
        self.stage1.as_ref().or(self.stage2.as_ref())
    }
}

/// Reads a note of the state directory; none where there is none.
pub(super) fn read<T: DeserializeOwned>(disk: &dyn Disk, path: &std::path::Path) -> Result<Option<T>, StepError> {
    let Some(bytes) = disk.read_optional(path)? else { return Ok(None) };
    let bad = |error| StepError::new(codes::BAD_NOTE, format!("cannot parse {}: {error}", path.display()));
    serde_json::from_slice(&bytes).map(Some).map_err(bad)
}

/// Writes a note of the state directory, whole at every instant.
pub(super) fn write(disk: &dyn Disk, path: &std::path::Path, note: &impl Serialize) -> Result<(), StepError> {
    let bad = |error| StepError::new(codes::BAD_NOTE, format!("{} cannot be made: {error}", path.display()));
    let mut text = serde_json::to_vec_pretty(note).map_err(bad)?;
    text.push(b'\n');
    if let Some(dir) = path.parent() {
        create_dir_all(disk, dir, 0o700)?;
    }
    Ok(write_atomic(disk, path, &text, 0o600)?)
}

/// The kernel that runs.
pub(super) fn kernel(host: &Host) -> Result<String, StepError> {
    let release = host.disk.read(std::path::Path::new("/proc/sys/kernel/osrelease"))?;
    Ok(String::from_utf8_lossy(&release).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use explain::Explain;

    use super::{super::testing::Machine, *};

    #[test]
    fn what_another_run_has_noted_counts_for_the_way_back_only() {
        let machine = Machine::default();
        let disk = &*machine.host().disk;
        assert_eq!((Record::read(disk).unwrap(), Record::of(disk, "b").unwrap().before()), (None, None));
        let begun = Begun { transaction: 7, kernel: "5.14.0-70".into(), ended: false, repairing: None };
        let record = Record { run: "a".into(), stage1: Some(begun.clone()), ..Record::default() };
        record.write(disk).unwrap();
        assert_eq!(Record::read(disk).unwrap().unwrap().before(), Some(&begun));
        assert_eq!(Record::of(disk, "a").unwrap(), record);
        assert_eq!(Record::of(disk, "b").unwrap().before(), None);
        insta::assert_snapshot!(machine.read("/var/lib/blackstart-reprovision/rhel.json").unwrap());
        machine.write("/var/lib/blackstart-reprovision/rhel.json", "{");
        assert_eq!(Record::read(disk).unwrap_err().code(), codes::BAD_NOTE);
    }
}
