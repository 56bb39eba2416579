//! A daemon of Ceph as systemd knows it: the distribution's own unit, with the daemon's name or number behind the `@`.

use std::path::Path;

use ::ceph::paths;
use engine::{Planned, StepError};
use host::{Change, Host};

use nodekit::systemd::{self, Unit};

const WANTED: &str = "/etc/systemd/system";
const UNITS: &str = "/lib/systemd/system";

/// What kinds there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Mon,
    Mgr,
    Osd,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Mon => "mon",
            Self::Mgr => "mgr",
            Self::Osd => "osd",
        }
    }

    /// Where daemons of this kind keep what they have.
    pub(super) fn dir(self) -> &'static str {
        match self {
            Self::Mon => paths::MON,
            Self::Mgr => paths::MGR,
            Self::Osd => paths::OSD,
        }
    }

    /// A daemon's unit.
    pub(super) fn unit(self, name: &str) -> String {
        format!("ceph-{}@{name}.service", self.word())
    }
}

/// One daemon.
#[derive(Debug, Clone)]
pub(super) struct Daemon {
    kind: Kind,
    name: String,
}

/// How it is.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    pub(super) unit: Unit,
    /// What has to be written so that it starts at every boot.
    pub(super) missing: Vec<Change>,
    /// What it logged before it ended.
    pub(super) last_log_line: String,
}

impl Daemon {
    pub(super) fn new(kind: Kind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }

    pub(super) fn unit(&self) -> String {
        self.kind.unit(&self.name)
    }

    /// What `systemctl enable` writes.
    fn enabled(&self) -> Change {
        let word = self.kind.word();
        Change::Link {
            path: Path::new(WANTED).join(format!("ceph-{word}.target.wants")).join(self.unit()),
            target: Path::new(UNITS).join(format!("ceph-{word}@.service")),
        }
    }

    pub(super) async fn check(&self, host: &Host) -> Result<Seen, StepError> {
        let unit = systemd::check(host, &self.unit()).await?;
        let last_log_line =
            if unit.is_failing() { systemd::last_log_line(host, &self.unit()).await } else { String::new() };
        Ok(Seen { unit, missing: Change::missing(vec![self.enabled()], &*host.disk)?, last_log_line })
    }

    /// What is left to do until it runs, now and after every boot.
    pub(super) fn plan(&self, seen: &Seen) -> Vec<Planned> {
        let mut changes = Planned::files(&seen.missing);
        if !seen.unit.is_up() {
            changes.push(Planned::act(self.start_key(), format!("start {}", self.unit())));
        }
        changes
    }

    fn start_key(&self) -> String {
        format!("start {}", self.unit())
    }

    /// Whether a change is to start it.
    pub(super) fn is_start(&self, key: &str) -> bool {
        key == self.start_key()
    }

    /// Starts it. Whether it runs is for the next check to say.
    pub(super) async fn start(&self, host: &Host) -> Result<(), StepError> {
        let unit = self.unit();
        // One that failed too often is not started by `start` alone.
        if systemd::check(host, &unit).await?.active == "failed" {
            systemd::systemctl(host, &["reset-failed", &unit]).await?;
        }
        systemd::systemctl(host, &["start", "--no-block", &unit]).await.map(drop)
    }

    /// What is being waited for while it does not answer.
    pub(super) fn silence(&self, seen: &Seen) -> String {
        let Unit { active, sub, restarts, .. } = &seen.unit;
        let again = if *restarts > 0 { format!(", started {restarts} times again") } else { String::new() };
        let output = if seen.last_log_line.is_empty() {
            String::new()
        } else {
            format!("; last log line: {}", seen.last_log_line)
        };
        format!("{} to answer; it is {active} ({sub}){again}{output}", self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_is_enabled_and_started_once() {
        let daemon = Daemon::new(Kind::Mon, "m1");
        let shown = |seen: &Seen| daemon.plan(seen).iter().map(ToString::to_string).collect::<Vec<_>>();
        let down = Seen { missing: vec![daemon.enabled()], ..Seen::default() };
        assert_eq!(
            shown(&down),
            [
                "point /etc/systemd/system/ceph-mon.target.wants/ceph-mon@m1.service to /lib/systemd/system/ceph-mon@.service",
                "start ceph-mon@m1.service"
            ]
        );
        let up = Seen { unit: Unit { active: "active".into(), ..Unit::default() }, ..Seen::default() };
        assert_eq!(shown(&up), Vec::<String>::new());
    }

    #[test]
    fn a_daemon_that_ends_again_and_again_is_quoted() {
        let unit = Unit { active: "activating".into(), sub: "auto-restart".into(), restarts: 3, ..Unit::default() };
        let seen = Seen { unit, missing: Vec::new(), last_log_line: "error: no space".into() };
        assert_eq!(
            Daemon::new(Kind::Osd, "7").silence(&seen),
            "ceph-osd@7.service to answer; it is activating (auto-restart), started 3 times again; last log line: error: no space"
        );
    }
}
