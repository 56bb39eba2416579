//! `lab up` as a playbook: what there must be before machines can boot, and then every machine at once.

mod base;
mod bundle;
mod components;
mod machine;
mod network;
mod packages;

use std::sync::Arc;

use engine::{Playbook, PlaybookError};

use crate::Lab;

/// The playbook's name in ledger and events.
pub const NAME: &str = "lab";

/// All steps of a lab.
pub fn playbook(lab: &Arc<Lab>) -> Result<Playbook, PlaybookError> {
    let mut all = Playbook::new(NAME)
        .step(packages::Packages, &[])?
        .step(base::BaseImage, &["packages"])?
        .step(network::Network::new(lab), &["packages"])?
        .step(bundle::Bundle, &["packages"])?
        .step(components::ComponentLayer::new(lab), &["bundle"])?;
    for record in &lab.machines {
        all = all.step(machine::Machine::new(lab, &record.name), &["base-image", "network", "components"])?;
    }
    Ok(all)
}
