//! What can be done to the machine below the cluster.

use crate::case::{Case, Deed, MASTER};

pub(crate) const CASES: &[Case] = &[Case {
    name: "ip_forward off",
    machine: MASTER,
    provoke: Deed::Sh("sysctl -w net.ipv4.ip_forward=0"),
    codes: &["BS-DIAG-002"],
    tells: "ip_forward",
    mend: Deed::Sh("sysctl -w net.ipv4.ip_forward=1"),
    ..Case::PLAIN
}];
