//! A machine for tests: a directory, and commands that are answered by a function. `cp` and `mv` are real, within the directory.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command as Process,
    sync::{Arc, Mutex},
};

use checks::{Check, Finding};
use engine::{Planned, Step, StepError};
use explain::Explain;
use host::{Cmd, CommandError, Commands, FixedClock, Host, Printed, Running};
use tempfile::TempDir;
use upgrades::{Command, Order};

use crate::{Run, Secret, drivers::Subject};

/// What a command prints, or its status and output when it failed: `exit status: 1|output`.
pub(super) type Answer = Result<String, String>;

type Answering = Box<dyn Fn(&str) -> Answer + Send + Sync>;

struct Reported {
    root: PathBuf,
    answer: Answering,
    asked: Mutex<Vec<String>>,
}

impl Reported {
    fn within(&self, shown: &str) -> Answer {
        let mut words = shown.split(' ');
        let mut process = Process::new(words.next().unwrap());
        let at = |word: &str| match word.strip_prefix('/') {
            Some(below) => self.root.join(below).display().to_string(),
            None => word.to_owned(),
        };
        let output = process.args(words.map(at)).output().unwrap();
        if output.status.success() { Ok(String::new()) } else { Err(String::from_utf8_lossy(&output.stderr).into()) }
    }
}

impl Commands for Reported {
    fn run<'a>(&'a self, command: &'a Cmd) -> Running<'a> {
        let shown = command.to_string();
        self.asked.lock().unwrap().push(shown.clone());
        let is_real = ["cp ", "mv "].iter().any(|program| shown.starts_with(program));
        let answer = if is_real { self.within(&shown) } else { (self.answer)(&shown) };
        Box::pin(async move {
            match answer {
                Ok(stdout) => Ok(Printed { stdout, ..Printed::default() }),
                Err(output) => {
                    let (status, output) = output.split_once('|').unwrap_or(("exit status: 1", &output));
                    Err(CommandError::Failed { command: shown, status: status.into(), output: output.into() })
                }
            }
        })
    }
}

/// A machine that is a directory.
pub(super) struct Machine {
    root: TempDir,
    commands: Arc<Reported>,
}

impl Default for Machine {
    fn default() -> Self {
        let root = tempfile::tempdir().unwrap();
        let commands = reported(root.path(), |_| Ok(String::new()));
        let machine = Self { root, commands };
        machine.write("/proc/sys/kernel/osrelease", "5.14.0-427.el9.x86_64\n");
        machine.write("/usr/bin/dnf", "");
        machine
    }
}

fn reported(root: &Path, answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Arc<Reported> {
    Arc::new(Reported { root: root.to_path_buf(), answer: Box::new(answer), asked: Mutex::default() })
}

impl Machine {
    /// One whose commands answer this.
    pub(super) fn answering(mut self, answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        self.commands = reported(self.root.path(), answer);
        self
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path.trim_start_matches('/'))
    }

    pub(super) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    pub(super) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.commands.asked.lock().unwrap())
    }

    pub(super) fn host(&self) -> Host {
        let clock = Arc::new(FixedClock("2026-11-19T02:00:00Z".parse().unwrap()));
        Host { is_live: true, clock, commands: self.commands.clone(), ..Host::rooted(self.root.path()) }
    }

    pub(super) async fn checked(&self, check: &Check<Subject>, run: &Run) -> String {
        let subject = Subject { run: run.clone(), host: self.host() };
        let outcomes = checks::run_all([check], &subject, std::time::Duration::from_mins(1), |_| None).await;
        match &outcomes[0].end {
            checks::End::Checked(found) if found.is_empty() => "fine\n".to_owned(),
            checks::End::Checked(found) => found.iter().map(found_line).collect(),
            checks::End::Inconclusive(why) => format!("could not be checked: {why}\n"),
            checks::End::Skipped(why) => format!("skipped: {why}\n"),
        }
    }

    /// Does all that a step plans, and says what that is.
    pub(super) async fn apply<S: Step>(&self, step: &S) -> Result<Vec<String>, StepError> {
        let host = self.host();
        let mut done = Vec::new();
        for change in step.plan(&step.observe(&host).await?)? {
            let change: Planned = change.into();
            step.apply(&change, &host).await?;
            done.push(change.to_string());
        }
        Ok(done)
    }
}

fn found_line(found: &Finding) -> String {
    format!("{} {:?}: {}\n", found.id(), found.kind, found.evidence)
}

/// An error as a line.
pub(super) fn failed(error: &StepError) -> String {
    format!("{} {error}", error.code().id)
}

/// A run with this id and what the tests' Secrets have.
pub(super) fn run(id: &str) -> Run {
    with(id, &[])
}

/// The same with other keys; an empty value removes one.
pub(super) fn with(id: &str, other: &[(&str, &str)]) -> Run {
    let usual = [
        ("bootstrap-url", "https://bootstrap.example/v1/payload"),
        ("bootstrap-token", "hunter2hunter2"),
        ("ca.crt", "-----BEGIN CERTIFICATE-----"),
        ("worker-id", "w-1"),
        ("cluster-id", "c-1"),
        ("region", "eu-de"),
    ];
    let data: BTreeMap<String, String> =
        usual.iter().chain(other).map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let order = Order {
        version: 1,
        run: id.to_owned(),
        command: Command::Check,
        driver: upgrades::Driver::Rhel,
        secret: "ipb-worker-01".to_owned(),
        apply_seconds: 3600,
        confirm_seconds: 900,
        goes_back: true,
        by_agent: false,
    };
    Run { node: "worker-01".to_owned(), order, secret: Arc::new(Secret::new(data)) }
}
