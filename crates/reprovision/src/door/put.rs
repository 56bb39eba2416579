//! Puts program and units in place on the node, where they differ. A run that is under way keeps the program it has begun with.

use std::path::{Path, PathBuf};

use host::{Change, Host};

use super::DoorError;
use crate::{node::files, paths};

#[derive(Debug, Clone)]
pub(super) struct Put {
    /// This program.
    program: PathBuf,
    /// Comparing reads all of it; once is enough for a pod.
    is_there: bool,
}

impl Put {
    pub(super) fn new(program: &Path) -> Self {
        Self { program: program.to_path_buf(), is_there: false }
    }

    /// Whether units were written.
    pub(super) fn put(&mut self, host: &Host, node: &str) -> Result<bool, DoorError> {
        if !self.is_there {
            let program = Change::Copy { path: paths::PROGRAM.into(), mode: 0o755, from: self.program.clone() };
            write(host, program)?;
            self.is_there = true;
        }
        let mut wrote = false;
        for unit in files(node) {
            wrote |= write(host, unit)?;
        }
        Ok(wrote)
    }
}

fn write(host: &Host, change: Change) -> Result<bool, DoorError> {
    let path = change.path().to_path_buf();
    let done = || {
        let missing = Change::missing(vec![change], &*host.disk)?;
        if missing.is_empty() {
            return Ok(false);
        }
        host::create_dir_all(&*host.disk, path.parent().unwrap_or(Path::new("/")), 0o755)?;
        missing.iter().try_for_each(|change| change.apply(&*host.disk))?;
        Ok(true)
    };
    let written: Result<bool, host::HostError> = done();
    written.map_err(|source| DoorError::NotPut { path, source })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_differs_is_written_and_drift_of_units_is_repaired() {
        let dir = tempfile::tempdir().unwrap();
        let (node, program) = (dir.path().join("host"), dir.path().join("blackstart"));
        fs::create_dir_all(node.join("etc")).unwrap();
        fs::write(&program, "program").unwrap();
        let host = Host::rooted(&node);
        let mut put = Put::new(&program);
        assert!(put.put(&host, "worker-01").unwrap());
        assert_eq!(fs::read(node.join("opt/blackstart-reprovision/blackstart")).unwrap(), b"program");
        let unit = node.join("etc/systemd/system").join(paths::UNIT);
        assert!(fs::read_to_string(&unit).unwrap().contains("--node worker-01\n"));
        assert!(!put.put(&host, "worker-01").unwrap(), "twice is once");
        fs::remove_file(unit).unwrap();
        assert!(put.put(&host, "worker-01").unwrap());
    }
}
