//! `blackstart pki`: certificates, keys and kubeconfigs.

mod rotate;

use host::{Change, Cmd};
use pki::{Existing, Which};
use playbooks::cluster;
use serde_json::json;
use spec::{Node, Role, ValidatedCluster};

use crate::{
    Failure, codes,
    context::{Context, Ended, block_on},
    output::{confirm, note},
};

pub(super) use self::rotate::{Asked, rotate};

/// Whether and how to ask before changing something.
#[derive(Clone, Copy)]
pub(super) struct Ask {
    pub(super) dry_run: bool,
    pub(super) yes: bool,
}

pub(super) fn which(name: Option<&str>, all: bool) -> Which<'_> {
    match name {
        Some(name) => Which::One(name),
        None if all => Which::All,
        None => Which::Due,
    }
}

pub(super) fn init(context: &Context, name: Option<&str>) -> Result<(), Ended> {
    let cluster = context.cluster(None)?;
    let node = master(context, &cluster, name)?;
    let report = context.run(node, &cluster::certificates(&cluster, node, &context.layout)?)?;
    if context.out.is_json() {
        return Ok(());
    }
    let dir = context.real_path(&context.layout.kubernetes_dir);
    let text = if report.changed.is_empty() { "were all there" } else { "are complete" };
    Ok(context.out.text(&format!("certificates and kubeconfigs of {} {text} in {}\n", node.name, dir.display()))?)
}

pub(super) fn show(context: &Context) -> Result<(), Ended> {
    let entries = pki::inventory(&existing(context)?, context.host.clock.now());
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "certificates": entries }))?);
    }
    Ok(context.out.text(&pki::show(&entries, context.out.color()))?)
}

/// A crash on the way leaves a key beside the certificate of the old one at worst, and planning again fixes that.
pub(super) fn renew(context: &Context, which: Which<'_>, name: Option<&str>, ask: Ask) -> Result<(), Ended> {
    let cluster = context.cluster(None)?;
    let node = master(context, &cluster, name)?;
    let _lock = if ask.dry_run {
        None
    } else {
        Some(engine::lock_machine(&context.host, &context.layout.state_dir, "pki renew")?)
    };
    let now = context.host.clock.now();
    let changes = pki::renewal(&existing(context)?, &pki::Input::for_node(&cluster, node), now, which)?;
    let lines: Vec<String> = changes.iter().map(ToString::to_string).collect();
    if !context.out.is_json() {
        context.out.text(&as_text(&lines))?;
    } else if !ask.yes {
        note(&as_text(&lines)); // the user sees what the question is about
    }
    let apply = !changes.is_empty() && !ask.dry_run;
    if apply {
        confirm(ask.yes, "Write these files?")?;
        apply_all(context, changes)?;
    }
    let restarted = if apply { restart(context, &lines)? } else { Vec::new() };
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "changes": lines, "applied": apply, "restarted": restarted }))?);
    }
    match (apply, lines.is_empty()) {
        (true, _) if !context.host.is_live => {
            Ok(context.out.text("renewed; a machine that runs with them reads most of them again by itself\n")?)
        }
        (true, _) if restarted.is_empty() => {
            Ok(context.out.text("renewed; the services that use them reload them by themselves\n")?)
        }
        (true, _) => Ok(context.out.text(&format!(
            "renewed; restarted {}, the others read theirs again by themselves\n",
            restarted.join(", ")
        ))?),
        (false, false) => Ok(context.out.text("nothing was changed\n")?),
        (false, true) => Ok(()), // printed above
    }
}

/// Restarts what reads its kubeconfig only when it starts; one that does not run stays as it is.
fn restart(context: &Context, changes: &[String]) -> Result<Vec<&'static str>, Failure> {
    let is_new = |file: &str| changes.iter().any(|line| line.contains(&format!("/{file} ")));
    let units = agent::READ_ONCE.iter().filter(|(file, _)| is_new(file)).map(|(_, unit)| *unit);
    let units: Vec<&str> = if context.host.is_live { units.collect() } else { Vec::new() };
    for unit in &units {
        let command = Cmd::new("systemctl").args(["try-restart", unit]);
        block_on(context.host.commands.run(&command))??;
    }
    Ok(units)
}

fn apply_all(context: &Context, changes: Vec<Change>) -> Result<(), Failure> {
    for change in &changes {
        change.apply(&*context.host.disk)?;
    }
    let left = Change::missing(changes, &*context.host.disk)?;
    if let Some(change) = left.first() {
        let message = format!("the machine does not show the change: {change}");
        return Err(Failure::new(engine::codes::NOT_IN_TIME, message));
    }
    Ok(())
}

fn as_text(lines: &[String]) -> String {
    if lines.is_empty() {
        return "nothing is due for renewal\n".to_owned();
    }
    lines.iter().map(|line| format!("  + {line}\n")).collect()
}

fn existing(context: &Context) -> Result<Existing, Failure> {
    Ok(Existing::read(&*context.host.disk, &context.layout.kubernetes_dir)?)
}

fn master<'a>(context: &Context, cluster: &'a ValidatedCluster, name: Option<&str>) -> Result<&'a Node, Failure> {
    let node = context.node(cluster, name)?;
    if !node.has(Role::Master) {
        return Err(Failure::usage(codes::NOT_A_MASTER, format!("node `{}` is not a master", node.name)));
    }
    Ok(node)
}
