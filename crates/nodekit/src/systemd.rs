//! What systemd says of a unit, and what it is asked to do.

use engine::StepError;
use host::{Cmd, Host, Printed};
use serde_json::Value;

/// A unit as systemd sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitState {
    /// `active`, `activating`, `inactive`, `failed`, `deactivating`.
    pub active: String,
    /// `running`, `auto-restart`, `dead`, `exited`.
    pub sub: String,
    /// Its main process.
    pub pid: Option<u32>,
    /// How often systemd has started it again by itself.
    pub restarts: u32,
}

impl UnitState {
    /// Whether it runs or is about to.
    pub fn is_up(&self) -> bool {
        matches!(self.active.as_str(), "active" | "activating" | "reloading")
    }

    /// Whether it ended against its will.
    pub fn is_failing(&self) -> bool {
        self.active == "failed" || self.sub == "auto-restart"
    }

    fn parse(shown: &str) -> Self {
        let value = |name: &str| {
            let line = shown.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.unwrap_or_default().to_owned()
        };
        Self {
            active: value("ActiveState"),
            sub: value("SubState"),
            pid: value("MainPID").parse().ok().filter(|pid| *pid != 0),
            restarts: value("NRestarts").parse().unwrap_or(0),
        }
    }
}

/// Looks at a unit; one that systemd has never heard of is inactive.
pub async fn check(host: &Host, unit: &str) -> Result<UnitState, StepError> {
    const PROPERTIES: &str = "--property=ActiveState,SubState,MainPID,NRestarts";
    Ok(UnitState::parse(&systemctl(host, &["show", PROPERTIES, unit]).await?.stdout))
}

/// Whether systemd knows something else of these units than their files say. One that it has never heard of it reads when
/// it is asked; one that it looked for in vain before, not every version looks for again.
pub async fn is_stale(host: &Host, units: &[&str]) -> Result<bool, StepError> {
    const PROPERTIES: &str = "--property=LoadState,NeedDaemonReload";
    let arguments: Vec<&str> = ["show", PROPERTIES].into_iter().chain(units.iter().copied()).collect();
    let shown = systemctl(host, &arguments).await?.stdout;
    Ok(shown.lines().any(|line| matches!(line, "NeedDaemonReload=yes" | "LoadState=not-found")))
}

/// Calls systemctl.
pub async fn systemctl(host: &Host, arguments: &[&str]) -> Result<Printed, StepError> {
    let command = Cmd::new("systemctl").args(arguments.iter().copied());
    host.commands.run(&command).await.map_err(|error| StepError::from_explained(&error))
}

/// Writes a line to the journal, whoever runs this program: for decisions that somebody will ask about later.
pub async fn note(host: &Host, line: &str) -> Result<(), StepError> {
    let command = Cmd::new("systemd-cat").args(["--identifier=blackstart", "--priority=warning"]).input(line);
    host.commands.run(&command).await.map(drop).map_err(|error| StepError::from_explained(&error))
}

/// The last thing a unit said before it ended; empty if it has no output.
pub async fn last_log_line(host: &Host, unit: &str) -> String {
    let command = Cmd::new("journalctl").args(["--unit", unit, "--lines=20", "--output=cat", "--no-pager", "--quiet"]);
    // This only decorates another error; a journal that cannot be read must not hide it.
    let output = host.commands.run(&command).await.map(|printed| printed.stdout).unwrap_or_default();
    in_short(relevant_line(&output))
}

/// etcd and containerd speak JSON, with a stack trace; what a person needs of it is the message and the error.
fn in_short(line: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str(line) else { return line.to_owned() };
    let reported: Vec<&str> = ["msg", "error"].iter().filter_map(|key| fields.get(*key)?.as_str()).collect();
    if reported.is_empty() { line.to_owned() } else { reported.join(": ") }
}

/// systemd's own lines tell that a unit failed, those of the program tell why; the last line that looks like an error
/// is worth more than a usage text after it.
fn relevant_line(output: &str) -> &str {
    const SYSTEMD: &[&str] = &[
        "Started ",
        "Starting ",
        "Stopped ",
        "Stopping ",
        "Scheduled restart",
        "Failed with result",
        "Failed to start ",
    ];
    let own = |line: &&str| !line.is_empty() && !SYSTEMD.iter().any(|words| line.contains(words));
    let lines: Vec<&str> = output.lines().map(str::trim).filter(own).collect();
    let is_error = |line: &&&str| {
        let line = line.to_lowercase();
        ["error", "fatal", "panic", "failed", "cannot", "unable"].iter().any(|word| line.contains(word))
    };
    lines.iter().rev().find(is_error).or(lines.last()).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read() {
        let shown = "MainPID=812\nNRestarts=3\nActiveState=activating\nSubState=auto-restart\n";
        let state = UnitState::parse(shown);
        assert_eq!((state.pid, state.restarts, state.is_up(), state.is_failing()), (Some(812), 3, true, true));
        let gone = UnitState::parse("MainPID=0\nActiveState=inactive\nSubState=dead\n");
        assert_eq!((gone.pid, gone.is_up(), gone.is_failing()), (None, false, false));
    }

    #[test]
    fn the_line_that_tells_why() {
        for (output, expected) in [
            (
                "Starting x.service\nError: bad flag\nUsage:\n  x [flags]\nFailed with result 'exit-code'.\n",
                "Error: bad flag",
            ),
            ("hello\nbye\nStopped x.service\n", "bye"),
            ("", ""),
        ] {
            assert_eq!(relevant_line(output), expected);
        }
    }

    #[test]
    fn what_is_said_in_json_is_told_in_short() {
        for (line, expected) in [
            (
                r#"{"level":"fatal","msg":"discovery failed","error":"no peer","stacktrace":"a\nb"}"#,
                "discovery failed: no peer",
            ),
            (r#"{"level":"warn","msg":"slow"}"#, "slow"),
            (r#"{"level":"warn"}"#, r#"{"level":"warn"}"#),
            ("Error: bad flag", "Error: bad flag"),
        ] {
            assert_eq!(in_short(line), expected);
        }
    }
}
