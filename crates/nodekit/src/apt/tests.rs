//! What is run, in which order, for everything that apt may answer.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use explain::Explain;
use host::{CommandError, Commands, Running};
use tokio::sync::mpsc;

use super::*;

/// Answers in turn, success when there is nothing left to say, and keeps what it was asked.
#[derive(Default)]
struct Scripted {
    answers: Mutex<VecDeque<Option<&'static str>>>,
    asked: Mutex<Vec<String>>,
}

impl Commands for Scripted {
    fn run<'a>(&'a self, command: &'a Cmd) -> Running<'a> {
        let shown = command.to_string();
        self.asked.lock().unwrap().push(shown.clone());
        let answer = self.answers.lock().unwrap().pop_front().flatten();
        Box::pin(async move {
            match answer {
                None => Ok(Printed::default()),
                Some(output) => {
                    let status = if output == KILLED { "signal: 9 (SIGKILL)" } else { "exit status: 100" };
                    Err(CommandError::Failed { command: shown, status: status.into(), output: output.into() })
                }
            }
        })
    }
}

const LOCKED: &str = "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 812 (unattended-upgr)";
const KILLED: &str = "it has no output";
const AWAY: &str = "E: Failed to fetch http://mirror/x.deb  Could not connect to mirror";

/// What was run, what was reported meanwhile and how it ended.
async fn story(answers: &[Option<&'static str>], repairing: bool) -> String {
    let commands = Arc::new(Scripted { answers: Mutex::new(answers.iter().copied().collect()), ..Scripted::default() });
    let (listener, mut heard) = mpsc::unbounded_channel();
    let host = Host { commands: commands.clone(), listener: Some(listener), ..Host::rooted("/no/such/machine") };
    let result = if repairing { repair(&host).await } else { install(&host, &["ceph-mon", "ceph-osd"]).await };
    drop(host);
    let mut reported: Vec<String> =
        commands.asked.lock().unwrap().iter().map(|command| format!("$ {command}")).collect();
    reported.dedup();
    let mut output = Vec::new();
    while let Ok(line) = heard.try_recv() {
        output.push(format!("- {line}"));
    }
    output.dedup();
    reported.extend(output);
    reported.push(match result {
        Ok(()) => "done".to_owned(),
        Err(error) => format!("{}: {error}", error.code().id),
    });
    reported.join("\n") + "\n\n"
}

#[tokio::test(start_paused = true)]
async fn packages_are_installed_with_retries() {
    let mut reported = String::new();
    for (case, answers) in [
        ("nothing in the way", &[][..]),
        ("another process holds the lock for a while", &[Some(LOCKED), Some(LOCKED), None, Some(LOCKED)]),
        ("another process never releases the lock", &[Some(LOCKED); 700]),
        ("one source is away, and it does not matter", &[Some(AWAY)]),
        ("the mirror is away", &[Some(AWAY), Some(AWAY)]),
        ("it is killed", &[None, Some(KILLED)]),
    ] {
        reported += &format!("{case}:\n{}", story(answers, false).await);
    }
    insta::assert_snapshot!(reported);
}

#[tokio::test]
async fn what_was_unpacked_halfway_is_unpacked_again() {
    let root = tempfile::tempdir().unwrap();
    let dpkg = root.path().join("var/lib/dpkg");
    std::fs::create_dir_all(&dpkg).unwrap();
    let status = "Package: open-iscsi\nStatus: deinstall reinstreq half-installed\nVersion: 2.1.8-1\n\n\
                  Package: libisns0\nStatus: install ok unpacked\nVersion: 0.101\n";
    std::fs::write(dpkg.join("status"), status).unwrap();
    let commands = Arc::new(Scripted::default());
    let host = Host { commands: commands.clone(), ..Host::rooted(root.path()) };
    repair(&host).await.unwrap();
    let asked = commands.asked.lock().unwrap();
    assert!(asked[1].ends_with("--fix-broken --no-install-recommends --reinstall open-iscsi"), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_dpkg_is_repaired() {
    let mut reported = String::new();
    for (case, answers) in [
        ("it can be finished", &[][..]),
        ("it needs what apt can fetch", &[Some("dpkg: dependency problems prevent configuration of ceph-mon")]),
        ("it cannot be repaired", &[None, Some("E: Sub-process /usr/bin/dpkg returned an error code (1)")]),
    ] {
        reported += &format!("{case}:\n{}", story(answers, true).await);
    }
    insta::assert_snapshot!(reported);
}

#[tokio::test]
async fn without_apt_nothing_can_be_installed() {
    struct Nothing;
    impl Commands for Nothing {
        fn run<'a>(&'a self, command: &'a Cmd) -> Running<'a> {
            let source = std::io::ErrorKind::NotFound.into();
            Box::pin(async move { Err(CommandError::NotStarted { command: command.to_string(), source }) })
        }
    }
    let host = Host { commands: Arc::new(Nothing), ..Host::rooted("/no/such/machine") };
    let error = install(&host, &["ceph-mon"]).await.unwrap_err();
    assert_eq!(error.code(), codes::NO_APT);
}
