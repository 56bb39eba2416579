//! `blackstart node`: this machine as a node of the cluster.

mod install;
mod preflight;
mod rearm;
mod remove;
mod reset;
mod status;
mod timeline;
mod up;

use engine::Playbook;
use host::Facts;
pub(super) use install::install;
use nodekit::{identity, run_record::Purpose};
use playbooks::cluster;
pub(super) use preflight::preflight;
pub(super) use rearm::rearm;
pub(super) use remove::{changes, dry_run, question, remove, report_refusals};
pub(super) use reset::reset;
use spec::Node;
pub(super) use status::status;
pub(super) use timeline::timeline;
pub(super) use up::up;

use crate::context::{Context, Ended};

/// Always looks at the hardware: what an earlier run noted may belong to the machine this disk was cloned from.
pub(super) fn detect(context: &Context, name: Option<&str>) -> Result<(), Ended> {
    let (name, role) = context.recorded(Purpose::Detect, |keeper| {
        let cluster = context.cluster(None)?;
        let node = match name {
            Some(name) => identity::by_name(&cluster, name)?,
            None => identity::by_hardware(&cluster, &Facts::read(&*context.host.disk)?)?,
        };
        let playbook = cluster::detect(&cluster, node, &context.layout)?;
        match context.run_reporting(&context.layout.state_dir, &node.name, &playbook, vec![keeper.clone()]) {
            // A `node up` that was started by hand starts units which come behind this one's, and waits for them.
            Err(Ended::Failure(held))
                if held.diagnostic.code == engine::codes::LOCKED && is_done(context, node, &playbook)? => {}
            ran => drop(ran?),
        }
        Ok((node.name.clone(), cluster.bootstrap_role(node)))
    })?;
    if context.out.is_json() {
        return Ok(());
    }
    Ok(context.out.text(&format!("this machine is {name} ({role})\n"))?)
}

/// Whether a run would find nothing to do.
fn is_done(context: &Context, node: &Node, playbook: &Playbook) -> Result<bool, Ended> {
    let steps = context.plan(node, playbook)?;
    Ok(steps.iter().all(|step| step.waiting.is_none() && step.changes.as_ref().is_ok_and(Vec::is_empty)))
}

pub(super) fn role(context: &Context, name: Option<&str>) -> Result<(), Ended> {
    let cluster = context.cluster(None)?;
    let node = context.node(&cluster, name)?;
    let role = cluster.bootstrap_role(node);
    if context.out.is_json() {
        return Ok(context.out.json(&serde_json::json!({ "node": node.name, "role": role }))?);
    }
    Ok(context.out.text(&format!("{role}\n"))?)
}
