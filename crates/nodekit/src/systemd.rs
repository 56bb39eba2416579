//! What systemd says of units, and what it is asked to do.

use std::{path::Path, time::Duration};

use engine::StepError;
use host::{Cmd, Disk, Host, HostError, Printed};
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use serde_json::Value;

/// A unit that was started again this often, and is up for less than [`STABLE`], is not up for good.
const OFTEN: u32 = 3;
const STABLE: Duration = Duration::from_secs(10);

/// A unit as systemd sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unit {
    /// `etcd.service`.
    pub name: String,
    /// `loaded`, `masked`, `not-found`, `bad-setting`.
    pub load: String,
    /// `enabled`, `disabled`, `static`, `masked`.
    pub file: String,
    /// `active`, `activating`, `inactive`, `failed`, `deactivating`.
    pub active: String,
    /// `running`, `auto-restart`, `dead`, `exited`.
    pub sub: String,
    /// How its last process ended: `success`, `exit-code`, `oom-kill`.
    pub result: String,
    /// What its last process ended with: an exit code, or the number of a signal.
    pub status: String,
    /// Its main process.
    pub pid: Option<u32>,
    /// When that started; only where [`show`] was asked for `us+utc`.
    pub started: Option<Timestamp>,
    /// How often systemd has started it again by itself.
    pub restarts: u32,
    /// Files that change what its own file says.
    pub drop_ins: Vec<String>,
    /// When it became active, counted from the machine's boot.
    pub active_since: Option<Duration>,
    /// When its state changed last, counted from the machine's boot.
    pub changed: Option<Duration>,
    /// Whether systemd was asked to start it and did not, because a condition in its file did not hold.
    pub is_held_back: bool,
}

impl Unit {
    /// Whether it runs or is about to.
    pub fn is_up(&self) -> bool {
        matches!(self.active.as_str(), "active" | "activating" | "reloading")
    }

    /// Whether it ended against its will.
    pub fn is_failing(&self) -> bool {
        self.active == "failed" || self.sub == "auto-restart"
    }

    /// Whether it ends again and again, also where it is just having a try.
    pub fn is_crash_looping(&self, uptime: Duration) -> bool {
        let is_new = self.is_up() && uptime.saturating_sub(self.active_since.unwrap_or_default()) < STABLE;
        self.is_failing() || (self.restarts >= OFTEN && is_new)
    }

    /// Its state in one word: `auto-restart` between two starts of a process that ends badly.
    pub fn state(&self) -> &str {
        if self.sub == "auto-restart" { &self.sub } else { &self.active }
    }

    fn parse(shown: &str) -> Self {
        let value =
            |name: &str| shown.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).unwrap_or_default();
        let since_boot = |name: &str| value(name).parse().ok().filter(|at| *at != 0).map(Duration::from_micros);
        Self {
            name: value("Id").to_owned(),
            load: value("LoadState").to_owned(),
            file: value("UnitFileState").to_owned(),
            active: value("ActiveState").to_owned(),
            sub: value("SubState").to_owned(),
            result: value("Result").to_owned(),
            status: value("ExecMainStatus").to_owned(),
            pid: value("MainPID").parse().ok().filter(|pid| *pid != 0),
            started: instant(value("ExecMainStartTimestamp")),
            restarts: value("NRestarts").parse().unwrap_or(0),
            drop_ins: value("DropInPaths").split_whitespace().map(str::to_owned).collect(),
            active_since: since_boot("ActiveEnterTimestampMonotonic"),
            changed: since_boot("StateChangeTimestampMonotonic"),
            is_held_back: value("ConditionResult") == "no" && value("ConditionTimestampMonotonic") != "0",
        }
    }
}

/// `Mon 2026-11-16 20:27:53.739979 UTC`.
fn instant(printed: &str) -> Option<Timestamp> {
    let time = DateTime::strptime("%a %Y-%m-%d %H:%M:%S%.f UTC", printed).ok()?;
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// Asks for units, all of them at once. With `--timestamp=us+utc`, which not every systemd knows, also when they started.
pub fn show(units: &[&str]) -> Cmd {
    const PROPERTIES: &str = "--property=Id,LoadState,UnitFileState,ActiveState,SubState,Result,ExecMainStatus,MainPID,\
                              ExecMainStartTimestamp,NRestarts,DropInPaths,ActiveEnterTimestampMonotonic,\
                              StateChangeTimestampMonotonic,ConditionResult,ConditionTimestampMonotonic";
    Cmd::new("systemctl").args(["show", PROPERTIES]).args(units.iter().copied())
}

/// Reads what [`show`] printed, in its order.
pub fn parse(shown: &str) -> Vec<Unit> {
    shown.split("\n\n").filter(|block| !block.trim().is_empty()).map(Unit::parse).collect()
}

/// Looks at a unit; one that systemd has never heard of is inactive.
pub async fn check(host: &Host, unit: &str) -> Result<Unit, StepError> {
    let shown = host.commands.run(&show(&[unit])).await?.stdout;
    Ok(parse(&shown).pop().unwrap_or_default())
}

/// For how long the machine is up; `None` where it does not say.
pub fn uptime(disk: &dyn Disk) -> Result<Option<Duration>, HostError> {
    let text = disk.read_optional(Path::new("/proc/uptime"))?.unwrap_or_default();
    Ok(seconds(&String::from_utf8_lossy(&text)))
}

/// `12345.67 98765.43`: the first number.
fn seconds(uptime: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(uptime.split_whitespace().next()?.parse().ok()?).ok()
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
    Ok(host.commands.run(&Cmd::new("systemctl").args(arguments.iter().copied())).await?)
}

/// Writes a line to the journal, under whatever service manager: for decisions that an operator will ask about later.
pub async fn note(host: &Host, line: &str) -> Result<(), StepError> {
    let command = Cmd::new("systemd-cat").args(["--identifier=blackstart", "--priority=warning"]).input(line);
    host.commands.run(&command).await.map(drop).map_err(|error| StepError::from_explained(&error))
}

/// The last log line of a unit before it ended; empty if it has no output.
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

/// systemd's own lines say that a unit failed, those of the program say why; the last line that looks like an error
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

/// Stops a unit, also one that is about to start, and lets systemd forget that it failed.
pub async fn stop(host: &Host, unit: &str) -> Result<(), StepError> {
    let found = check(host, unit).await?;
    if found.load == "not-found" && found.active == "inactive" {
        return Ok(());
    }
    systemctl(host, &["stop", unit]).await?;
    if check(host, unit).await?.active == "failed" {
        systemctl(host, &["reset-failed", unit]).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_distinguished() {
        // Printed by systemd 252.
        let shown = "MainPID=812\nNRestarts=3\nId=etcd.service\nLoadState=loaded\nUnitFileState=enabled\nActiveState=activating\n\
                     SubState=auto-restart\nResult=exit-code\nExecMainStatus=1\nDropInPaths=/a/x.conf /b/y.conf\n\
                     ActiveEnterTimestampMonotonic=1500000\nStateChangeTimestampMonotonic=0\n\
                     ExecMainStartTimestamp=Sun 2026-11-15 00:00:00.000001 UTC\nConditionResult=no\n\
                     ConditionTimestampMonotonic=7\n\n\
                     ExecMainStartTimestamp=\nMainPID=0\nId=no.service\nLoadState=not-found\nActiveState=inactive\n\
                     StateChangeTimestampMonotonic=60000000\nConditionResult=no\nConditionTimestampMonotonic=0\n";
        let expected = [
            Unit {
                name: "etcd.service".into(),
                load: "loaded".into(),
                file: "enabled".into(),
                active: "activating".into(),
                sub: "auto-restart".into(),
                result: "exit-code".into(),
                status: "1".into(),
                pid: Some(812),
                started: Some("2026-11-15T00:00:00.000001Z".parse().unwrap()),
                restarts: 3,
                drop_ins: vec!["/a/x.conf".into(), "/b/y.conf".into()],
                active_since: Some(Duration::from_millis(1500)),
                changed: None,
                is_held_back: true,
            },
            Unit {
                name: "no.service".into(),
                load: "not-found".into(),
                active: "inactive".into(),
                changed: Some(Duration::from_mins(1)),
                ..Unit::default()
            },
        ];
        let units = parse(shown);
        assert_eq!(units, expected);
        let states: Vec<_> = units.iter().map(|unit| (unit.state(), unit.is_up(), unit.is_failing())).collect();
        assert_eq!(states, [("auto-restart", true, true), ("inactive", false, false)]);
        assert_eq!(parse(""), []);
    }

    #[test]
    fn one_that_has_just_come_back_once_more_is_not_back() {
        let unit = |sub: &str, restarts| Unit {
            active: "active".into(),
            sub: sub.into(),
            restarts,
            active_since: Some(Duration::from_secs(100)),
            ..Unit::default()
        };
        for (unit, uptime, expected) in [
            (unit("running", 0), 101, false),
            (unit("running", 1), 101, false),
            (unit("running", 9), 101, true),
            (unit("running", 9), 200, false),
            (unit("auto-restart", 0), 200, true),
            (Unit { active: "failed".into(), ..Unit::default() }, 200, true),
            (Unit { active: "inactive".into(), restarts: 9, ..Unit::default() }, 1, false),
        ] {
            assert_eq!(unit.is_crash_looping(Duration::from_secs(uptime)), expected, "{unit:?} at {uptime}");
        }
        assert_eq!(seconds("12.50 3.00\n"), Some(Duration::from_millis(12_500)));
        assert_eq!(seconds("garbage"), None);
    }

    #[test]
    fn the_line_that_shows_why() {
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
    fn log_lines_in_json_are_shortened() {
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
