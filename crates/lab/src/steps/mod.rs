//! `lab up` as a playbook: what there must be before machines can boot, then every machine at once, and at last that each
//! of them has become a node, which they do by themselves.

mod base;
mod bundle;
mod ceph;
mod components;
mod machine;
mod network;
mod node;
mod packages;
mod seal;

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
    let mut before = vec!["base-image", "network", "components"];
    if lab.machines.iter().any(|machine| machine.ceph) {
        all = all.step(ceph::CephLayer, &["base-image"])?;
        before.push("ceph-layer");
    }
    if lab.with_cluster {
        all = all.step(seal::Seal::new(lab), &[])?;
        before.push("seal");
    }
    for record in &lab.machines {
        all = all.step(machine::Machine::new(lab, &record.name), &before)?;
    }
    if lab.with_cluster {
        for record in &lab.machines {
            let machine = format!("machine-{}", record.name);
            all = all.step(node::Node::new(lab, &record.name), &[&machine])?;
        }
    }
    Ok(all)
}
