//! `blackstart node rearm`: another machine may take a master's place.

use join::Admission;
use nodekit::identity;
use playbooks::admissions;
use serde_json::json;
use spec::Role;

use crate::{
    Failure, codes,
    commands::token::client,
    context::{Context, Ended, block_on},
};

pub(in crate::commands) fn rearm(context: &Context, name: &str) -> Result<(), Ended> {
    let cluster = context.cluster(None)?;
    let node = identity::by_name(&cluster, name)?;
    if !node.roles.contains(&Role::Master) {
        let message = format!("`{name}` is not a master, and the cluster's keys are for masters");
        return Err(Failure::usage(codes::NOTHING_TO_REARM, message).into());
    }
    let before: Admission = block_on(async {
        let client = client(context).await?;
        let before = admissions::read(&client).await?.of(name);
        admissions::rearm(&client, name, context.host.clock.now()).await?;
        Ok::<_, Ended>(before)
    })??;
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "armed": name, "given": before.given }))?);
    }
    let given = before.given.map_or_else(String::new, |given| {
        let machine = given.machine.as_deref().and_then(|id| id.get(..12)).unwrap_or("(unknown)");
        let when = jiff::Timestamp::from_second(given.when.into()).unwrap_or_default();
        format!("; they went to machine {machine} at {when}")
    });
    Ok(context.out.text(&format!("one more machine may become {name} and get the cluster's keys{given}\n"))?)
}
