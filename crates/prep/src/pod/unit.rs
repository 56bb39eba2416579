//! The work as a unit of the node's own systemd.
//!
//! The pod is too small to install anything, and dies when it is deleted. So it only asks the node's systemd, by the
//! node's own `systemd-run`, and the unit has limits of its own. Its name is fixed: while one runs, systemd refuses
//! another, and the next pod joins it.

use std::{process::Stdio, time::Duration};

use host::{Cmd, Commands};
use jiff::Timestamp;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use super::HOST;
use crate::{PodError, Prep, paths};

/// However slow a mirror is; then the run is killed and the next one repairs what it left.
const LONGEST_RUN: Duration = Duration::from_mins(30);
/// apt with the largest index takes a third of it; more would be a mistake, and must not push out what the node is for.
const MOST_MEMORY: &str = "1G";
/// Whether a unit runs, and that systemd answers at all.
const ANSWER: Duration = Duration::from_mins(1);
/// The journal is behind the unit by less, unless the node is very busy.
const LAST_LOG_LINES: Duration = Duration::from_secs(2);

/// A command of the node's own programs.
fn on_node(program: &str) -> Cmd {
    Cmd::new("chroot").args([HOST, program])
}

async fn ask(commands: &dyn Commands, command: &Cmd) -> Result<String, PodError> {
    let answered = timeout(ANSWER, commands.run(command)).await;
    let printed = answered.unwrap_or_else(|_| {
        Err(host::CommandError::Failed {
            command: command.to_string(),
            status: format!("no answer within {} s", ANSWER.as_secs()),
            output: "it has no output".to_owned(),
        })
    });
    Ok(printed.map_err(PodError::Systemd)?.stdout)
}

/// Whether the unit runs, or is about to. Only units that systemd has in memory are listed: to ask for one by its name makes
/// it look for a file that is gone, and complain about it in the journal.
pub(super) async fn is_running(commands: &dyn Commands, prep: Prep) -> Result<bool, PodError> {
    let list = on_node("systemctl").args(["list-units", "--all", "--plain", "--no-legend", "--no-pager"]);
    Ok(is_up(&ask(commands, &list.arg(paths::unit(prep))).await?))
}

/// Name, whether it is loaded, whether it is active, and more.
fn is_up(listed: &str) -> bool {
    let state = listed.lines().find_map(|line| line.split_whitespace().nth(2));
    matches!(state, Some("active" | "activating" | "reloading" | "deactivating"))
}

/// Starts the unit. With the type `exec` the answer comes when the script has been started, so one that
/// cannot be is an error.
pub(super) async fn start(commands: &dyn Commands, prep: Prep) -> Result<(), PodError> {
    ask(commands, &start_command(prep)).await.map(drop)
}

fn start_command(prep: Prep) -> Cmd {
    on_node("systemd-run")
        .args([
            format!("--unit={}", paths::unit(prep)),
            format!("--description=Prepare this node: {prep}"),
            format!("--property=RuntimeMaxSec={}", LONGEST_RUN.as_secs()),
            format!("--property=MemoryMax={MOST_MEMORY}"),
        ])
        .args(["--collect", "--quiet", "--service-type=exec", "--nice=10"])
        .arg(paths::script(prep))
}

/// What the unit logs, line by line.
pub(super) struct Journal {
    /// Held because it dies with its handle.
    _child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Journal {
    /// Follows what the unit has logged since then, and goes on logging.
    pub(super) fn follow(prep: Prep, since: Timestamp) -> Result<Self, PodError> {
        let mut child = Command::new("chroot")
            .args([HOST, "journalctl", "--follow", "--no-tail", "--output=cat", "--quiet"])
            .arg(format!("--since=@{}", since.as_second()))
            .arg(format!("--unit={}", paths::unit(prep)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(PodError::Journal)?;
        let stdout = child.stdout.take().ok_or_else(|| PodError::Journal(std::io::ErrorKind::BrokenPipe.into()))?;
        Ok(Self { _child: child, lines: BufReader::new(stdout).lines() })
    }

    /// The next line; none once the journal has ended. Nothing is lost when this is cancelled.
    pub(super) async fn next(&mut self) -> Result<Option<String>, PodError> {
        self.lines.next_line().await.map_err(PodError::Journal)
    }

    /// What is still on its way after the unit has ended.
    pub(super) async fn rest(mut self, say: &(dyn Fn(&str) + Send + Sync)) {
        const MOST_LINES: usize = 1000;
        for _ in 0..MOST_LINES {
            match timeout(LAST_LOG_LINES, self.next()).await {
                Ok(Ok(Some(line))) => say(&line),
                // Silence, the end, or a journal that cannot be read any more: the unit itself has ended long ago.
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_in_which_nothing_else_may_start() {
        for (state, expected) in
            [("active", true), ("activating", true), ("deactivating", true), ("inactive", false), ("failed", false)]
        {
            let listed = format!("node-bootstrap-iscsi.service loaded {state} running Prepare this node: iscsi\n");
            assert_eq!(is_up(&listed), expected, "{state}");
        }
        assert!(!is_up(""), "systemd has never heard of it");
    }

    #[test]
    fn the_unit_has_a_fixed_name_and_limits_of_its_own() {
        insta::assert_snapshot!(start_command(Prep::Iscsi).to_string().replace(" --", "\n  --"), @r"
        chroot /host systemd-run
          --unit=node-bootstrap-iscsi.service
          --description=Prepare this node: iscsi
          --property=RuntimeMaxSec=1800
          --property=MemoryMax=1G
          --collect
          --quiet
          --service-type=exec
          --nice=10 /usr/local/bin/iscsi-bootstrap.sh
        ");
    }
}
