//! `blackstart plan`: the dry run, made of the same steps as the real one.

mod summary;

use std::{fmt::Write, path::Path};

use ::explain::{Diagnostic, Explain, counted};
use engine::{Planned, StepPlan};
use playbooks::cluster::{self, Options};
use serde_json::{Value, json};
use spec::{BootstrapRole, Node};

use crate::{
    Exit, Style,
    context::{Context, Ended},
    output::painted,
};

pub(super) fn run(context: &Context, dir: Option<&Path>, name: Option<&str>, verbose: bool) -> Result<(), Ended> {
    let cluster = context.cluster(dir)?;
    let node = context.node(&cluster, name)?;
    let role = cluster.bootstrap_role(node);
    let options = Options::read(&context.host)?;
    let steps = context.plan(node, &cluster::playbook(&cluster, node, &context.layout, &options)?)?;
    if context.out.is_json() {
        let steps: Vec<Value> = steps.iter().map(as_json).collect();
        context.out.json(&json!({ "node": node.name, "role": role, "steps": steps }))?;
    } else {
        let detail = if verbose { Detail::Full } else { Detail::Short };
        context.out.text(&as_text(node, role, &steps, detail, context))?;
    }
    if steps.iter().any(|step| step.changes.is_err()) { Err(Ended::Reported(Exit::Failed)) } else { Ok(()) }
}

/// A step for scripts.
pub(super) fn as_json(step: &StepPlan) -> Value {
    let StepPlan { about, after, changes, waiting } = step;
    let (changes, error) = match changes {
        Ok(changes) => (changes.iter().flat_map(Planned::lines).collect(), None),
        Err(error) => (Vec::new(), Some(error)),
    };
    json!({
        "id": about.id,
        "title": about.title,
        "why": about.why,
        "after": after,
        "changes": changes,
        "waiting": waiting,
        "error": error.map(Explain::diagnostic),
    })
}

/// How much is shown of every step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// What a person reads before a run: files by directory where there are many, owned resources by their number.
    Short,
    /// Every file, every owned resource, and the order.
    Full,
}

fn as_text(node: &Node, role: BootstrapRole, steps: &[StepPlan], detail: Detail, context: &Context) -> String {
    let color = context.out.color();
    let name = painted(color, Style::Strong, &node.name);
    let mut text = format!("{name} is {role}; {}\n", counted(steps.len(), "step"));
    if !context.host.is_live {
        text += "the machine is not running: what would be started or waited for is not in this plan\n";
    }
    text + &listed(steps, detail, color)
}

/// Every step with its changes, for people.
pub(super) fn listed(steps: &[StepPlan], detail: Detail, color: bool) -> String {
    let mut text = String::new();
    let mut was_long = true;
    for (number, step) in steps.iter().enumerate() {
        let id = painted(color, Style::Strong, step.about.id);
        let title = format!("{:>2}. {id}: {}", number + 1, step.about.title);
        if detail == Detail::Short && is_idle(step) {
            let gap = if was_long { "\n" } else { "" };
            let _ = writeln!(text, "{gap}{title} (nothing to change)");
            was_long = false;
        } else {
            let _ = write!(text, "\n{title}{}\n    why: {}\n", order(step, detail), step.about.why);
            text += &body(step, detail, color);
            was_long = true;
        }
    }
    text + "\n" + &end(steps, detail)
}

/// Whether it has nothing to do, wait for or complain of.
fn is_idle(StepPlan { changes, waiting, .. }: &StepPlan) -> bool {
    waiting.is_none() && changes.as_ref().is_ok_and(Vec::is_empty)
}

fn order(StepPlan { after, .. }: &StepPlan, detail: Detail) -> String {
    if after.is_empty() || detail == Detail::Short { String::new() } else { format!(" (after {})", after.join(", ")) }
}

fn body(StepPlan { changes, waiting, .. }: &StepPlan, detail: Detail, color: bool) -> String {
    match (changes, waiting) {
        (Err(error), _) => {
            let word = painted(color, Style::Bad, "error");
            let Diagnostic { code, message, hint } = error.diagnostic();
            format!("    {word}[{code}]: {message}\n      hint: {hint}\n")
        }
        (Ok(changes), Some(what)) if changes.is_empty() => {
            format!("    … nothing to change, but waiting for {what}\n")
        }
        (Ok(changes), None) if changes.is_empty() => "    = nothing to change\n".to_owned(),
        (Ok(changes), _) => {
            let lines = match detail {
                Detail::Short => summary::summary(changes),
                Detail::Full => changes.iter().flat_map(Planned::lines).collect(),
            };
            lines.iter().fold(String::new(), |text, line| text + "    + " + line + "\n")
        }
    }
}

fn end(steps: &[StepPlan], detail: Detail) -> String {
    let changes: Vec<&Planned> = steps.iter().filter_map(|step| step.changes.as_ref().ok()).flatten().collect();
    let claims = changes.iter().filter(|change| matches!(change, Planned::Claim(_))).count();
    let lines: usize = changes.iter().map(|change| change.lines().len()).sum();
    let changes = counted(lines - claims, "change");
    match detail {
        Detail::Short => format!("{changes} to make; nothing was changed (`--verbose` shows each of them)\n"),
        Detail::Full if claims == 0 => format!("{changes} to make; nothing was changed\n"),
        Detail::Full => format!("{changes} to make, {} to claim; nothing was changed\n", counted(claims, "resource")),
    }
}
