//! A machine for tests: a directory, and commands that are answered by a function. What it says of deployments, of podman and of
//! the machine-config-daemon is a stand-in for the real programs.

use std::{
    fs,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use engine::{Planned, Step, Verdict};
use explain::Explain;
use host::{Cmd, CommandError, Commands, FixedClock, Host, Printed, Running};
use tempfile::TempDir;
use upgrades::{Command, Driver, Order};

use super::{
    samples::OLD_OS,
    stored::{self, Note},
};
use crate::{Run, Secret, drivers::Subject};

/// What a command prints, or its status and output when it failed: `exit status: 1|output`.
pub(super) type Answer = Result<String, String>;

type Answering = Box<dyn Fn(&str) -> Answer + Send + Sync>;

struct Reported {
    answer: Mutex<Answering>,
    asked: Mutex<Vec<String>>,
}

impl Commands for Reported {
    fn run<'a>(&'a self, command: &'a Cmd) -> Running<'a> {
        let shown = command.to_string();
        self.asked.lock().unwrap().push(shown.clone());
        let answer = (self.answer.lock().unwrap())(&shown);
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
    run: Run,
}

impl Default for Machine {
    fn default() -> Self {
        let root = tempfile::tempdir().unwrap();
        let commands = Arc::new(Reported { answer: Mutex::new(Box::new(answer)), asked: Mutex::default() });
        let machine = Self { root, commands, run: run() };
        machine.boot("boot-1");
        machine
    }
}

/// A machine that has booted the old system, and podman has nothing.
fn answer(command: &str) -> Answer {
    match command {
        "rpm-ostree status --json" => Ok(old_only()),
        command if command.starts_with("podman image exists") => Err("exit status: 1|".into()),
        command if command.starts_with("podman container inspect") => Err("exit status: 125|no such container".into()),
        _ => Ok(String::new()),
    }
}

/// What `rpm-ostree status` says of deployments: checksum, image, and flags of `bsp` (booted, staged, pinned).
pub(super) fn status(deployments: &[(&str, &str, &str)]) -> String {
    let deployments: Vec<_> = deployments
        .iter()
        .map(|(checksum, image, flags)| {
            serde_json::json!({"osname": "rhcos", "checksum": checksum, "serial": 0, "version": "9.6",
                "booted": flags.contains('b'), "staged": flags.contains('s'), "pinned": flags.contains('p'),
                "container-image-reference": format!("ostree-unverified-registry:{image}")})
        })
        .collect();
    serde_json::json!({ "deployments": deployments }).to_string()
}

/// The old system alone, booted.
pub(super) fn old_only() -> String {
    status(&[("old", OLD_OS, "b")])
}

fn run() -> Run {
    let order = Order {
        version: 1,
        run: "uid-1-1".into(),
        command: Command::Arm,
        driver: Driver::Rhcos,
        secret: "ipb-w1".into(),
        apply_seconds: 3600,
        confirm_seconds: 900,
        goes_back: true,
        by_agent: false,
    };
    let data = [("ignition-url", "https://ignition.lab"), ("ignition-token", "hunter2"), ("ca.crt", "a CA")];
    let data = data.map(|(key, value)| (key.to_owned(), value.to_owned()));
    Run { node: "w1".into(), order, secret: Arc::new(Secret::new(data.into())) }
}

impl Machine {
    /// From now on, commands answer this, and as they did where it says nothing.
    pub(super) fn answers(&self, first: impl Fn(&str) -> Option<Answer> + Send + Sync + 'static) {
        let mut answering = self.commands.answer.lock().unwrap();
        let before = std::mem::replace(&mut *answering, Box::new(answer));
        *answering = Box::new(move |command| first(command).unwrap_or_else(|| before(command)));
    }

    /// From now on, these are the deployments.
    pub(super) fn deployed(&self, deployments: &[(&str, &str, &str)]) {
        let printed = status(deployments);
        self.answers(move |command| (command == "rpm-ostree status --json").then(|| Ok(printed.clone())));
    }

    /// It was booted with this id.
    pub(super) fn boot(&self, id: &str) {
        self.write("/proc/sys/kernel/random/boot_id", &format!("{id}\n"));
    }

    /// This was fetched for its run.
    pub(super) fn fetched(&self, bytes: &[u8]) {
        let date = Some("Tue, 17 Nov 2026 02:00:00 GMT".to_owned());
        let (run, at) = (self.run().order.run, self.host().clock.now());
        let note = Note { run, sha256: stored::sha256(bytes), date, at };
        stored::keep(&*self.host().disk, bytes, &note).unwrap();
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path.trim_start_matches('/'))
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn link(&self, path: &str, target: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    pub(super) fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    pub(super) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.commands.asked.lock().unwrap())
    }

    pub(super) fn host(&self) -> Host {
        let clock = Arc::new(FixedClock("2026-11-17T02:00:00Z".parse().unwrap()));
        Host { is_live: true, clock, commands: self.commands.clone(), ..Host::rooted(self.root.path()) }
    }

    pub(super) fn run(&self) -> Run {
        self.run.clone()
    }

    pub(super) fn subject(&self) -> Subject {
        Subject { run: self.run(), host: self.host() }
    }

    /// What a step would do, or wait for, or why it cannot.
    pub(super) async fn planned<S: Step>(&self, step: &S) -> String {
        let planned = match step.observe(&self.host()).await {
            Ok(seen) => step.plan(&seen).map(|changes| (changes, step.verify(&seen))),
            Err(error) => Err(error),
        };
        match planned {
            Err(error) => format!("  {} {}\n", error.code().id, explain::chain(&error)),
            Ok((changes, verdict)) => {
                let mut lines: Vec<String> =
                    changes.into_iter().map(|change| format!("  {}\n", Into::<Planned>::into(change))).collect();
                if let Verdict::Waiting { what, .. } = verdict {
                    lines.push(format!("  waits for {what}\n"));
                }
                if lines.is_empty() { "  nothing\n".to_owned() } else { lines.concat() }
            }
        }
    }

    /// Does all that a step plans.
    pub(super) async fn apply<S: Step>(&self, step: &S) {
        let host = self.host();
        for change in step.plan(&step.observe(&host).await.unwrap()).unwrap() {
            step.apply(&change.into(), &host).await.unwrap();
        }
    }
}
