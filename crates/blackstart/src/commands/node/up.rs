//! `blackstart node up`: the whole bootstrap of this machine.

use std::{fmt::Write, io::Read, path::Path, sync::Arc};

use engine::{About, LedgerStore, Playbook, StepId};
use explain::{Explain, counted};
use nodekit::run_record::Purpose;
use playbooks::cluster::{self, Options};
use serde_json::json;
use spec::{BootstrapRole, Node, ValidatedCluster};

use super::super::diagnose::likely_cause;
use crate::{
    Failure,
    cli::UpOptions,
    codes,
    context::{Context, Ended},
};

pub(in crate::commands) fn up(context: &Context, options: &UpOptions) -> Result<(), Ended> {
    if options.list_steps {
        return list(context, options);
    }
    if !context.host.is_live {
        return Err(Failure::usage(codes::NOT_LIVE, "this machine was not booted by systemd").into());
    }
    if options.force_new_cluster {
        check_force(context, options.node.as_deref())?;
    }
    if !options.only.is_empty() || !options.skip_step.is_empty() {
        return some(context, options);
    }
    let mut prepared = None;
    let ran = context.recorded(Purpose::Up, |keeper| {
        let Prepared { node, playbook, .. } = prepared.insert(prepare(context, options)?);
        Ok(context.run_to_its_end(&context.layout.state_dir, &node.name, playbook, vec![keeper.clone()])?)
    });
    let Some(Prepared { cluster, node, .. }) = prepared else { return ran.map(drop) };
    let report = ran.or_else(|ended| explained(context, &cluster, &node, ended))?;
    if let Err(ended) = context.report_failures(&report) {
        // The user who stopped the run knows why.
        if !report.cancelled {
            let output: Vec<&str> = report.failed.iter().map(|failed| failed.error.code().id).collect();
            likely_cause(context, &cluster, &node, &output);
        }
        return Err(ended);
    }
    if context.out.is_json() {
        return Ok(());
    }
    let role = cluster.bootstrap_role(&node);
    let is = match role {
        BootstrapRole::Bootstrap => "is retired: the masters have taken over",
        _ => "is a Ready node",
    };
    let unchanged = if report.changed.is_empty() { "; nothing was changed" } else { "" };
    Ok(context.out.text(&format!("{} ({role}) {is}{unchanged}\n", node.name))?)
}

/// The steps of this node, as the list has them.
fn list(context: &Context, options: &UpOptions) -> Result<(), Ended> {
    let Prepared { playbook, .. } = prepare(context, options)?;
    let steps: Vec<_> = playbook.order().collect();
    if context.out.is_json() {
        let step =
            |(about, after): &(&About, Vec<StepId>)| json!({ "id": about.id, "title": about.title, "after": after });
        return Ok(context.out.json(&steps.iter().map(step).collect::<Vec<_>>())?);
    }
    let mut text = String::new();
    for (About { id, title, .. }, after) in steps {
        let after: Vec<&str> = after.into_iter().map(StepId::as_str).collect();
        let after = if after.is_empty() { String::new() } else { format!(" (after {})", after.join(", ")) };
        let _ = writeln!(text, "{id:24} {title}{after}");
    }
    Ok(context.out.text(&text)?)
}

/// Some of the steps. That is no bootstrap, so it is not noted as one.
fn some(context: &Context, options: &UpOptions) -> Result<(), Ended> {
    let Prepared { node, playbook, .. } = prepare(context, options)?;
    let playbook = if options.only.is_empty() {
        playbook.without(&options.skip_step)?
    } else {
        let ledger = LedgerStore::new(&context.layout.state_dir).open(&*context.host.disk)?.ledger;
        playbook.only(&options.only, &ledger)?
    };
    let report = context.run(&node, &playbook)?;
    if context.out.is_json() {
        return Ok(());
    }
    let verified = counted(report.verified.len(), "step");
    Ok(context.out.text(&format!("{}: {verified} verified, {} of them changed\n", node.name, report.changed.len()))?)
}

/// Before anything is recorded: it would look as if the machine's own run had failed.
fn check_force(context: &Context, name: Option<&str>) -> Result<(), Ended> {
    let cluster = context.cluster(None)?;
    let node = context.node(&cluster, name)?;
    let message = match (cluster.bootstrap_role(node), cluster.bootstrap_node()) {
        (BootstrapRole::Bootstrap, _) | (BootstrapRole::MasterFirst, None) => return Ok(()),
        (BootstrapRole::MasterFirst, Some(bootstrap)) => {
            format!("the cluster starts on `{}`, which has the role `bootstrap` in cluster.yaml", bootstrap.name)
        }
        _ => format!("`{}` is not the first master, and only that one starts a cluster", node.name),
    };
    Err(Failure::usage(codes::NOT_FIRST, message).into())
}

/// A run that ended before its first step, with the most likely reason below the error.
fn explained<T>(context: &Context, cluster: &ValidatedCluster, node: &Node, ended: Ended) -> Result<T, Ended> {
    match ended {
        // Another run is at it: that is all there is to say.
        Ended::Failure(failure) if failure.diagnostic.code != engine::codes::LOCKED => {
            context.out.failure(&failure);
            likely_cause(context, cluster, node, &[failure.diagnostic.code.id]);
            Err(Ended::Reported(failure.exit))
        }
        ended => Err(ended),
    }
}

/// Everything that is known before the first step.
struct Prepared {
    cluster: Arc<ValidatedCluster>,
    node: Node,
    playbook: Playbook,
}

fn prepare(context: &Context, options: &UpOptions) -> Result<Prepared, Ended> {
    let UpOptions { node, skip, token_file, force_new_cluster, .. } = options;
    let cluster = context.cluster(None)?;
    let node = context.node(&cluster, node.as_deref())?;
    let token = token_file.as_deref().map(read_token).transpose()?;
    let force_new_cluster = *force_new_cluster;
    let options = Options { skip: skip.clone(), token, force_new_cluster, ..Options::read(&context.host)? };
    let playbook = cluster::playbook(&cluster, node, &context.layout, &options)?;
    Ok(Prepared { node: node.clone(), cluster, playbook })
}

fn read_token(path: &Path) -> Result<spec::Token, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::usage(codes::NO_TOKEN, format!("cannot read a token from {}: {error}", path.display()))
    };
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).map_err(unreadable)?;
    } else {
        text = std::fs::read_to_string(path).map_err(unreadable)?;
    }
    join::token::parse(&text).map_err(|error| Failure::usage(codes::NO_TOKEN, error.to_string()))
}
