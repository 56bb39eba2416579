//! `blackstart reprovision status`: a row for each node that is or was worked on.

use std::path::Path;

use super::ask;
use crate::{
    Exit,
    context::{Context, Ended},
};

pub(super) fn run(context: &Context, node: Option<&str>, kubeconfig: Option<&Path>) -> Result<(), Ended> {
    let objects = ask(context, kubeconfig, async |client| upgrades::list(&client, node).await)?;
    if context.out.is_json() {
        context.out.json(&objects)?;
    } else {
        context.out.text(&upgrades::table(&objects, context.host.clock.now()))?;
    }
    match upgrades::exit_code(&objects) {
        0 => Ok(()),
        code => Err(Ended::Reported(Exit::Other(code))),
    }
}
