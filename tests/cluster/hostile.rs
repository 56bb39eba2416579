//! Requests that no honest node makes to the join service: refused, each with its code. (Those to the API: see the suite `security`.)

use join::{
    Generation,
    wire::{ClaimedCredential, ClaimedRole},
};
use secrecy::ExposeSecret;

use crate::support::{Check, Cluster, eventually};

pub(crate) const CHECKS: &[Check] = &[
    ("a node's secret is good for no other name", other_names),
    ("a node's secret is good from its own address only", other_address),
    ("a worker does not become a master by saying so", other_role),
    ("a recorded request is refused", replay),
    ("an address that fails too often has to wait", too_often),
];

/// The secret of a node, as it names it; that of a stranger as it might.
fn own(cluster: &Cluster, node: &str) -> ClaimedCredential {
    if cluster.sealed_dir(node).exists() {
        return cluster.secret(node).claimed();
    }
    ClaimedCredential::NodeSecret { node: node.to_owned(), generation: Generation(1), expires: 0 }
}

fn other_names(cluster: &Cluster) {
    let secret = cluster.secret("worker-01");
    for claimed in ["worker-02", "master-01", "stranger"] {
        let request = cluster.join_request(claimed, own(cluster, "worker-01"));
        assert_eq!(cluster.send_proved(request, &secret), Err("BS-JOIN-004".to_owned()), "{claimed}");
        let request = cluster.join_request(claimed, own(cluster, claimed));
        assert_eq!(cluster.send_proved(request, &secret), Err("BS-JOIN-002".to_owned()), "{claimed}");
    }
    assert_logged(cluster, "BS-JOIN-004");
    assert_logged(cluster, "BS-JOIN-002");
}

fn other_address(cluster: &Cluster) {
    forget_failures(cluster);
    let request = cluster.join_request("worker-01", own(cluster, "worker-01"));
    assert_eq!(cluster.send_proved(request, &cluster.secret("worker-01")), Err("BS-JOIN-007".to_owned()));
    assert_logged(cluster, "BS-JOIN-007");
}

fn other_role(cluster: &Cluster) {
    let mut request = cluster.join_request("worker-01", own(cluster, "worker-01"));
    request.role = ClaimedRole::Master;
    assert_eq!(cluster.send_proved(request, &cluster.secret("worker-01")), Err("BS-JOIN-006".to_owned()));
    // Not even who knows a master's secret gets in as a worker under its name.
    let request = cluster.join_request("master-01", own(cluster, "master-01"));
    assert_eq!(cluster.send_proved(request, &cluster.secret("master-01")), Err("BS-JOIN-006".to_owned()));
    assert_logged(cluster, "BS-JOIN-006");
}

fn replay(cluster: &Cluster) {
    let mut recorded = cluster.join_request("worker-01", own(cluster, "worker-01"));
    recorded.machine_id = Some(cluster.machine_id("worker-01"));
    recorded.prove(cluster.secret("worker-01").bytes().expose_secret());
    assert_eq!(cluster.send_from("worker-01", &recorded), Ok(()));
    assert_eq!(cluster.send_from("worker-01", &recorded), Err("BS-JOIN-009".to_owned()));
    assert_logged(cluster, "BS-JOIN-009");
    assert!(cluster.send_from("worker-02", &recorded).is_err());
    "worker-02".clone_into(&mut recorded.node);
    assert_eq!(cluster.send_from("worker-02", &recorded), Err("BS-JOIN-002".to_owned()), "changed on the way");
}

fn too_often(cluster: &Cluster) {
    let request = cluster.join_request("stranger", own(cluster, "stranger"));
    eventually("it is asked to wait", || cluster.send(&request) == Err("BS-JOIN-014".to_owned()));
    assert_logged(cluster, "BS-JOIN-014");
    let honest = cluster.sh("worker-01", "systemctl restart blackstart-agent && systemctl is-active blackstart-agent");
    assert_eq!(honest, "active", "others are not concerned");
    forget_failures(cluster);
}

/// The agent remembers them in memory only.
fn forget_failures(cluster: &Cluster) {
    cluster.sh("master-01", "systemctl restart blackstart-agent");
    eventually("the join service is back", || {
        cluster.try_sh("master-01", "ss -ltnH | grep -q ':7444 '").code == Some(0)
    });
}

#[track_caller]
fn assert_logged(cluster: &Cluster, code: &str) {
    let journal = cluster.journal("master-01", "blackstart-agent");
    assert!(journal.contains(code), "{code} in:\n{journal}");
}
