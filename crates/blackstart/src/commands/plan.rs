//! `blackstart plan`: the dry run, made of the same steps as the real one.

use std::{fmt::Write, path::Path};

use ::explain::{Explain, counted};
use engine::StepPlan;
use playbooks::cluster::{self, Options};
use serde_json::{Value, json};
use spec::{BootstrapRole, Node};

use crate::{
    Exit, Style,
    context::{Context, Ended},
    output::painted,
};

pub(super) fn run(context: &Context, dir: Option<&Path>, name: Option<&str>) -> Result<(), Ended> {
    let cluster = context.cluster(dir)?;
    let node = context.node(&cluster, name)?;
    let role = cluster.bootstrap_role(node);
    let options = Options::read(&context.host)?;
    let steps = context.plan(node, &cluster::playbook(&cluster, node, &context.layout, &options)?)?;
    if context.out.is_json() {
        let steps: Vec<Value> = steps.iter().map(as_json).collect();
        context.out.json(&json!({ "node": node.name, "role": role, "steps": steps }))?;
    } else {
        context.out.text(&as_text(node, role, &steps, context.out.color()))?;
    }
    if steps.iter().any(|step| step.changes.is_err()) { Err(Ended::Reported(Exit::Failed)) } else { Ok(()) }
}

/// A step for scripts.
pub(super) fn as_json(step: &StepPlan) -> Value {
    let StepPlan { about, after, changes, waiting } = step;
    let (changes, error) = match changes {
        Ok(changes) => (changes.iter().map(ToString::to_string).collect(), None),
        Err(error) => (Vec::new(), Some(error)),
    };
    json!({
        "id": about.id,
        "title": about.title,
        "why": about.why,
        "after": after,
        "changes": changes,
        "waiting": waiting,
        "error": error.map(|error| json!({
            "code": error.code().id,
            "message": ::explain::chain(error),
            "hint": error.advice(),
        })),
    })
}

fn as_text(node: &Node, role: BootstrapRole, steps: &[StepPlan], color: bool) -> String {
    let name = painted(color, Style::Strong, &node.name);
    format!("{name} is {role}; {}\n{}", counted(steps.len(), "step"), listed(steps, color))
}

/// Every step with its changes, for people.
pub(super) fn listed(steps: &[StepPlan], color: bool) -> String {
    let mut text = String::new();
    let mut changes_in_all = 0;
    for (number, StepPlan { about, after, changes, waiting }) in steps.iter().enumerate() {
        let after = if after.is_empty() { String::new() } else { format!(" (after {})", after.join(", ")) };
        let id = painted(color, Style::Strong, about.id);
        let _ = write!(text, "\n{:>2}. {id}: {}{after}\n    why: {}\n", number + 1, about.title, about.why);
        match changes {
            Err(error) => {
                let word = painted(color, Style::Bad, "error");
                let (code, chain, hint) = (error.code(), ::explain::chain(error), error.advice());
                let _ = writeln!(text, "    {word}[{code}]: {chain}\n      hint: {hint}");
            }
            Ok(changes) if changes.is_empty() => match waiting {
                Some(what) => _ = writeln!(text, "    … nothing to change, but waiting for {what}"),
                None => _ = writeln!(text, "    = nothing to change"),
            },
            Ok(changes) => {
                changes_in_all += changes.len();
                for change in changes {
                    let _ = writeln!(text, "    + {change}");
                }
            }
        }
    }
    let _ = write!(text, "\n{} to make; nothing was changed\n", counted(changes_in_all, "change"));
    text
}
