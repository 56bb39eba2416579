//! What is run, in which order, for what dnf and rpm may answer.

use std::{
    collections::VecDeque,
    fs,
    sync::{Arc, Mutex},
};

use explain::Explain;
use host::{CommandError, Commands, Running};
use tokio::sync::mpsc;

use super::*;

type Answer = Result<&'static str, &'static str>;

/// Answers in turn, success when there is nothing left to say, and keeps what it was asked. Locks are another matter.
#[derive(Default)]
struct Scripted {
    answers: Mutex<VecDeque<Answer>>,
    locks: Mutex<VecDeque<&'static str>>,
    asked: Mutex<Vec<String>>,
}

impl Commands for Scripted {
    fn run<'a>(&'a self, command: &'a Cmd) -> Running<'a> {
        let shown = command.to_string();
        let answer = if shown.starts_with("lslocks ") {
            Ok(self.locks.lock().unwrap().pop_front().unwrap_or_default())
        } else {
            self.asked.lock().unwrap().push(shown.clone());
            self.answers.lock().unwrap().pop_front().unwrap_or(Ok(""))
        };
        Box::pin(async move {
            match answer {
                Ok(stdout) => Ok(Printed { stdout: stdout.to_owned(), ..Printed::default() }),
                Err(output) => {
                    let status = if output == KILLED { "signal: 9 (SIGKILL)" } else { "exit status: 1" };
                    Err(CommandError::Failed { command: shown, status: status.into(), output: output.into() })
                }
            }
        })
    }
}

/// What is asked of the packages.
enum Asked {
    Install,
    FromDirectory,
    Forget,
    Disown,
    Remove,
}

const KILLED: &str = "it has no output";
const RPM_LOCKED: &str = "812 dockerd /run/docker.pid\n2106 perl /var/lib/rpm/.rpm.lock\n";
const LOCKED: Answer = Err("Error: metadata already locked by 3541");
const AWAY: Answer = Err("Error: Failed to download metadata for repo 'baseos'");
const INSTALLED: Answer = Ok("iscsi-initiator-utils 6.2.1.9-1.el9\nnfs-utils 2.5.4-1.el9\nbash 5.1-1\n");

const BASH: Answer = Ok("bash 5.1-1\n");
const BOTH: Answer = Ok("iscsi-initiator-utils\nnfs-utils\nrpcbind\n");
const CAME: Answer = Ok("iscsi-initiator-utils 6.2.1.9-1.el9\nnfs-utils 2.5.4-1.el9\nbash 5.1-1\nrpcbind 1-1\n");
const UNMET_OUTPUT: Answer =
    Err("Error: / Problem: conflicting requests / - nothing provides rpcbind needed by nfs-utils");
const NO_SUCH_WORD: Answer = Err("Unknown argument \"remove\" for command \"mark\".");
const HALFWAY: Answer = Ok("bash 5.1-1\niscsi-initiator-utils 6-1\nrpcbind 1-1\ntheir-tool 1-1\n");
const NEEDED: Answer = Ok("iscsi-initiator-utils\n");

async fn story(asked: &Asked, answers: &[Answer], locks: &[&'static str]) -> String {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in [("proc/3541/comm", "packagekitd\n"), ("mnt/rpms/iscsi.rpm", ""), ("mnt/rpms/readme", "")] {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let commands = Arc::new(Scripted {
        answers: Mutex::new(answers.iter().copied().collect()),
        locks: Mutex::new(locks.iter().copied().collect()),
        ..Scripted::default()
    });
    let (listener, mut heard) = mpsc::unbounded_channel();
    let host = Host { commands: commands.clone(), listener: Some(listener), ..Host::rooted(root.path()) };
    let names = ["iscsi-initiator-utils", "nfs-utils"];
    let owned = names.map(str::to_owned);
    let result = match asked {
        Asked::Install => install(&host, &names, None).await.map(|()| Vec::new()),
        Asked::FromDirectory => install(&host, &names, Some(Path::new("/mnt/rpms"))).await.map(|()| Vec::new()),
        Asked::Forget => forget(&host, &owned, &["bash".to_owned()].into()).await.map(|()| Vec::new()),
        Asked::Disown => disown(&host, &owned, &["bash".to_owned()].into()).await.map(|()| Vec::new()),
        Asked::Remove => remove(&host, &owned[..1], &owned.clone().into()).await,
    };
    drop(host);
    let mut reported: Vec<String> =
        commands.asked.lock().unwrap().iter().map(|command| format!("$ {command}")).collect();
    while let Ok(line) = heard.try_recv() {
        reported.push(format!("- {line}"));
    }
    reported.dedup();
    reported.push(match result {
        Ok(stay) if stay.is_empty() => "done".to_owned(),
        Ok(stay) => format!("done, and there stay: {stay:?}"),
        Err(error) => {
            let retry = if error.is_retryable() { ", tried again" } else { "" };
            format!("{}: {error}{retry}", error.code().id)
        }
    });
    reported.join("\n") + "\n\n"
}

#[tokio::test(start_paused = true)]
async fn packages_come_and_go_with_retries() {
    let mut reported = String::new();
    let never = vec![LOCKED; 700];
    for (case, asked, answers) in [
        ("nothing in the way", Asked::Install, &[][..]),
        ("another process holds the lock for a while", Asked::Install, &[LOCKED, LOCKED]),
        ("another process never releases the lock", Asked::Install, &never),
        ("the mirror is away", Asked::Install, &[AWAY]),
        ("it is killed", Asked::Install, &[Err(KILLED)]),
        ("a directory", Asked::FromDirectory, &[BOTH, BASH, Ok(""), CAME]),
        ("a directory, with dnf 5", Asked::FromDirectory, &[BOTH, BASH, Ok(""), CAME, NO_SUCH_WORD]),
        ("a directory that lacks one", Asked::FromDirectory, &[Ok("iscsi-initiator-utils\n")]),
        ("a directory that lacks what one needs", Asked::FromDirectory, &[BOTH, BASH, UNMET_OUTPUT]),
        ("it was interrupted", Asked::Forget, &[HALFWAY, NEEDED]),
        ("it was interrupted, and is to go", Asked::Disown, &[HALFWAY, NEEDED]),
        ("it goes", Asked::Remove, &[INSTALLED]),
        ("another package needs it", Asked::Remove, &[INSTALLED, Ok("nfs-utils\ntheir-tool\n\n")]),
        ("it is gone", Asked::Remove, &[BASH]),
    ] {
        reported += &format!("{case}:\n{}", story(&asked, answers, &[]).await);
    }
    let locks = [RPM_LOCKED, RPM_LOCKED];
    reported +=
        &format!("another process holds rpm's lock for a while:\n{}", story(&Asked::Install, &[], &locks).await);
    insta::assert_snapshot!(reported);
}
