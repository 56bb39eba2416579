//! The units of this machine, with the moments they started.

use std::collections::BTreeMap;

use host::Cmd;
use nodekit::systemd;
pub(crate) use nodekit::systemd::Unit;

use crate::{Agent, AgentError};

/// Asks for these units.
pub(crate) fn show(units: &[&str]) -> Cmd {
    systemd::show(units).arg("--timestamp=us+utc")
}

/// These units by name; those that are not installed are left out.
pub(crate) async fn units(agent: &Agent, names: &[&str]) -> Result<BTreeMap<String, Unit>, AgentError> {
    let printed = agent.host.commands.run(&show(names)).await?.stdout;
    let installed = systemd::parse(&printed).into_iter().filter(|unit| unit.load != "not-found");
    Ok(installed.map(|unit| (unit.name.clone(), unit)).collect())
}
