//! What systemd says of units, asked for all of them at once.

use std::collections::BTreeMap;

use host::Cmd;
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

/// One unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    /// `active`, `inactive`, `failed`, `activating`, …; `auto-restart` between two starts of a process that ends badly.
    pub(crate) state: String,
    /// When its process started, to the microsecond; none if it has none.
    pub(crate) started: Option<Timestamp>,
}

/// Asks for these units.
pub(crate) fn show(units: &[&str]) -> Cmd {
    Cmd::new("systemctl")
        .args(["show", "--timestamp=us+utc", "--property=Id,LoadState,ActiveState,SubState,ExecMainStartTimestamp"])
        .args(units.iter().copied())
}

/// Reads what [`show`] printed; units that are not installed are left out.
pub(crate) fn parse(printed: &str) -> BTreeMap<String, Unit> {
    printed.split("\n\n").filter_map(parse_one).collect()
}

fn parse_one(block: &str) -> Option<(String, Unit)> {
    let properties: BTreeMap<&str, &str> = block.lines().filter_map(|line| line.trim().split_once('=')).collect();
    if properties.get("LoadState") == Some(&"not-found") {
        return None;
    }
    let started = properties.get("ExecMainStartTimestamp").and_then(|time| instant(time));
    let sub_state = properties.get("SubState").filter(|state| **state == "auto-restart");
    let state = (*sub_state.or(properties.get("ActiveState"))?).to_owned();
    Some(((*properties.get("Id")?).to_owned(), Unit { state, started }))
}

/// `Mon 2026-11-16 20:27:53.739979 UTC`.
fn instant(printed: &str) -> Option<Timestamp> {
    let time = DateTime::strptime("%a %Y-%m-%d %H:%M:%S%.f UTC", printed).ok()?;
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_distinguished() {
        // Printed by systemd 252.
        let printed = "ExecMainStartTimestamp=Sun 2026-11-15 00:00:00.000001 UTC\nId=etcd.service\nLoadState=loaded\nActiveState=active\n\n\
                       ExecMainStartTimestamp=\nId=kubelet.service\nLoadState=loaded\nActiveState=inactive\n\n\
                       ExecMainStartTimestamp=Sun 2026-11-15 00:01:40 UTC\nId=kube-proxy.service\nLoadState=loaded\nActiveState=activating\n\
                       SubState=auto-restart\n\n\
                       ExecMainStartTimestamp=\nId=no.service\nLoadState=not-found\nActiveState=inactive\n";
        let unit = |state: &str, started| Unit { state: state.to_owned(), started };
        let expected = BTreeMap::from([
            ("etcd.service".to_owned(), unit("active", Some("2026-11-15T00:00:00.000001Z".parse().unwrap()))),
            ("kube-proxy.service".to_owned(), unit("auto-restart", Some("2026-11-15T00:01:40Z".parse().unwrap()))),
            ("kubelet.service".to_owned(), unit("inactive", None)),
        ]);
        assert_eq!(parse(printed), expected);
        assert_eq!(parse(""), BTreeMap::new());
    }
}
