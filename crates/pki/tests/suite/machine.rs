//! A directory that stands for a machine.

use std::{
    fs,
    path::{Path, PathBuf},
};

use explain::Explain;
use host::{Change, Content, RealDisk};
use jiff::{Timestamp, ToSpan};
use pki::{Existing, Input, PkiErrors, Shared};
use tempfile::TempDir;

pub(crate) const ROOT: &str = "/etc/kubernetes";

pub(crate) struct Machine {
    directory: TempDir,
    disk: RealDisk,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let disk = RealDisk::new(directory.path());
        Self { directory, disk }
    }

    /// With everything the plan wants.
    pub(crate) fn complete(input: &Input) -> Self {
        let machine = Self::new();
        machine.apply(&machine.plan(input, now()).unwrap());
        machine
    }

    pub(crate) fn existing(&self) -> Existing {
        Existing::read(&self.disk, Path::new(ROOT)).unwrap()
    }

    pub(crate) fn plan(&self, input: &Input, now: Timestamp) -> Result<Vec<Change>, PkiErrors> {
        pki::plan(&self.existing(), input, now)
    }

    pub(crate) fn apply(&self, changes: &[Change]) {
        for change in changes {
            change.apply(&self.disk).unwrap();
        }
    }

    /// The place of a file of the table outside the machine.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join("etc/kubernetes").join(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.at(name), content).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.at(name)).unwrap();
    }

    /// Makes a file what it was, if it is not.
    pub(crate) fn restore(&self, name: &str, bytes: &[u8]) {
        if fs::read(self.at(name)).ok().as_deref() != Some(bytes) {
            let change =
                Change::File { path: Path::new(ROOT).join(name), mode: 0o600, content: Content::Secret(bytes.into()) };
            self.apply(&[change]);
        }
    }

    /// Replaces a file by that of another machine.
    pub(crate) fn take(&self, name: &str, other: &Self) {
        self.write(name, other.read(name));
    }
}

pub(crate) fn input() -> Input {
    Input {
        cluster: "demo".into(),
        domain: "cluster.local".into(),
        service_ip: [10, 96, 0, 1].into(),
        port: 6443,
        endpoint: None,
        extra_sans: Vec::new(),
        node: "master-01".into(),
        hostname: "master-01".into(),
        ip: [192, 168, 1, 11].into(),
        shared: Shared::Make,
    }
}

/// A moment long after any build of this code.
pub(crate) fn now() -> Timestamp {
    "2031-05-01T12:00:00Z".parse().unwrap()
}

pub(crate) fn days_later(days: i64) -> Timestamp {
    now() + (24 * days).hours()
}

/// What a plan says, on one line: the files it writes below the root, or its problems.
pub(crate) fn outcome(result: &Result<Vec<Change>, PkiErrors>) -> String {
    match result {
        Ok(changes) if changes.is_empty() => "nothing to do".into(),
        Ok(changes) => format!("writes {}", written(changes).join(", ")),
        Err(problems) => {
            problems.iter().map(|problem| format!("{} {problem}", problem.code())).collect::<Vec<_>>().join("; ")
        }
    }
}

pub(crate) fn written(changes: &[Change]) -> Vec<String> {
    let below = |change: &Change| change.path().strip_prefix(ROOT).unwrap().display().to_string();
    changes.iter().map(below).collect()
}
