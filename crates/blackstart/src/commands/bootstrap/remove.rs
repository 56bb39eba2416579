//! `blackstart bootstrap remove`: a dead bootstrap node is taken out of the cluster, from a master.

use playbooks::remove::{self, Removal};
use spec::Role;

use super::super::node::{changes, dry_run, question, report_refusals};
use crate::{
    Failure, codes,
    context::{Context, Ended},
    output::{confirm, note},
    progress::busy,
};

pub(super) fn run(context: &Context, is_dry: bool, yes: bool) -> Result<(), Ended> {
    if !context.host.is_live {
        return Err(Failure::usage(codes::NOT_LIVE, "this machine was not booted by systemd").into());
    }
    let cluster = context.cluster(None)?;
    let Some(bootstrap) = cluster.bootstrap_node() else {
        return Err(Failure::usage(codes::NO_BOOTSTRAP_NODE, "cluster.yaml has no node of the role `bootstrap`").into());
    };
    let own = context.node(&cluster, None)?;
    if !own.has(Role::Master) {
        let message = format!("`{}` is not a master, and only masters may remove nodes", own.name);
        return Err(Failure::usage(codes::ONLY_ON_MASTERS, message).into());
    }
    let name = bootstrap.name.as_str();
    let removal = Removal { cluster: &cluster, node: name, from: &own.name, layout: &context.layout, drain: None };
    let steps = busy(context.out, "checking the cluster", || {
        context.plan(own, &remove::bootstrap_playbook(&removal, bootstrap)?)
    })?;
    if is_dry {
        return dry_run(context, name, &steps);
    }
    report_refusals(context, &steps)?;
    let changes = changes(&steps);
    if !changes.is_empty() {
        if !yes {
            note(&question(name, cluster.name(), &changes));
        }
        confirm(yes, "Go on?")?;
    }
    // Made again: the connections of the first one ended with the check.
    let playbook = remove::bootstrap_playbook(&removal, bootstrap)?;
    context.run_in(&remove::state_dir(&context.layout, name), name, &playbook)?;
    remove::tidy(&*context.host.disk, &context.layout, name)?;
    if context.out.is_json() {
        return Ok(());
    }
    let what = if changes.is_empty() { "was out of the cluster already" } else { "is out of the cluster" };
    Ok(context.out.text(&format!("{name} {what}; its machine may be used for something else\n"))?)
}
