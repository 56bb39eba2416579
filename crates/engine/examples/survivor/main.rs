//! A program that is there to be killed: the patient of the tests in `tests/proofs`.
//!
//! ```text
//! survivor ROOT PLAYBOOK run|undo [before:N|after:N]
//! ```
//!
//! Runs a playbook of `playbooks.rs` on the machine that `ROOT` stands for. Events go to standard output as JSON lines;
//! a last line there says how many operations the disk has seen. With `before:N` or `after:N` the process kills itself
//! right before or right after its N-th operation on the disk, with SIGKILL, so that nothing can be tidied up.
//! SIGINT and SIGTERM stop the run between two changes.

mod deadly;
mod playbooks;

use std::{error::Error, io::Write, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use deadly::{DeadlyDisk, Strike};
use engine::{Event, RunError, Runner, Sink, Tuning};
use explain::Explain;
use host::Host;
use tokio::signal::unix::{SignalKind, signal};

/// Everything promised is there, or everything is undone.
const DONE: u8 = 0;
/// A step failed, or the run could not go on.
const FAILED: u8 = 1;
/// Stopped by a signal.
const STOPPED: u8 = 3;

struct Lines;

impl Sink for Lines {
    fn event(&self, event: &Event) {
        if let Ok(line) = serde_json::to_string(event) {
            say(&line);
        }
    }
}

fn say(line: &str) {
    // There is no listener any more when a test has seen enough.
    let _ = writeln!(std::io::stdout(), "{line}");
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [root, playbook, verb, strike @ ..] = arguments.as_slice() else {
        return Err("usage: survivor ROOT PLAYBOOK run|undo [before:N|after:N]".into());
    };
    let root = PathBuf::from(root);
    let strike = strike.first().map(|text| text.parse::<Strike>()).transpose()?;
    let disk = Arc::new(DeadlyDisk::new(&root, strike));
    let host = Host { disk: disk.clone(), ..Host::rooted(&root) };
    let mut runner = Runner::new(host, "/var/lib/cluster-state", "survivor");
    runner.sinks.push(Arc::new(Lines));
    runner.tuning = Tuning { poll: Duration::from_millis(1), ..Tuning::default() };

    let playbook = playbooks::named(playbook, &root)?;
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        let mut signals = signal(kind)?;
        let cancel = runner.cancel.clone();
        tokio::spawn(async move {
            signals.recv().await;
            cancel.cancel();
        });
    }
    let ended = if verb == "undo" {
        runner
            .undo(&playbooks::undos(playbook.name(), &root))
            .await
            .map(|report| (report.failed.is_empty(), report.cancelled))
    } else {
        runner.run(&playbook).await.map(|report| (report.failed.is_empty(), report.cancelled))
    };
    say(&format!("{{\"operations\": {}}}", disk.operations()));
    Ok(ExitCode::from(code(ended)))
}

fn code(ended: Result<(bool, bool), RunError>) -> u8 {
    match ended {
        Ok((_, true)) => STOPPED,
        Ok((true, false)) => DONE,
        Ok((false, false)) => FAILED,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{}: {}", error.code(), explain::chain(&error));
            FAILED
        }
    }
}
