//! Why a node does not work: `blackstart diagnose`.
//!
//! ```text
//! registry of looks ─► run: all at once, each within its limit ─► findings ─► narrow: causes, and what follows from them
//! ```
//! A look reads one thing that commonly breaks and tells what it found. It never changes anything. A finding is either a
//! *cause* (the evidence itself is what must be mended) or a *symptom* (something does not work, and why is not said by
//! it): `narrow` hides a symptom where a cause explains it, so that a full disk is told as a full disk and not as
//! five services that crash.
//!
//! To add a cause: a file in `causes/` with a `LOOK`, its line in [`registry`], a code in `codes.rs`, and a case in
//! `tests/diagnose` that provokes it on a real machine. Command, documentation and `node up` follow from the registry.

mod causes;
pub mod codes;
mod context;
mod finding;
mod look;
mod narrow;
mod part;
mod run;
mod show;
#[cfg(test)]
mod testing;
mod unit;
mod view;

pub use context::Context;
pub use finding::{Finding, Kind};
pub use look::{Look, Roles};
pub use narrow::{Cause, Diagnosis, Unseen};
pub use part::Part;
pub use run::run;
pub use show::{list, show, show_likely_cause};

/// Everything that is looked at, in the order in which people read it: from the machine up to the workloads.
pub fn registry() -> &'static [Look] {
    &[
        causes::preflight::LOOK,
        causes::storage::LOOK,
        causes::clock::LOOK,
        causes::programs::LOOK,
        causes::memory::LOOK,
        causes::address::LOOK,
        causes::firewall::LOOK,
        causes::name_server::LOOK,
        causes::kernel_settings::LOOK,
        causes::stopped::LOOK,
        causes::changed::LOOK,
        causes::crash_loop::LOOK,
        causes::cgroup_driver::LOOK,
        causes::images::LOOK,
        causes::pod_network::LOOK,
        causes::bootstrap::LOOK,
        causes::certificates::LOOK,
        causes::etcd::LOOK,
        causes::etcd_members::LOOK,
        causes::api_server::LOOK,
        causes::joining::LOOK,
        causes::encryption::LOOK,
        causes::requests::LOOK,
        causes::roles::LOOK,
        causes::node::LOOK,
        causes::pod_routes::LOOK,
        causes::service_table::LOOK,
        causes::cluster_dns::LOOK,
        causes::workloads::LOOK,
        causes::ceph::daemons::LOOK,
        causes::ceph::quorum::LOOK,
        causes::ceph::health::LOOK,
    ]
}
