//! `blackstart node`: this machine as a node of the cluster.

mod install;
mod preflight;
mod up;

use host::Facts;
pub(super) use install::install;
use playbooks::{cluster, identity};
pub(super) use preflight::preflight;
pub(super) use up::{options, up};

use crate::context::{Context, Ended};

/// Always looks at the hardware: what an earlier run noted may belong to the machine this disk was cloned from.
pub(super) fn detect(context: &Context, name: Option<&str>) -> Result<(), Ended> {
    let cluster = context.cluster(None)?;
    let node = match name {
        Some(name) => identity::by_name(&cluster, name)?,
        None => identity::by_hardware(&cluster, &Facts::read(&*context.host.disk)?)?,
    };
    context.run(node, &cluster::detect(&cluster, node, &context.layout)?)?;
    if context.out.is_json() {
        return Ok(());
    }
    Ok(context.out.text(&format!("this machine is {} ({})\n", node.name, cluster.bootstrap_role(node)))?)
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
