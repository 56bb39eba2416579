//! What is shown of Ceph; pure.

use std::collections::BTreeMap;

use ceph::answers::{Health, Leaf, MgrMap, MonStatus, Quorum, Tree, Versions};
use serde::Serialize;

use crate::{Style, output::painted};

/// How Ceph is.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    answers: bool,
    fsid: String,
    health: ShownHealth,
    monitors: Monitors,
    managers: Managers,
    osds: Vec<ShownOsd>,
    versions: BTreeMap<String, BTreeMap<String, u32>>,
    dashboard: Option<String>,
}

/// No monitor answers.
#[derive(Debug, Serialize)]
pub(super) struct Silence {
    answers: bool,
    why: String,
    own_monitor: Option<OwnMonitor>,
}

/// What the monitor of this node says of itself.
#[derive(Debug, Serialize)]
struct OwnMonitor {
    state: String,
    monitors: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ShownHealth {
    status: String,
    checks: Vec<ShownCheck>,
}

#[derive(Debug, Serialize)]
struct ShownCheck {
    code: String,
    severity: String,
    message: String,
    detail: Vec<String>,
    muted: bool,
}

#[derive(Debug, Serialize)]
struct Monitors {
    leader: String,
    quorum: Vec<String>,
    missing: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Managers {
    active: Option<String>,
    standby: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ShownOsd {
    id: i64,
    host: Option<String>,
    up: bool,
    #[serde(rename = "in")]
    is_in: bool,
}

impl Report {
    pub(super) fn of(quorum: &Quorum, health: &Health, managers: &MgrMap, tree: &Tree, versions: &Versions) -> Self {
        let names = quorum.monmap.mons.iter().map(|mon| mon.name.clone());
        let texts =
            |kinds: BTreeMap<&str, u32>| kinds.into_iter().map(|(text, count)| (text.to_owned(), count)).collect();
        Self {
            answers: true,
            fsid: quorum.monmap.fsid.clone(),
            health: ShownHealth::of(health),
            monitors: Monitors {
                leader: quorum.quorum_leader_name.clone(),
                quorum: quorum.quorum_names.clone(),
                missing: names.filter(|name| !quorum.quorum_names.contains(name)).collect(),
            },
            managers: Managers {
                active: Some(managers.active_name.clone()).filter(|name| !name.is_empty() && managers.available),
                standby: managers.standbys.iter().map(|standby| standby.name.clone()).collect(),
            },
            osds: tree.osds().into_iter().map(ShownOsd::of).collect(),
            versions: versions.by_daemon().into_iter().map(|(kind, all)| (kind.to_owned(), texts(all))).collect(),
            dashboard: managers.services.get("dashboard").cloned(),
        }
    }

    pub(super) fn is_well(&self) -> bool {
        self.health.status == "HEALTH_OK"
    }

    pub(super) fn text(&self, color: bool) -> String {
        let mut text = self.health.text(color);
        text += &self.monitors.text(color);
        text += &self.managers.text(color);
        text += &osds(&self.osds, color);
        let versions = self.versions.iter().map(|(kind, all)| {
            let all: Vec<String> = all.iter().map(|(version, count)| format!("{version} ({count})")).collect();
            format!("{kind} {}", all.join(" and "))
        });
        text += &line("versions", &versions.collect::<Vec<_>>().join(", "));
        if let Some(dashboard) = &self.dashboard {
            text += &line("dashboard", dashboard);
        }
        text
    }
}

fn line(name: &str, value: &str) -> String {
    format!("{name:<10} {value}\n")
}

impl ShownHealth {
    fn of(health: &Health) -> Self {
        let shown = |(code, check): (&String, &ceph::answers::Check)| ShownCheck {
            code: code.clone(),
            severity: check.severity.clone(),
            message: check.summary.message.clone(),
            detail: check.detail.iter().map(|line| line.message.clone()).collect(),
            muted: check.muted,
        };
        Self { status: health.status.clone(), checks: health.checks.iter().map(shown).collect() }
    }

    fn text(&self, color: bool) -> String {
        let style = match self.status.as_str() {
            "HEALTH_OK" => Style::Good,
            "HEALTH_WARN" => Style::Warning,
            _ => Style::Bad,
        };
        let mut text = line("health", &painted(color, style, &self.status));
        for check in &self.checks {
            let muted = if check.muted { " (muted)" } else { "" };
            text += &format!("  {}: {}{muted}\n", check.code, check.message);
            text += &check.detail.iter().map(|detail| format!("    {detail}\n")).collect::<String>();
        }
        text
    }
}

impl Monitors {
    fn text(&self, color: bool) -> String {
        let role = |name: &String| if *name == self.leader { format!("{name} (leader)") } else { name.clone() };
        let mut value = self.quorum.iter().map(role).collect::<Vec<_>>().join(", ");
        if !self.missing.is_empty() {
            value += &format!("; {}", painted(color, Style::Bad, format!("missing: {}", self.missing.join(", "))));
        }
        line("monitors", &value)
    }
}

impl Managers {
    fn text(&self, color: bool) -> String {
        let active = match &self.active {
            Some(name) => format!("{name} (active)"),
            None => painted(color, Style::Bad, "none is active"),
        };
        line("managers", &[&[active], self.standby.as_slice()].concat().join(", "))
    }
}

impl ShownOsd {
    fn of(leaf: Leaf) -> Self {
        Self { id: leaf.id, host: leaf.host, up: leaf.is_up, is_in: leaf.is_in }
    }
}

fn osds(all: &[ShownOsd], color: bool) -> String {
    let count = |is: fn(&ShownOsd) -> bool| all.iter().filter(|osd| is(osd)).count();
    let mut text = line("OSDs", &format!("{}: {} up, {} in", all.len(), count(|osd| osd.up), count(|osd| osd.is_in)));
    for osd in all {
        let up = if osd.up { painted(color, Style::Good, "up") } else { painted(color, Style::Bad, "down") };
        let is_in = if osd.is_in { "" } else { ", out" };
        text += &format!("  osd.{} on {}: {up}{is_in}\n", osd.id, osd.host.as_deref().unwrap_or("no host"));
    }
    text
}

impl Silence {
    pub(super) fn of(why: String, own: Option<&MonStatus>) -> Self {
        let shown = |status: &MonStatus| OwnMonitor {
            state: status.state.clone(),
            monitors: status.monmap.mons.iter().map(|mon| mon.name.clone()).collect(),
        };
        Self { answers: false, why, own_monitor: own.map(shown) }
    }

    pub(super) fn text(&self) -> String {
        let own = match &self.own_monitor {
            Some(OwnMonitor { state, monitors }) => {
                format!("the monitor of this node is {state}, of {}", monitors.join(", "))
            }
            None => "the monitor of this node does not answer either".to_owned(),
        };
        format!("Ceph's monitors have no quorum: {}; {own}", self.why)
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;

    fn read<T: DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    fn report(is_well: bool) -> Report {
        let mons = json!([{"name": "m1"}, {"name": "m2"}, {"name": "m3"}]);
        let names = if is_well { json!(["m1", "m2", "m3"]) } else { json!(["m1", "m2"]) };
        let checks = json!({"MON_DOWN": {"severity": "HEALTH_WARN", "summary": {"message": "1/3 mons down, quorum m1,m2"},
                            "detail": [{"message": "mon.m3 (rank 2) is down (out of quorum)"}], "muted": false}});
        let (status, checks) = if is_well { ("HEALTH_OK", json!({})) } else { ("HEALTH_WARN", checks) };
        let osd =
            |id: i64, status: &str| json!({"id": id, "name": "osd", "type": "osd", "status": status, "reweight": 1});
        let host = |id: i64, name: &str, osd: i64| json!({"id": id, "name": name, "type": "host", "children": [osd]});
        let last = if is_well { "up" } else { "down" };
        let version = "ceph version 16.2.15 (618f4408) pacific (stable)";
        Report::of(
            &read(json!({"quorum_names": names, "quorum_leader_name": "m1",
                         "monmap": {"fsid": "6a8f1f3e-0d6c-4a43-9d0e-2f1f4d1c9b10", "mons": mons}})),
            &read(json!({"status": status, "checks": checks})),
            &read(json!({"active_name": "m1", "available": is_well, "standbys": [{"name": "m2"}], "modules": [],
                         "services": {"dashboard": "https://192.168.1.11:8443/"}})),
            &read(json!({"nodes": [host(-3, "m1", 0), osd(0, "up"), host(-5, "m2", 1), osd(1, last)]})),
            &read(json!({"mon": {version: 3}, "osd": {version: 2}, "overall": {version: 5}})),
        )
    }

    #[test]
    fn what_people_see() {
        let own: MonStatus =
            read(json!({"state": "probing", "monmap": {"fsid": "f", "mons": [{"name": "m1"}, {"name": "m2"}]}}));
        let why = "no answer within 3 s".to_owned();
        let silences = [Some(&own), None].map(|own| Silence::of(why.clone(), own).text());
        insta::assert_snapshot!([report(true).text(false), report(false).text(false), silences.join("\n")].join("\n"));
    }

    #[test]
    fn what_scripts_see() {
        insta::assert_json_snapshot!(report(false));
    }
}
