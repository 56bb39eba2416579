//! `lab up` as a playbook: what there must be before machines can boot, then every machine at once, and at last that each
//! of them has become a node, which they do by themselves.

mod base;
mod bundle;
mod ceph;
mod components;
mod ids;
mod ignition;
mod machine;
mod network;
mod node;
mod packages;
mod render;
mod seal;

use std::sync::Arc;

use engine::{Playbook, PlaybookError};

use self::ids::{BASE_IMAGE, BUNDLE, CEPH_LAYER, COMPONENTS, IGNITION, NETWORK, PACKAGES, RENDER, SEAL};
use crate::Lab;

/// The playbook's name in ledger and events.
pub const NAME: &str = "lab";

/// All steps of a lab. `lab destroy` removes all that they make, without their ledger.
pub fn playbook(lab: &Arc<Lab>) -> Result<Playbook, PlaybookError> {
    let has_ceph = lab.machines.iter().any(|machine| machine.ceph);
    let mut all = Playbook::never_undone(NAME)
        .step(packages::Packages, &[])
        .step(base::BaseImage, &[PACKAGES])
        .step(network::Network::new(lab), &[PACKAGES])
        .step(bundle::Bundle, &[PACKAGES])
        .step(components::ComponentLayer::new(lab), &[BUNDLE])
        .step_if(has_ceph, ceph::CephLayer, &[BASE_IMAGE])
        .step_if(lab.is_ignited(), ignition::Ignition, &[PACKAGES])
        .step_if(lab.with_cluster, seal::Seal::new(lab), &[])
        .step_if(lab.with_cluster && lab.with_ignition, render::Render::new(lab), &[SEAL]);
    for record in &lab.machines {
        let machine = machine::Machine::new(lab, &record.name);
        all = all.step(machine, &[BASE_IMAGE, NETWORK, COMPONENTS, CEPH_LAYER, IGNITION, SEAL, RENDER]);
    }
    for record in lab.machines.iter().filter(|_| lab.with_cluster) {
        all = all.step(node::Node::new(lab, &record.name), &[ids::machine(&record.name)]);
    }
    all.build()
}
