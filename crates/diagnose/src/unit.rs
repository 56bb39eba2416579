//! Our units as systemd sees them, all asked for at once.

use std::{collections::BTreeMap, time::Duration};

use host::Host;

use crate::{Inconclusive, Part};

/// A unit that was started again this often, and is up for less than [`SETTLED`], is not up for good.
const OFTEN: u32 = 3;
const SETTLED: Duration = Duration::from_secs(10);

/// A unit of ours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Unit {
    /// `etcd.service`.
    pub(crate) name: String,
    /// `loaded`, `masked`, `not-found`, `bad-setting`.
    pub(crate) load: String,
    /// `active`, `activating`, `inactive`, `failed`, `deactivating`.
    pub(crate) active: String,
    /// `running`, `auto-restart`, `dead`, `exited`.
    pub(crate) sub: String,
    /// How its last process ended: `success`, `exit-code`, `oom-kill`.
    pub(crate) result: String,
    /// What its last process ended with: an exit code, or the number of a signal.
    pub(crate) status: String,
    /// Files that change what its own file says.
    pub(crate) drop_ins: Vec<String>,
    /// How often systemd has started it again by itself.
    pub(crate) restarts: u32,
    /// When it became active, counted from the machine's boot.
    pub(crate) since: Duration,
    /// Whether systemd was told to start it and did not, because a condition in its file did not hold.
    pub(crate) is_held_back: bool,
}

impl Unit {
    /// Whether it runs or is about to.
    pub(crate) fn is_up(&self) -> bool {
        matches!(self.active.as_str(), "active" | "activating" | "reloading")
    }

    /// Whether it ends again and again, also where it is just having a try.
    pub(crate) fn is_failing(&self, uptime: Duration) -> bool {
        let is_new = self.is_up() && uptime.saturating_sub(self.since) < SETTLED;
        self.active == "failed" || self.sub == "auto-restart" || (self.restarts >= OFTEN && is_new)
    }

    /// What it is a part of.
    pub(crate) fn part(&self) -> Part {
        match self.name.as_str() {
            "containerd.service" => Part::Containerd,
            "etcd.service" => Part::Etcd,
            "kube-apiserver.service" => Part::ApiServer,
            "kube-controller-manager.service" | "kube-scheduler.service" => Part::Controllers,
            "kubelet.service" => Part::Kubelet,
            "kube-proxy.service" => Part::KubeProxy,
            "blackstart-agent.service" => Part::Agent,
            _ => Part::Workloads,
        }
    }

    fn parse(shown: &str) -> Self {
        let value = |name: &str| {
            let line = shown.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.unwrap_or_default().to_owned()
        };
        Self {
            name: value("Id"),
            load: value("LoadState"),
            active: value("ActiveState"),
            sub: value("SubState"),
            result: value("Result"),
            status: value("ExecMainStatus"),
            drop_ins: value("DropInPaths").split_whitespace().map(str::to_owned).collect(),
            restarts: value("NRestarts").parse().unwrap_or(0),
            since: Duration::from_micros(value("ActiveEnterTimestampMonotonic").parse().unwrap_or(0)),
            is_held_back: value("ConditionResult") == "no" && value("ConditionTimestampMonotonic") != "0",
        }
    }
}

/// All units of ours, by name, and for how long the machine is up.
pub(crate) struct Units {
    /// By name.
    pub(crate) all: BTreeMap<String, Unit>,
    /// Since the machine's boot.
    pub(crate) uptime: Duration,
}

impl Units {
    pub(crate) async fn read(host: &Host) -> Result<Self, Inconclusive> {
        const PROPERTIES: &str = "--property=Id,LoadState,ActiveState,SubState,Result,ExecMainStatus,DropInPaths,\
                                  NRestarts,ActiveEnterTimestampMonotonic,ConditionResult,\
                                  ConditionTimestampMonotonic";
        let asked = ["show", PROPERTIES].into_iter().chain(render::units::NAMES.iter().copied());
        let shown = host.commands.run(&host::Cmd::new("systemctl").args(asked)).await?.stdout;
        let uptime = host.disk.read("/proc/uptime".as_ref())?;
        let uptime = seconds(&String::from_utf8_lossy(&uptime));
        let all = shown.split("\n\n").map(Unit::parse).map(|unit| (unit.name.clone(), unit)).collect();
        Ok(Self { all, uptime })
    }

    /// A unit of ours; one that systemd did not tell of is like one it has no file for.
    pub(crate) fn get(&self, name: &str) -> Unit {
        let unknown = || Unit { name: name.to_owned(), load: "not-found".to_owned(), ..Unit::default() };
        self.all.get(name).cloned().unwrap_or_else(unknown)
    }

    /// Whether a unit ends again and again.
    pub(crate) fn is_failing(&self, name: &str) -> bool {
        self.get(name).is_failing(self.uptime)
    }
}

/// `12345.67 98765.43`: the first number.
fn seconds(uptime: &str) -> Duration {
    let first = uptime.split_whitespace().next().and_then(|number| number.parse().ok());
    Duration::try_from_secs_f64(first.unwrap_or(0.0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_systemd_says() {
        let shown = "Id=etcd.service\nLoadState=loaded\nActiveState=activating\nSubState=auto-restart\nResult=exit-code\n\
                     ExecMainStatus=1\nDropInPaths=/a/x.conf /b/y.conf\nNRestarts=3\nActiveEnterTimestampMonotonic=1500000\n";
        let unit = Unit::parse(shown);
        assert_eq!((unit.name.as_str(), unit.part(), unit.restarts), ("etcd.service", Part::Etcd, 3));
        assert_eq!((unit.drop_ins.len(), unit.since), (2, Duration::from_millis(1500)));
        assert!(unit.is_up());
    }

    #[test]
    fn one_that_has_just_come_back_once_more_is_not_back() {
        let unit = |sub: &str, restarts| Unit {
            active: "active".into(),
            sub: sub.into(),
            restarts,
            since: Duration::from_secs(100),
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
            assert_eq!(unit.is_failing(Duration::from_secs(uptime)), expected, "{unit:?} at {uptime}");
        }
        assert_eq!(seconds("12.50 3.00\n"), Duration::from_millis(12_500));
        assert_eq!(seconds("garbage"), Duration::ZERO);
    }
}
