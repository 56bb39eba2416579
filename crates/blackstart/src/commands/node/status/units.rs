//! The units of a node, as systemd sees them: one question for all of them.

use std::time::Duration;

use futures::future::join_all;
use host::Host;
use jiff::Timestamp;
use nodekit::systemd;
use render::units::NAMES;
use spec::BootstrapRole;
use tokio::time::timeout;

use super::facts::{Health, Seen, Unit};

/// systemd answers at once, or has failed itself.
const LIMIT: Duration = Duration::from_secs(2);
const MASTERS_ONLY: [&str; 4] =
    ["etcd.service", "kube-apiserver.service", "kube-controller-manager.service", "kube-scheduler.service"];

const BOOTKUBE: &str = "bootkube.service";

/// The units a node of this role has; of an unknown one, those that are installed.
pub(super) async fn check(host: &Host, role: Option<BootstrapRole>, now: Timestamp) -> Seen<Vec<Unit>> {
    if !host.is_live {
        return Err("this machine was not booted by systemd".to_owned());
    }
    let shown = match timeout(LIMIT, host.commands.run(&systemd::show(NAMES))).await {
        Ok(Ok(printed)) => printed.stdout,
        Ok(Err(error)) => return Err(explain::chain(&error)),
        Err(_) => return Err(format!("systemd does not answer within {} s", LIMIT.as_secs())),
    };
    // systemd prints times since the boot in a form that is the same in every version and language.
    let uptime = systemd::uptime(&*host.disk).ok().flatten();
    let booted = uptime.and_then(|uptime| now.checked_sub(uptime).ok());
    let mut units: Vec<Unit> = systemd::parse(&shown).into_iter().map(|unit| reported(unit, booted)).collect();
    units.retain(|unit| belongs(unit, role));
    let failing = units.iter_mut().filter(|unit| unit.health == Health::Failing);
    join_all(failing.map(|unit| async {
        // Only a decoration of what is known already.
        let last_log_line = timeout(LIMIT, systemd::last_log_line(host, &unit.name)).await.unwrap_or_default();
        unit.last_log_line = Some(last_log_line).filter(|last_log_line| !last_log_line.is_empty());
    }))
    .await;
    Ok(units)
}

fn belongs(unit: &Unit, role: Option<BootstrapRole>) -> bool {
    // Only a bootstrap node that comes from Ignition has it.
    if unit.name == BOOTKUBE && unit.health == Health::Missing {
        return false;
    }
    match role {
        Some(BootstrapRole::Worker) => !MASTERS_ONLY.contains(&unit.name.as_str()),
        Some(BootstrapRole::MasterFirst | BootstrapRole::MasterAdditional) => true,
        // Its control plane runs in static pods.
        Some(BootstrapRole::Bootstrap) => {
            unit.name != "kube-proxy.service" && !MASTERS_ONLY.contains(&unit.name.as_str())
        }
        None => unit.health != Health::Missing,
    }
}

fn reported(unit: systemd::Unit, booted: Option<Timestamp>) -> Unit {
    Unit {
        health: health(&unit.load, &unit.active, &unit.sub),
        state: format!("{} ({})", unit.active, unit.sub),
        since: booted.zip(unit.changed).and_then(|(booted, changed)| booted.checked_add(changed).ok()),
        restarts: unit.restarts,
        name: unit.name,
        last_log_line: None,
    }
}

fn health(load: &str, active: &str, sub: &str) -> Health {
    match (load, active, sub) {
        ("not-found", "inactive", _) => Health::Missing,
        (_, "failed", _) | (_, _, "auto-restart" | "auto-restart-queued") => Health::Failing,
        (_, "active" | "reloading" | "refreshing", _) => Health::Ok,
        (_, "activating", _) => Health::Starting,
        _ => Health::Stopped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_as_systemctl_shows_them() {
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        let booted = now.checked_sub(Duration::from_millis(3_600_250)).ok();
        let shown = "\
NRestarts=0\nId=etcd.service\nLoadState=loaded\nActiveState=active\nSubState=running\nStateChangeTimestampMonotonic=60000000\n
NRestarts=12\nId=kubelet.service\nLoadState=loaded\nActiveState=activating\nSubState=auto-restart\nStateChangeTimestampMonotonic=3599000000\n
NRestarts=0\nId=kube-proxy.service\nLoadState=not-found\nActiveState=inactive\nSubState=dead\nStateChangeTimestampMonotonic=0\n";
        let text: String = systemd::parse(shown)
            .into_iter()
            .map(|unit| reported(unit, booted))
            .map(|unit| {
                let since = unit.since.map(|since| format!("{since:.0}")).unwrap_or_default();
                format!("{} {:?} {} {since} {}\n", unit.name, unit.health, unit.state, unit.restarts)
            })
            .collect();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_node_has_the_units_of_its_role() {
        let all = [None, Some(BootstrapRole::Worker), Some(BootstrapRole::MasterFirst), Some(BootstrapRole::Bootstrap)];
        let belongs = |name: &str, health| {
            let unit = Unit {
                name: name.to_owned(),
                health,
                state: String::new(),
                since: None,
                restarts: 0,
                last_log_line: None,
            };
            all.map(|role| u8::from(belongs(&unit, role)))
        };
        assert_eq!(belongs("kubelet.service", Health::Ok), [1, 1, 1, 1]);
        assert_eq!(belongs("etcd.service", Health::Missing), [0, 0, 1, 0]);
        assert_eq!(belongs("kube-proxy.service", Health::Missing), [0, 1, 1, 0]);
        assert_eq!(belongs("bootkube.service", Health::Missing), [0, 0, 0, 0], "most have none");
        assert_eq!(belongs("bootkube.service", Health::Ok)[3], 1);
    }

    #[test]
    fn what_systemd_says_and_what_it_means() {
        for (load, active, sub, expected) in [
            ("loaded", "active", "exited", Health::Ok),
            ("loaded", "activating", "start-pre", Health::Starting),
            ("loaded", "failed", "failed", Health::Failing),
            ("loaded", "activating", "auto-restart", Health::Failing),
            ("loaded", "inactive", "dead", Health::Stopped),
            ("loaded", "deactivating", "stop-sigterm", Health::Stopped),
            ("not-found", "inactive", "dead", Health::Missing),
            ("not-found", "active", "running", Health::Ok), // its file was removed while it runs
        ] {
            assert_eq!(health(load, active, sub), expected, "{load} {active} {sub}");
        }
    }
}
