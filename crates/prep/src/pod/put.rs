//! Puts script, program and options in place on the node, where they differ from those of the pod.
//!
//! Every write replaces the whole file at once, so a run that is under way keeps the file it has begun with, and a pod that
//! is killed in the middle leaves the old one.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use host::{Change, Content, Host, HostError};
use jiff::Timestamp;

use crate::{PodError, Prep, paths};

/// Where things come from, and where the node is.
pub(super) struct Putting {
    prep: Prep,
    /// The node's file system.
    host: Host,
    /// Where it is for this pod.
    root: PathBuf,
    /// The mounted `ConfigMap`.
    config_map: PathBuf,
    /// This program.
    program: PathBuf,
    /// The program on the node as it was when it was last compared: comparing reads all of it.
    compared: Option<Stamp>,
}

/// A file without its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Putting {
    pub(super) fn new(prep: Prep, root: &Path, config_map: &Path, program: PathBuf) -> Self {
        let (host, root, config_map) = (Host::rooted(root), root.to_path_buf(), config_map.to_path_buf());
        Self { prep, host, root, config_map, program, compared: None }
    }

    /// Puts everything in place and says what was written.
    pub(super) fn put(&mut self) -> Result<Vec<PathBuf>, PodError> {
        let mut written = Vec::new();
        let options = Change::File { path: paths::options(self.prep), mode: 0o644, content: self.options()? };
        let script = Change::File { path: paths::script(self.prep), mode: 0o755, content: self.script()? };
        let program = Change::Copy { path: paths::program(self.prep), mode: 0o755, from: self.program.clone() };
        // The script last: where it is, what it calls is there too.
        for change in [options, program, script] {
            let is_program = matches!(change, Change::Copy { .. });
            if is_program && self.compared.is_some() && self.compared == self.stamp() {
                continue;
            }
            written.extend(self.apply(change)?);
            if is_program {
                self.compared = self.stamp();
            }
        }
        Ok(written)
    }

    fn apply(&self, change: Change) -> Result<Option<PathBuf>, PodError> {
        let disk = &*self.host.disk;
        let path = change.path().to_path_buf();
        let done = (|| {
            let missing = Change::missing(vec![change], disk)?;
            if missing.is_empty() {
                return Ok(false);
            }
            host::create_dir_all(disk, path.parent().unwrap_or(Path::new("/")), 0o755)?;
            missing.iter().try_for_each(|change| change.apply(disk))?;
            Ok(true)
        })();
        match done {
            Ok(written) => Ok(written.then_some(path)),
            Err(source) => Err(PodError::NotPut { path, source }),
        }
    }

    fn script(&self) -> Result<Content, PodError> {
        let name = paths::script(self.prep).file_name().map(PathBuf::from).unwrap_or_default();
        Ok(Content::Plain(read(&self.config_map.join(name))?))
    }

    /// A `ConfigMap` without options is one without special wishes.
    fn options(&self) -> Result<Content, PodError> {
        match read(&self.config_map.join("options")) {
            Err(error) if error.is_not_found() => Ok(Content::Plain(Vec::new())),
            read => Ok(Content::Plain(read?)),
        }
    }

    /// When the newest of them was written, as the node's file system says.
    pub(super) fn put_at(&self) -> Option<Timestamp> {
        let files = [paths::options(self.prep), paths::program(self.prep), paths::script(self.prep)];
        files.iter().filter_map(|path| fs::metadata(self.real(path)).ok()?.modified().ok()?.try_into().ok()).max()
    }

    fn stamp(&self) -> Option<Stamp> {
        let found = fs::symlink_metadata(self.real(&paths::program(self.prep))).ok()?;
        let changed = (found.ctime(), found.ctime_nsec());
        Some(Stamp { inode: found.ino(), size: found.size(), changed })
    }

    fn real(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, HostError> {
    fs::read(path).map_err(|source| HostError { doing: "read", path: path.to_path_buf(), source })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn names(written: &[PathBuf]) -> Vec<String> {
        written.iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn only_what_differs_is_written_and_drift_is_repaired() {
        let dir = tempfile::tempdir().unwrap();
        let (node, map, program) = (dir.path().join("host"), dir.path().join("map"), dir.path().join("blackstart"));
        fs::create_dir(&node).unwrap();
        fs::create_dir(&map).unwrap();
        fs::write(map.join("iscsi-bootstrap.sh"), "#!/bin/sh\n").unwrap();
        fs::write(&program, "program").unwrap();
        let mut putting = Putting::new(Prep::Iscsi, &node, &map, program.clone());
        assert_eq!(putting.put_at(), None);
        assert_eq!(
            names(&putting.put().unwrap()),
            [
                "/opt/node-bootstrap/iscsi/options",
                "/opt/node-bootstrap/iscsi/blackstart",
                "/usr/local/bin/iscsi-bootstrap.sh"
            ]
        );
        let script = node.join("usr/local/bin/iscsi-bootstrap.sh");
        assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o755);
        assert!(putting.put_at().is_some());
        assert!(putting.put().unwrap().is_empty(), "twice is once");

        fs::write(map.join("options"), "--with-nfs\n").unwrap();
        assert_eq!(names(&putting.put().unwrap()), ["/opt/node-bootstrap/iscsi/options"]);

        let installed = node.join("opt/node-bootstrap/iscsi/blackstart");
        fs::write(&installed, "broken!").unwrap();
        fs::remove_file(&script).unwrap();
        assert_eq!(
            names(&putting.put().unwrap()),
            ["/opt/node-bootstrap/iscsi/blackstart", "/usr/local/bin/iscsi-bootstrap.sh"]
        );
        assert_eq!(fs::read(&installed).unwrap(), b"program");
    }

    #[test]
    fn what_cannot_be_written_is_reported_with_its_path() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("iscsi-bootstrap.sh"), "#!/bin/sh\n").unwrap();
        let program = dir.path().join("blackstart");
        fs::write(&program, "program").unwrap();
        let node = dir.path().join("host");
        fs::create_dir(&node).unwrap();
        fs::write(node.join("opt"), "in the way").unwrap();
        let error = Putting::new(Prep::Iscsi, &node, dir.path(), program).put().unwrap_err();
        assert_eq!(error.to_string(), "cannot put /opt/node-bootstrap/iscsi/options in place on the node");
    }
}
