//! `blackstart node remove`: another node is taken out of the cluster, from a master.
//!
//! ```text
//! a plan of all steps ─► one refuses: nothing is changed ─► shown and agreed to ─► run ─► what is left, and where
//! ```
//! A run that was stopped or killed is gone on with by the same command, here or on another master.

mod show;

use std::time::Duration;

use engine::StepPlan;
use explain::Explain;
use nodekit::identity;
use operations::drain::Drain;
use playbooks::remove::{self, Removal};
use serde_json::{Value, json};
use spec::Role;

use self::show::Left;
pub(in crate::commands) use self::show::{changes, question};
use super::super::{plan, token};
use crate::{
    Exit, Failure,
    cli::RemoveOptions,
    codes,
    context::{Context, Ended},
    output::{confirm, note},
    progress::busy,
};

pub(in crate::commands) fn remove(context: &Context, options: &RemoveOptions) -> Result<(), Ended> {
    if !context.host.is_live {
        return Err(Failure::usage(codes::NOT_LIVE, "this machine was not booted by systemd").into());
    }
    let cluster = context.cluster(None)?;
    let own = context.node(&cluster, None)?;
    let name = options.name.as_str();
    let drain = drain(options)?;
    let removal = Removal { cluster: &cluster, node: name, from: &own.name, layout: &context.layout, drain };
    let playbook = remove::playbook(&removal)?;
    if !own.has(Role::Master) {
        let message = format!("`{}` is not a master, and only masters may remove nodes", own.name);
        return Err(Failure::usage(codes::ONLY_ON_MASTERS, message).into());
    }
    let steps = busy(context.out, "checking the cluster", || context.plan(own, &playbook))?;
    if options.dry_run {
        return dry_run(context, name, &steps);
    }
    report_refusals(context, &steps)?;
    let changes = show::changes(&steps);
    if changes.is_empty() {
        // What is neither in the cluster nor in its description was mistyped.
        identity::by_name(&cluster, name)?;
    } else {
        if !options.yes {
            note(&show::question(name, cluster.name(), &changes));
        }
        confirm(options.yes, "Go on?")?;
        // Made again: the connections of the first one ended with the check.
        context.run_in(&remove::state_dir(&context.layout, name), name, &remove::playbook(&removal)?)?;
        remove::tidy(&*context.host.disk, &context.layout, name)?;
    }
    if context.out.is_json() {
        return Ok(());
    }
    let listed = cluster.node(name);
    let left = Left {
        is_listed: listed.is_some(),
        was_master: listed.is_some_and(|node| node.roles.contains(&Role::Master)) || show::has_member(&steps),
    };
    Ok(context.out.text(&show::end(name, cluster.name(), !changes.is_empty(), left))?)
}

fn drain(options: &RemoveOptions) -> Result<Option<Drain>, Failure> {
    if options.no_drain {
        return Ok(None);
    }
    let within = Duration::from_secs(token::length(&options.drain_timeout)?.as_secs().unsigned_abs());
    Ok(Some(Drain { node: options.name.clone(), within, force: options.force }))
}

pub(in crate::commands) fn dry_run(context: &Context, name: &str, steps: &[StepPlan]) -> Result<(), Ended> {
    if context.out.is_json() {
        let steps: Vec<Value> = steps.iter().map(plan::as_json).collect();
        context.out.json(&json!({ "node": name, "steps": steps }))?;
    } else {
        context.out.text(&plan::listed(steps, plan::Detail::Full, context.out.color()))?;
    }
    if steps.iter().any(|step| step.changes.is_err()) { Err(Ended::Reported(Exit::Failed)) } else { Ok(()) }
}

/// Ends where a step would refuse. An API that does not answer is reported once, and not by every step.
pub(in crate::commands) fn report_refusals(context: &Context, steps: &[StepPlan]) -> Result<(), Ended> {
    let mut reported = Vec::new();
    for StepPlan { about, changes, .. } in steps {
        if let Err(error) = changes
            && !reported.contains(&error.code())
        {
            context.out.failure(&Failure::in_step(about.id.as_str(), error));
            reported.push(error.code());
        }
    }
    if reported.is_empty() { Ok(()) } else { Err(Ended::Reported(Exit::Failed)) }
}
