//! A real process on real files: `examples/survivor` and the directory that stands for its machine.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
};

use engine::{Ledger, LedgerStore};
use host::RealDisk;
use serde_json::Value;
use tempfile::TempDir;

use super::STATE_DIR;

/// A machine with some files of its user.
pub(crate) struct Machine {
    dir: TempDir,
}

/// How a process ended and what it printed.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) events: Vec<Value>,
    pub(crate) stderr: String,
}

impl Machine {
    /// In memory where that is possible: a kill loses nothing that was written, so nothing is gained by a slow disk.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let machine = Self { dir };
        for (path, mode) in
            [("etc", 0o755), ("srv", 0o755), ("srv/data", 0o711), ("opt", 0o755), ("var", 0o755), ("var/lib", 0o755)]
        {
            let path = machine.root().join(path);
            fs::create_dir_all(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        for (path, content, mode) in [
            ("etc/app.conf", "the user's own settings\n", 0o640),
            ("etc/legacy.conf", "from long ago\n", 0o600),
            ("srv/data/precious", "keep me\n", 0o604),
        ] {
            let path = machine.root().join(path);
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        std::os::unix::fs::symlink("v1", machine.root().join("opt/current")).unwrap();
        machine
    }

    /// Another machine in the same state.
    pub(crate) fn copy(&self) -> Self {
        let dir = tempfile::tempdir_in(self.dir.path().parent().unwrap()).unwrap();
        copy_below(self.dir.path(), dir.path());
        Self { dir }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    pub(crate) fn disk(&self) -> RealDisk {
        RealDisk::new(self.root())
    }

    /// The ledger, which no kill may damage.
    pub(crate) fn ledger(&self) -> Ledger {
        let opened = LedgerStore::new(STATE_DIR).open(&self.disk()).unwrap();
        assert_eq!(opened.recovered, None, "a kill damaged the ledger");
        opened.ledger
    }

    /// The lines of the journal that the effects outside the disk leave.
    pub(crate) fn effects(&self) -> Vec<String> {
        let journal = fs::read_to_string(self.root().with_extension("effects")).unwrap_or_default();
        journal.lines().map(str::to_owned).collect()
    }

    /// Starts the survivor and lets it run.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = Command::new(survivor());
        command.arg(self.root()).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Starts the survivor and waits for its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        let output = self.start(arguments).wait_with_output().unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        Ended {
            status: output.status,
            events: lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    /// How many operations the disk saw, printed by a process that came to its end.
    pub(crate) fn operations(&self) -> usize {
        let reported = self.events.iter().find_map(|line| line["operations"].as_u64());
        usize::try_from(reported.expect("the survivor prints its operations")).unwrap()
    }

    /// The steps with this event, once per event.
    pub(crate) fn steps_reported(&self, state: &str) -> Vec<&str> {
        let reported = self.events.iter().filter(|event| event["state"] == state);
        reported.filter_map(|event| event["step"].as_str()).collect()
    }
}

/// `cargo test` builds examples beside the directory of the tests.
fn survivor() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().and_then(Path::parent).unwrap().join("examples/survivor");
    assert!(path.exists(), "{} is missing: build it with `cargo build -p engine --examples`", path.display());
    path
}

fn copy_below(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&target).unwrap();
            copy_below(&entry.path(), &target);
            fs::set_permissions(&target, entry.metadata().unwrap().permissions()).unwrap();
        } else if entry.file_type().unwrap().is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path()).unwrap(), &target).unwrap();
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}
