//! How a node is doing, in a page of JSON.

use std::{collections::BTreeMap, path::Path};

use join::Marks;
use nodekit::run_record::RunSummary;
use operations::outage::Outage;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use spec::Role;

use crate::{
    Agent, AgentError, progress,
    systemd::{self, Unit},
};

const MACHINE_ID: &str = "/etc/machine-id";

/// How a node is doing. Fields are only ever added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Its name.
    pub node: String,
    /// What it is in the bootstrap: `master-first`, `master-additional` or `worker`.
    pub role: String,
    /// What `bootstrap-state` says; null before there is one.
    pub bootstrap: Option<String>,
    /// The state of every unit of ours that is installed, in systemd's words; `auto-restart` for one in a crash loop.
    pub units: BTreeMap<String, String>,
    /// For how long earlier reports have not come through.
    pub unheard_seconds: Option<u64>,
    /// The keys that everything on this node trusts, holds and was signed by.
    #[serde(default)]
    pub converged_on: Option<Marks>,
    /// What is left to do on this node before it is converged.
    #[serde(default)]
    pub not_converged: Option<String>,
    /// [`join::machine_id`]: masters know by it that the node is still the same machine.
    #[serde(default)]
    pub machine: Option<String>,
    /// The version of this program.
    pub version: String,
    /// The last run on the machine; absent too where another version wrote it in a form that is not known here.
    #[serde(default, deserialize_with = "known_form")]
    pub run: Option<RunSummary>,
    /// On a temporary bootstrap node, when each milestone was reached, in the form of [`nodekit::milestones::times`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub milestones: BTreeMap<String, String>,
}

fn known_form<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RunSummary>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

pub(super) fn last_run(agent: &Agent) -> Option<RunSummary> {
    RunSummary::of_machine(&*agent.host.disk, &agent.paths.state_dir)
}

/// Looks at this machine.
pub(super) async fn check(agent: &Agent, outage: &Outage) -> Result<Status, AgentError> {
    let state = agent.host.disk.read_optional(&agent.paths.state_dir.join("bootstrap-state"))?;
    let units = systemd::units(agent, render::units::NAMES).await?;
    Ok(Status {
        unheard_seconds: outage.lasting().map(|lasting| lasting.as_secs()),
        run: last_run(agent),
        milestones: milestones(agent),
        machine: agent.host.disk.read_optional(Path::new(MACHINE_ID))?.as_deref().map(machine),
        ..status(agent, state.as_deref(), units)
    })
}

fn milestones(agent: &Agent) -> BTreeMap<String, String> {
    if agent.node.has(Role::Bootstrap) { progress::reached(agent) } else { BTreeMap::new() }
}

fn machine(id: &[u8]) -> String {
    join::machine_id(String::from_utf8_lossy(id).trim())
}

fn status(agent: &Agent, state: Option<&[u8]>, units: BTreeMap<String, Unit>) -> Status {
    let converged = agent.ca.converged.borrow().clone();
    Status {
        node: agent.node.name.clone(),
        role: agent.cluster.bootstrap_role(&agent.node).to_string(),
        bootstrap: state.map(|state| String::from_utf8_lossy(state).trim().to_owned()),
        units: units.into_iter().map(|(name, unit)| (name, unit.state().to_owned())).collect(),
        unheard_seconds: None,
        converged_on: converged.on,
        not_converged: converged.why_not,
        machine: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        run: None,
        milestones: BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use host::{Change, Content};
    use serde_json::json;

    use super::*;
    use crate::testing::{Scripted, agent, with_bootstrap_node};

    #[test]
    fn a_status_is_small_and_says_what_matters() {
        let agent = agent("worker-01", &Arc::new(Scripted::default()));
        let unit = |state: &str| Unit { active: state.to_owned(), ..Unit::default() };
        let units = [("kubelet.service", unit("active")), ("kube-proxy.service", unit("failed"))];
        let units = units.map(|(name, unit)| (name.to_owned(), unit)).into();
        let status = Status { version: "1.2.3".into(), ..status(&agent, Some(b"joined\n"), units) };
        insta::assert_json_snapshot!(status);
    }

    #[test]
    fn only_a_bootstrap_node_reports_milestones() {
        let mut agent = agent("master-01", &Arc::new(Scripted::default()));
        let time = "2026-11-18T08:00:02Z";
        let step =
            json!({ "id": "preflight", "title": "", "ended": time, "state": "done", "attempts": [], "waits": [] });
        let record = json!({
            "v": 1, "run": "r", "purpose": "up", "node": "", "playbook": "cluster", "boot_id": "b",
            "process": { "pid": 1, "began": 1 }, "version": "0", "started": time, "updated": time,
            "outcome": "working", "done": 1, "total": 2, "summary": "", "steps": [step],
        });
        let path = agent.paths.state_dir.join("runs/r.json");
        let content = Content::Plain(record.to_string().into_bytes());
        Change::File { path, mode: 0o644, content }.apply(&*agent.host.disk).unwrap();
        assert_eq!(milestones(&agent), BTreeMap::new());
        let cluster = with_bootstrap_node();
        agent.node = cluster.bootstrap_node().unwrap().clone();
        agent.cluster = Arc::new(cluster);
        let reached = milestones(&agent);
        assert_eq!(reached, [("01-os".to_owned(), time.to_owned())].into());
        let sent =
            serde_json::to_value(Status { milestones: reached.clone(), ..status(&agent, None, BTreeMap::new()) });
        assert_eq!(serde_json::from_value::<Status>(sent.unwrap()).unwrap().milestones, reached);
    }
}
