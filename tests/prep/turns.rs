//! Few nodes are worked on at once, and one that is broken keeps no other.

use prep::{Prep, State, names};

use crate::{
    MASTER, WORKER,
    node::{await_whole, report, runs},
    pods::{ensure_applied, ensure_whole},
    reported::{events, in_status},
    support::{Check, Cluster, eventually, text},
};

/// The worker has no room for packages when the manifests are applied for the first time.
pub(crate) const BROKEN: &[Check] = &[("a node whose disk is full says so, and keeps no other", keeps_no_other)];

pub(crate) const CHECKS: &[Check] = &[("no two nodes are worked on at once where one is allowed", one_at_a_time)];

fn keeps_no_other(cluster: &Cluster) {
    ensure_applied(cluster);
    await_whole(cluster, MASTER, jiff::Timestamp::UNIX_EPOCH);
    eventually(&format!("{WORKER} says what failed"), || {
        report(cluster, WORKER, Prep::Iscsi).is_some_and(|report| report.state == State::Failed)
    });
    let report = report(cluster, WORKER, Prep::Iscsi).unwrap();
    let code = report.code().unwrap_or_default().to_owned();
    eprintln!("  {code}: {}", report.text.message());
    assert_eq!(code, "BS-PKG-005", "{report:?}");
    eventually(&format!("an Event of {WORKER} says {code}"), || events(cluster, WORKER).contains(&code));
    eventually(&format!("`prep status` says {code}"), || {
        in_status(cluster, WORKER, Prep::Iscsi)["code"] == code.as_str()
    });
    assert!(in_status(cluster, MASTER, Prep::Iscsi)["state"] == "incapable");
}

fn one_at_a_time(cluster: &Cluster) {
    ensure_whole(cluster);
    for prep in Prep::ALL {
        eventually(&format!("no node holds a slot for {prep}"), || holders(cluster, prep).is_empty());
        let (here, there) = (runs(cluster, MASTER, prep), runs(cluster, WORKER, prep));
        assert!(!here.is_empty() && !there.is_empty(), "{here:?} {there:?}");
        for one in &here {
            for other in &there {
                assert!(!one.overlaps(*other), "{prep}: {one:?} on {MASTER}, {other:?} on {WORKER}");
            }
        }
    }
}

/// Which nodes hold a slot, and which one.
pub(crate) fn holders(cluster: &Cluster, prep: Prep) -> Vec<(String, String)> {
    let leases = cluster.get(&["leases", "-n", "kube-system"]);
    let slots = leases.iter().filter(|lease| text(&lease["metadata"]["name"]).starts_with(&names::slots(prep).prefix));
    slots.map(|slot| (text(&slot["metadata"]["name"]), text(&slot["spec"]["holderIdentity"]))).collect()
}
