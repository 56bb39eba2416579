//! The names of the steps.

use engine::StepId;

pub(super) const PACKAGES: StepId = StepId::new("packages");
pub(super) const BASE_IMAGE: StepId = StepId::new("base-image");
pub(super) const NETWORK: StepId = StepId::new("network");
pub(super) const BUNDLE: StepId = StepId::new("bundle");
pub(super) const COMPONENTS: StepId = StepId::new("components");
pub(super) const CEPH_LAYER: StepId = StepId::new("ceph-layer");
pub(super) const IGNITION: StepId = StepId::new("ignition");
pub(super) const RENDER: StepId = StepId::new("render");
pub(super) const SEAL: StepId = StepId::new("seal");

/// The step that boots this machine.
pub(super) fn machine(name: &str) -> StepId {
    StepId::named(format!("machine-{name}"))
}
