//! A machine for tests: a directory, and commands that are answered by a function.

use std::{
    fs,
    os::unix::fs::symlink,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use engine::{Planned, Step, Verdict};
use explain::Explain;
use host::{Cmd, CommandError, Commands, FixedClock, Host, Printed, Running};
use tempfile::TempDir;

/// What a command prints, or its status and output when it failed: `exit status: 1|output`.
pub(super) type Answer = Result<String, String>;

type Answering = Box<dyn Fn(&str) -> Answer + Send + Sync>;

struct Reported {
    answer: Answering,
    asked: Mutex<Vec<String>>,
}

impl Commands for Reported {
    fn run<'a>(&'a self, command: &'a Cmd) -> Running<'a> {
        let shown = command.to_string();
        self.asked.lock().unwrap().push(shown.clone());
        let answer = (self.answer)(&shown);
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
        Self { root: tempfile::tempdir().unwrap(), commands: reported(|_| Ok(String::new())) }
    }
}

fn reported(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Arc<Reported> {
    Arc::new(Reported { answer: Box::new(answer), asked: Mutex::default() })
}

impl Machine {
    /// One whose dpkg has this list.
    pub(super) fn apt(self, status: &str) -> Self {
        self.write("/usr/bin/apt-get", "");
        self.write("/var/lib/dpkg/status", status);
        self
    }

    /// One whose commands answer this.
    pub(super) fn answering(mut self, answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        self.commands = reported(answer);
        self
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
        symlink(target, path).unwrap();
    }

    pub(super) fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    pub(super) fn asked(&self) -> Vec<String> {
        self.commands.asked.lock().unwrap().clone()
    }

    pub(super) fn host(&self) -> Host {
        let clock = Arc::new(FixedClock("2026-11-17T02:00:00Z".parse().unwrap()));
        Host { is_live: true, clock, commands: self.commands.clone(), ..Host::rooted(self.root.path()) }
    }

    /// What a step would do, or wait for, or why it cannot.
    pub(super) async fn planned<S: Step>(&self, step: &S) -> String {
        let planned = match step.observe(&self.host()).await {
            Ok(seen) => step.plan(&seen).map(|changes| (changes, step.verify(&seen))),
            Err(error) => Err(error),
        };
        match planned {
            Err(error) => {
                let retry = if error.is_retryable() { ", tried again" } else { "" };
                format!("  {} {}{retry}\n", error.code().id, explain::chain(&error))
            }
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
