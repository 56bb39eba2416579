//! `blackstart reprovision preflight`: all checks of a node, by hand.

use std::path::Path;

use ::reprovision::{Secret, by_hand};
use serde_json::json;
use upgrades::Driver;

use super::keys;
use crate::{
    Exit, Failure,
    cli::DriverName,
    context::{Context, Ended, block_on_until_signal},
    progress::busy,
};

/// What the node would be refused for is no failure of this command.
const REFUSED: Exit = Exit::Other(3);

pub(super) fn run(context: &Context, driver: DriverName, dir: &Path) -> Result<(), Ended> {
    let driver = match driver {
        DriverName::Rhcos => Driver::Rhcos,
        DriverName::Rhel => Driver::Rhel,
    };
    let (secret, name) = (Secret::new(keys(dir)?), dir.display().to_string());
    tls::install_provider();
    let found = busy(context.out, "checking this node", || {
        block_on_until_signal(async {
            let found = by_hand::preflight(driver, secret, &name, &context.host).await;
            Ok(found.map_err(Failure::from)?)
        })
    })?;
    if context.out.is_json() {
        let by_hand::Preflight { problems, warnings, described } = &found;
        context
            .out
            .json(&json!({ "driver": driver, "problems": problems, "warnings": warnings, "seen": described }))?;
    } else {
        context.out.text(&by_hand::show(&found))?;
    }
    if found.problems.is_empty() { Ok(()) } else { Err(Ended::Reported(REFUSED)) }
}
