//! Why a node does not work: `blackstart diagnose`.
//!
//! ```text
//! registry of checks ─► checks::run ─► findings ─► narrow: causes, and what follows from them
//! ```
//! A check reads one thing that commonly breaks; the crate `checks` describes what a check is. A finding is either a
//! *cause* (the evidence itself is what must be fixed) or a *symptom* (something does not work, and it does not show
//! why): `narrow` hides a symptom where a cause explains it, so that a full disk is reported as a full disk and not as
//! five services that crash.
//!
//! To add a cause: a file in `causes/` with a `CHECK`, its line in [`registry`], a code in `codes.rs`, and a case in
//! `tests/diagnose` that provokes it on a real machine. Command, documentation and `node up` follow from the registry.

mod bootstrap_node;
mod causes;
pub mod codes;
mod context;
mod listed;
mod narrow;
mod show;
#[cfg(test)]
mod testing;
mod unit;
mod view;

use std::time::Duration;

use checks::{Checking, End, Inconclusive};
pub use checks::{Finding, Kind, Part, Roles};
pub use context::Context;
pub use narrow::{Cause, Diagnosis, InconclusiveCheck};
pub use show::{list, show, show_likely_cause};

/// A check of one thing that commonly breaks.
pub type Check = checks::Check<Context>;

/// The whole diagnosis is there soon after: checks do not wait for each other.
const LIMIT: Duration = Duration::from_secs(12);

/// Runs the checks that are meant for this node.
pub async fn run(checks: impl IntoIterator<Item = &'static Check>, context: &Context) -> Diagnosis {
    let tenure = context.tenure().unwrap_or_default();
    let checks = checks.into_iter().filter(|check| bootstrap_node::is_meant(check.name, tenure));
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    for outcome in checks::run(checks, context, LIMIT, |_| None).await {
        match outcome.end {
            End::Checked(findings) => found.extend(findings),
            End::Inconclusive(why) | End::Skipped(why) => {
                unknown.push(InconclusiveCheck { check: outcome.check.to_owned(), why });
            }
        }
    }
    if tenure.is_some() {
        for finding in &mut found {
            finding.part = bootstrap_node::part(finding.part);
        }
    }
    narrow::narrow(found, unknown)
}

/// The name of the check of the last `node up`; a `node up` that failed leaves it out.
pub const ABOUT_NODE_UP: &str = causes::bootstrap::CHECK.name;

/// Everything that is looked at, in the order in which people read it: from the machine up to the workloads.
pub fn registry() -> &'static [Check] {
    &[
        causes::ignition::CHECK,
        causes::preflight::CHECK,
        causes::storage::CHECK,
        causes::clock::CHECK,
        causes::programs::CHECK,
        causes::memory::CHECK,
        causes::address::CHECK,
        causes::firewall::CHECK,
        causes::name_server::CHECK,
        causes::kernel_settings::CHECK,
        causes::stopped::CHECK,
        causes::changed::CHECK,
        causes::crash_loop::CHECK,
        causes::cgroup_driver::CHECK,
        causes::images::CHECK,
        causes::static_pods::CHECK,
        causes::pod_network::CHECK,
        causes::bootstrap::CHECK,
        causes::certificates::CHECK,
        causes::etcd::CHECK,
        causes::etcd_members::CHECK,
        causes::api_server::CHECK,
        causes::joining::CHECK,
        causes::pivot::silent::CHECK,
        causes::pivot::second::CHECK,
        causes::pivot::masters::CHECK,
        causes::pivot::hand_over::CHECK,
        causes::pivot::leader::CHECK,
        causes::pivot::member::CHECK,
        causes::pivot::lease::CHECK,
        causes::pivot::address::CHECK,
        causes::pivot::files::CHECK,
        causes::pivot::node::CHECK,
        causes::pivot::pods::CHECK,
        causes::encryption::CHECK,
        causes::requests::CHECK,
        causes::roles::CHECK,
        causes::node::CHECK,
        causes::pod_routes::CHECK,
        causes::service_table::CHECK,
        causes::cluster_dns::CHECK,
        causes::workloads::CHECK,
        causes::in_place::CHECK,
        causes::in_place::machine::CHECK,
        causes::ceph::daemons::CHECK,
        causes::ceph::quorum::CHECK,
        causes::ceph::health::CHECK,
    ]
}
