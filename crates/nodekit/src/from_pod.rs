//! The node as a pod sees it that has its file system mounted: the node's own programs, asked by `chroot`.
//!
//! The pod itself is too small to do anything, and dies when it is deleted. What is to last is a unit of the node's systemd.

use std::{process::Stdio, time::Duration};

use host::{Cmd, CommandError, Commands};
use jiff::Timestamp;
use std::io;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

/// Where the node's file system is mounted.
pub const HOST: &str = "/host";
/// Whether a unit runs, and that systemd answers at all.
const ANSWER: Duration = Duration::from_mins(1);
/// The journal is behind the unit by less, unless the node is very busy.
const LAST_LOG_LINES: Duration = Duration::from_secs(2);

/// A command of the node's own programs.
pub fn on_node(program: &str) -> Cmd {
    Cmd::new("chroot").args([HOST, program])
}

/// What a short command printed.
pub async fn ask(commands: &dyn Commands, command: &Cmd) -> Result<String, CommandError> {
    let answered = timeout(ANSWER, commands.run(command)).await;
    let printed = answered.unwrap_or_else(|_| {
        Err(CommandError::Failed {
            command: command.to_string(),
            status: format!("no answer within {} s", ANSWER.as_secs()),
            output: "it has no output".to_owned(),
        })
    });
    Ok(printed?.stdout)
}

/// Whether the unit runs, or is about to. Only units that systemd has in memory are listed: to ask for one by its name makes
/// it look for a file that is gone, and complain about it in the journal.
pub async fn is_running(commands: &dyn Commands, unit: &str) -> Result<bool, CommandError> {
    is_running_by(commands, on_node("systemctl"), unit).await
}

/// The same, asked by this systemctl.
pub async fn is_running_by(commands: &dyn Commands, systemctl: Cmd, unit: &str) -> Result<bool, CommandError> {
    let list = systemctl.args(["list-units", "--all", "--plain", "--no-legend", "--no-pager"]);
    Ok(is_up(&ask(commands, &list.arg(unit)).await?))
}

/// Name, whether it is loaded, whether it is active, and more.
fn is_up(listed: &str) -> bool {
    let state = listed.lines().find_map(|line| line.split_whitespace().nth(2));
    matches!(state, Some("active" | "activating" | "reloading" | "deactivating"))
}

/// What a unit logs, line by line.
pub struct Journal {
    /// Held because it dies with its handle.
    _child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Journal {
    /// Follows what the unit has logged since then, and goes on logging.
    pub fn follow(unit: &str, since: Timestamp) -> io::Result<Self> {
        let mut child = Command::new("chroot")
            .args([HOST, "journalctl", "--follow", "--no-tail", "--output=cat", "--quiet"])
            .arg(format!("--since=@{}", since.as_second()))
            .arg(format!("--unit={unit}"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(Self { _child: child, lines: BufReader::new(stdout).lines() })
    }

    /// The next line; none once the journal has ended. Nothing is lost when this is cancelled.
    pub async fn next(&mut self) -> io::Result<Option<String>> {
        self.lines.next_line().await
    }

    /// What is still on its way after the unit has ended.
    pub async fn rest(mut self, say: &(dyn Fn(&str) + Send + Sync)) {
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
}
