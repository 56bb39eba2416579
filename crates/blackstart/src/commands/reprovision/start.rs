//! `blackstart reprovision start` and `abort`.

use std::{collections::BTreeMap, path::Path};

use serde_json::json;
use upgrades::{Phase, names};

use super::{ask, keys};
use crate::{
    Exit,
    context::{Context, Ended},
    output::note,
};

pub(super) fn run(
    context: &Context,
    node: &str,
    secret: Option<&Path>,
    kubeconfig: Option<&Path>,
) -> Result<(), Ended> {
    let data = match secret {
        Some(dir) => keys(dir)?,
        None => BTreeMap::new(),
    };
    ask(context, kubeconfig, async |client| upgrades::start(&client, node, &data).await)?;
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "node": node, "secret": names::secret(node) }))?);
    }
    let next = format!("{node} is labelled; `blackstart reprovision status {node}` shows how far it is\n");
    Ok(context.out.text(&next)?)
}

pub(super) fn abort(context: &Context, node: &str, kubeconfig: Option<&Path>) -> Result<(), Ended> {
    let object = ask(context, kubeconfig, async |client| upgrades::abort(&client, node).await)?;
    let phase = object.status.phase;
    if context.out.is_json() {
        context.out.json(&json!({ "node": node, "phase": phase }))?;
    }
    if phase.is_committed() {
        note(&format!("{node} has begun to change itself ({phase}) and goes on; if it fails it goes back by itself\n"));
        return Err(Ended::Reported(Exit::Failed));
    }
    let outcome = if phase.is_end() && phase != Phase::Stuck { "nothing is under way" } else { "it is given back" };
    if !context.out.is_json() {
        context
            .out
            .text(&format!("{node}: {outcome}; `blackstart reprovision status {node}` shows how far it is\n"))?;
    }
    Ok(())
}
