//! What can be wrong between values: a registry of pure functions from a [`Draft`] to problems.
//!
//! To add a check: a function in the file of its subject (or a new file), a line in [`CHECKS`], a code, and a bad input
//! under tests/bad. A check takes at most `n log n` steps and says nothing about a value that is not there: the reader
//! has reported that one already.

mod add_on;
mod api;
mod bootstrap_node;
mod ceph;
mod duplicates;
mod families;
mod identity;
mod node_files;
mod node_network;
mod osds;
mod overlap;
mod pods;
mod roles;
mod services;
mod token;

use crate::{draft::Draft, problems::Problems};

type Check = fn(&Draft<'_>, &mut Problems<'_>);

const CHECKS: &[Check] = &[
    roles::lists_are_not_empty,
    roles::are_listed_once,
    roles::there_is_a_master,
    roles::masters_are_odd,
    bootstrap_node::has_no_other_role,
    bootstrap_node::is_the_only_one,
    bootstrap_node::has_masters_to_hand_over_to,
    bootstrap_node::has_no_kms_plugin,
    duplicates::names,
    duplicates::hostnames,
    duplicates::addresses,
    duplicates::macs,
    duplicates::dmi_uuids,
    duplicates::dmi_serials,
    node_network::given_once,
    node_network::prefix_fits_the_family,
    node_network::gateway_is_a_host,
    node_network::addresses_are_hosts,
    families::are_not_mixed,
    overlap::networks_are_apart,
    pods::prefix_divides_the_network,
    pods::network_is_large_enough,
    services::size_is_possible,
    api::port_is_free,
    add_on::manifest_fits,
    token::is_not_in_the_file,
    ceph::has_a_monitor,
    ceph::has_a_manager,
    ceph::monitors_are_odd,
    ceph::monitors_are_in_the_public_network,
    ceph::settings_are_used,
    osds::are_listed_where_the_role_is,
    osds::have_one_store_each,
    osds::share_no_store,
    osds::hold_every_copy,
    identity::every_machine_can_be_distinguished,
    node_files::are_named_after_their_node,
    node_files::are_one_per_node,
    node_files::belong_to_a_listed_node,
    node_files::agree_with_the_cluster,
];

/// Runs every check.
pub(crate) fn run(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    for check in CHECKS {
        check(draft, problems);
    }
}

/// The codes that a description yields, with `nodes` as its list of nodes and `settings` inside `cluster:`.
#[cfg(test)]
fn codes_of(settings: &str, nodes: &str) -> Vec<&'static str> {
    let text = format!("cluster:\n  name: test\n{settings}nodes:\n{nodes}");
    let mut codes: Vec<_> =
        crate::check_text(&text).problems.iter().map(|problem| problem.diagnostic.code.id).collect();
    codes.retain(|id| *id != crate::codes::NO_IDENTITY.id);
    codes
}

/// A list of nodes of one master and `workers` workers.
#[cfg(test)]
fn some_nodes(workers: u32) -> String {
    use std::fmt::Write as _;
    let mut nodes = "  - {name: m, ip: 192.168.1.10, roles: [master]}\n".to_owned();
    for index in 0..workers {
        let ip = std::net::Ipv4Addr::from(u32::from_be_bytes([192, 168, 1, 20]) + index);
        writeln!(nodes, "  - {{name: w{index}, ip: {ip}, roles: [worker]}}").unwrap();
    }
    nodes
}
