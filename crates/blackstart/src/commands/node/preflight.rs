//! `blackstart node preflight`: the checks without the bootstrap.

use checks::preflight;
use playbooks::cluster::{self, Options};
use serde_json::json;

use crate::{
    Exit, Failure,
    context::{Context, Ended, block_on},
};

pub(in crate::commands) fn preflight(
    context: &Context,
    name: Option<&str>,
    list: bool,
    skip: &[String],
) -> Result<(), Ended> {
    if list {
        let checks = preflight::registry();
        if context.out.is_json() {
            let checks: Vec<_> = checks
                .iter()
                .map(|check| json!({ "name": check.name, "about": check.about, "roles": check.roles, "when": check.when }))
                .collect();
            return Ok(context.out.json(&checks)?);
        }
        return Ok(context.out.text(&preflight::list(checks))?);
    }
    let cluster = context.cluster(None)?;
    let node = context.node(&cluster, name)?;
    let options = Options { skip: skip.to_vec(), ..Options::read(&context.host)? };
    let step = cluster::preflight(&cluster, node, &context.layout, &options);
    let outcomes = block_on(step.outcomes(&context.host))?.map_err(|error| Failure::in_step("preflight", &error))?;
    if context.out.is_json() {
        context.out.json(&json!({ "node": node.name, "checks": preflight::lines(&outcomes) }))?;
    } else {
        context.out.text(&preflight::show(&outcomes))?;
    }
    if outcomes.iter().any(|outcome| outcome.problems().next().is_some()) {
        Err(Ended::Reported(Exit::Failed))
    } else {
        Ok(())
    }
}
