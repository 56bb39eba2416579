//! `iscsid` runs, stays up, and comes back after every boot.
//!
//! Debian's package enables only its socket, and a start that ends well proves nothing: the daemon may die a moment later.
//! So it counts as up once it has been active for a while, by systemd's own clock; each restart begins that again.

use std::time::Duration;

use engine::{About, Act, Planned, Step, StepError, Undo, Verdict};
use host::Host;

use super::super::ids;
use nodekit::systemd::stop;

use crate::codes;
use nodekit::systemd::{self, Unit, last_log_line, systemctl};

pub(super) const UNIT: &str = "iscsid.service";
const SOCKET: &str = "iscsid.socket";
/// A daemon that dies of its environment does so within milliseconds.
const LONG_ENOUGH: Duration = Duration::from_secs(2);

const ENABLE: &str = "enable";
const START: &str = "start";

/// `iscsid` runs.
pub(super) struct Iscsid;

/// What systemd says of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) unit: Unit,
    /// For how long it has been active.
    since: Option<Duration>,
    /// Where it does not run.
    last_log_line: String,
}

impl Seen {
    pub(super) async fn check(host: &Host) -> Result<Self, StepError> {
        let unit = systemd::check(host, UNIT).await?;
        // Both clocks start with the machine; where they differ, it has slept in between, and the daemon with it.
        let times = systemd::uptime(&*host.disk)?.zip(unit.active_since).filter(|_| unit.active == "active");
        Ok(Self { since: times.map(|(now, entered)| now.saturating_sub(entered)), unit, last_log_line: String::new() })
    }

    fn is_enabled(&self) -> bool {
        // `static`, `indirect` and the like are started by others at each boot, if they are wanted at all.
        matches!(self.unit.file.as_str(), "enabled" | "static" | "indirect" | "generated" | "alias")
    }
}

impl Step for Iscsid {
    type Seen = Seen;
    type Undo = Started;

    fn about(&self) -> About {
        About::new(ids::ISCSID, "Run iscsid", "it logs in to targets, and keeps sessions alive")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let mut seen = Seen::check(host).await?;
        if !seen.unit.is_up() {
            seen.last_log_line = last_log_line(host, UNIT).await;
        }
        Ok(seen)
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        if seen.unit.file.starts_with("masked") {
            return Err(StepError::new(codes::ISCSID_MASKED, format!("{UNIT} is masked, so nothing can start it")));
        }
        let mut changes = Vec::new();
        let mut act = |key: &str, what: String| changes.push(Planned::act(key, what));
        if !seen.is_enabled() {
            act(ENABLE, format!("enable {UNIT}"));
        }
        if !seen.unit.is_up() {
            let output = if seen.last_log_line.is_empty() {
                String::new()
            } else {
                format!(" (last log line: {})", seen.last_log_line)
            };
            act(START, format!("start {UNIT}{output}"));
        }
        Ok(changes)
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        if seen.since.is_some_and(|since| since >= LONG_ENOUGH) {
            return Verdict::Met;
        }
        let restarts = if seen.unit.restarts == 0 {
            String::new()
        } else {
            format!(", restarted {} times so far", seen.unit.restarts)
        };
        let what = format!("{UNIT} to stay active for {} s{restarts}", LONG_ENOUGH.as_secs());
        // A restart is no progress.
        Verdict::Waiting { what, progress: String::new() }
    }

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        if key == ENABLE {
            return systemctl(host, &["enable", UNIT]).await.map(drop);
        }
        if systemd::check(host, UNIT).await?.active == "failed" {
            // Otherwise the failures before count, and systemd refuses to start it.
            systemctl(host, &["reset-failed", UNIT]).await?;
        }
        let started = systemctl(host, &["start", UNIT]).await;
        if started.is_ok() && systemd::check(host, UNIT).await?.is_up() {
            return Ok(());
        }
        let output = last_log_line(host, UNIT).await;
        let output = if output.is_empty() { "it has no output" } else { &output };
        let error = StepError::new(codes::ISCSID_DIES, format!("{UNIT} ends as soon as it is started: {output}"));
        Err(match started {
            Err(source) => error.with_source(source),
            Ok(_) => error,
        })
    }

    fn deadline(&self) -> Duration {
        Duration::from_secs(30)
    }
}

/// How it is undone: what we enabled is disabled, what we started is stopped.
pub(super) struct Started;

impl Undo for Started {
    fn shows_act(&self, key: &str) -> Option<String> {
        Some(if key == ENABLE { format!("disable {UNIT}") } else { format!("stop {UNIT}") })
    }

    async fn act(&self, key: &str, host: &Host) -> Result<(), StepError> {
        if key == START {
            return stop(host, UNIT).await;
        }
        if systemd::check(host, UNIT).await?.load == "not-found" {
            return Ok(());
        }
        // The unit names its socket as one to go with it, and that one the package had enabled before us.
        let socket = systemd::check(host, SOCKET).await?;
        systemctl(host, &["disable", UNIT]).await?;
        if socket.file == "enabled" {
            systemctl(host, &["enable", SOCKET]).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Machine, *};

    fn shown(active: &str, file: &str, restarts: u32, entered: u64) -> String {
        format!(
            "ActiveState={active}\nUnitFileState={file}\nNRestarts={restarts}\nActiveEnterTimestampMonotonic={entered}\n"
        )
    }

    fn machine(shown: String) -> Machine {
        let machine = Machine::default().answering(move |command| match command.split(' ').next().unwrap() {
            "journalctl" => Ok("iscsid: can not create NETLINK_ISCSI socket [Protocol not supported]\n".to_owned()),
            _ => Ok(shown.clone()),
        });
        machine.write("/proc/uptime", "100.50 350.00\n");
        machine
    }

    #[tokio::test]
    async fn up_means_up_for_a_while() {
        let mut reported = String::new();
        for (case, shown) in [
            ("as Debian's package leaves it", shown("inactive", "disabled", 0, 0)),
            ("started a moment ago", shown("active", "enabled", 0, 100_000_000)),
            ("restarted a moment ago", shown("active", "enabled", 3, 99_000_000)),
            ("up", shown("active", "enabled", 0, 98_500_000)),
            ("up, but not after the next boot", shown("active", "disabled", 0, 1_000_000)),
            ("dead", shown("failed", "enabled", 5, 99_900_000)),
            ("forbidden", shown("inactive", "masked", 0, 0)),
        ] {
            reported += &format!("{case}:\n{}", machine(shown).planned(&Iscsid).await);
        }
        insta::assert_snapshot!(reported);
    }

    #[tokio::test]
    async fn a_start_that_ends_well_proves_nothing() {
        let act = Planned::act(START, String::new());
        let machine = machine(shown("failed", "enabled", 0, 0));
        let error = Iscsid.apply(&act, &machine.host()).await.unwrap_err();
        assert!(!error.is_retryable());
        insta::assert_snapshot!(error.to_string(), @"iscsid.service ends as soon as it is started: iscsid: can not create NETLINK_ISCSI socket [Protocol not supported]");
        assert!(machine.asked().contains(&"systemctl reset-failed iscsid.service".to_owned()));
    }

    #[tokio::test]
    async fn what_is_taken_back() {
        let machine = Machine::default().answering(|command| {
            Ok(if command.contains("socket") { "UnitFileState=enabled\n" } else { "LoadState=loaded\n" }.to_owned())
        });
        for key in [ENABLE, START] {
            Started.act(key, &machine.host()).await.unwrap();
        }
        insta::assert_snapshot!(machine.asked().join("\n"));
    }
}
