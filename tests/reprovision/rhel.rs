//! The driver `rhel` from the label to the end, on a machine that stands in for RHEL.

use std::time::Instant;

use crate::{
    MASTER, WORKER, api, machine, node,
    support::{Check, Cluster, eventually},
    untold,
};

pub(crate) const CHECKS: &[Check] =
    &[("rhel stand-in: two stages with a reboot between, and the node is what it was to others", done)];

pub(crate) const IN_TURN: &[Check] = &[
    ("rhel stand-in: a label that is added again does nothing twice", once),
    ("rhel stand-in: a payload that fails goes back, and the node is given back", failing),
    ("rhel stand-in: power loss in the middle of stage 1 ends well", power_loss),
];

/// Both stages note that they ran and for how long; the second one that no kubelet runs beside it.
const PAYLOAD: &str = r#"#!/bin/bash
set -eu
began=$(date +%s%N)
trap 'echo $((($(date +%s%N) - began) / 1000000)) >> /root/milliseconds' EXIT
echo "stage $BOOTSTRAP_STAGE of $WORKER_ID $CLUSTER_ID $REGION kubelet=$(systemctl is-active kubelet || true)" >> /root/stages
case $BOOTSTRAP_STAGE in
1)
    dnf -qy upgrade tool
    echo new > /etc/declared
    sleep 1
    if [ -e /run/hold ]; then sleep 600; fi
    ;;
2)
    dnf -qy install stand-in-kubelet
    if [ -e /root/slow ]; then sleep 5; fi
    test ! -e /root/fail
    ;;
esac
"#;

fn payload(cluster: &Cluster) {
    api::give(cluster, &[("bootstrap.sh", PAYLOAD), ("files", "/etc/declared\n"), ("version", "4.18-stand-in\n")]);
}

pub(crate) fn stages(cluster: &Cluster) -> Vec<String> {
    cluster.sh(WORKER, "cat /root/stages 2>/dev/null || true").lines().map(str::to_owned).collect()
}

/// A machine as it was before the first payload.
pub(crate) fn afresh(cluster: &Cluster) {
    cluster.sh(
        WORKER,
        "rm -f /root/stages /root/milliseconds /run/hold /root/fail /root/slow; echo old > /etc/declared
        dnf -qy remove stand-in-kubelet; dnf -qy install tool-1 || dnf -qy downgrade tool-1",
    );
    assert_eq!(machine::packages(cluster), "shell-1 tool-1");
    api::calls(cluster);
    api::progress(cluster);
    payload(cluster);
}

#[track_caller]
pub(crate) fn assert_upgraded(cluster: &Cluster) {
    assert_eq!(machine::packages(cluster), "shell-1 stand-in-kubelet-1 tool-2");
    assert_eq!(cluster.sh(WORKER, "cat /etc/declared"), "new");
}

pub(crate) fn done(cluster: &Cluster) {
    afresh(cluster);
    cluster.kubectl(&["label", "node", WORKER, "disk=fast", "--overwrite"]);
    cluster.kubectl(&["taint", "node", WORKER, "dedicated=db:PreferNoSchedule", "--overwrite"]);
    let (boot, attempt) = (cluster.lab.boot(WORKER), node::attempt(cluster));
    let watch = untold::Watch::begin(cluster);
    let began = node::start(cluster);
    let status = node::await_end(cluster, "Done", attempt);
    assert_quick(cluster, began);
    assert_ne!(cluster.lab.boot(WORKER), boot, "the machine was rebooted");
    assert_eq!(status["to"], "4.18-stand-in");
    let [first, second] = &stages(cluster)[..] else { unreachable!("{:?}", stages(cluster)) };
    assert_eq!(first, "stage 1 of w-1 c-1 eu-de kubelet=active");
    assert_eq!(second, "stage 2 of w-1 c-1 eu-de kubelet=inactive", "the second one comes before the kubelet");
    assert_upgraded(cluster);
    node::assert_given_back(cluster);
    let node = node::node(cluster);
    assert_eq!(node["metadata"]["labels"]["disk"], "fast");
    assert!(node["spec"]["taints"].as_array().unwrap().iter().any(|taint| taint["key"] == "dedicated"), "{node:#}");
    let payloads = api::calls(cluster).into_iter().filter(|call| call.starts_with("GET /payload")).collect::<Vec<_>>();
    assert_eq!(payloads, ["GET /payload?workerID=w-1&clusterID=c-1&region=eu-de 200"], "fetched once");
    eventually("the Secret is gone when it is no longer needed", || {
        cluster.try_kubectl(&["get", "secret", "-n", "ipb-system", "ipb-worker-01"]).err.contains("NotFound")
    });
    let told = api::progress(cluster);
    let phases: Vec<&str> = told.iter().map(|event| event["data"]["phase"].as_str().unwrap()).collect();
    assert_eq!(phases.last(), Some(&"Done"), "{phases:?}");
    assert!(phases.contains(&"Rebooting"), "told while the node was down: {phases:?}");
    untold::assert_untold(cluster);
    watch.end();
    untold::assert_not_gathered(cluster);
}

/// From the label to the end, without what the payload itself has taken.
fn assert_quick(cluster: &Cluster, began: Instant) {
    let all = began.elapsed().as_secs_f64();
    let noted = cluster.sh(WORKER, "cat /root/milliseconds");
    let payload = noted.lines().map(|line| line.parse::<f64>().unwrap() / 1000.0).sum::<f64>();
    assert_eq!(noted.lines().count(), 2, "both stages: {noted}");
    eprintln!("label to Done: {all:.1} s, of which the payload {payload:.1} s: {:.1} s beyond it", all - payload);
    // 25 s on a machine that does nothing else.
    assert!(all - payload < 120.0, "{all} s and {payload} s");
}

fn once(cluster: &Cluster) {
    afresh(cluster);
    let attempt = node::attempt(cluster);
    node::start(cluster);
    let begun = Instant::now();
    let mut labelled = 0;
    while node::object(cluster)["status"]["phase"] != "Done" || node::attempt(cluster) == attempt {
        assert!(begun.elapsed().as_secs() < 200, "{:#}", node::object(cluster));
        let phase = node::object(cluster)["status"]["phase"].as_str().unwrap_or_default().to_owned();
        // Before the node is armed the label is the first wish itself.
        if ["Applying", "Rebooting", "Gating"].contains(&phase.as_str()) {
            cluster.try_kubectl(&["label", "node", WORKER, "ibm-cloud.kubernetes.io/ipb-schedule=true", "--overwrite"]);
            labelled += 1;
        }
    }
    eprintln!("labelled again {labelled} times");
    assert!(labelled > 0);
    assert_eq!(stages(cluster).len(), 2, "{:?}", stages(cluster));
    assert_eq!(node::attempt(cluster), attempt + 1);
    assert_upgraded(cluster);
    cluster.kubectl(&["label", "node", WORKER, "ibm-cloud.kubernetes.io/ipb-schedule-"]);
}

fn failing(cluster: &Cluster) {
    afresh(cluster);
    cluster.sh(WORKER, "touch /root/fail");
    let attempt = node::attempt(cluster);
    node::start(cluster);
    let status = node::await_end(cluster, "RolledBack", attempt);
    let output = cluster.try_sh(MASTER, "blackstart reprovision status");
    assert_eq!(output.code, Some(4), "{output:?}");
    let output = output.out;
    assert!(output.contains("RolledBack") && output.contains("BS-IPB-"), "{output}");
    assert!(status["failure"]["message"].as_str().unwrap().contains("stage"), "{status:#}");
    assert_eq!(machine::packages(cluster), "shell-1 tool-1", "packages as they were");
    assert_eq!(cluster.sh(WORKER, "cat /etc/declared"), "old", "declared files as they were");
    node::assert_given_back(cluster);
    untold::assert_untold(cluster);
}

fn power_loss(cluster: &Cluster) {
    afresh(cluster);
    cluster.sh(WORKER, "touch /run/hold");
    let attempt = node::attempt(cluster);
    node::start(cluster);
    eventually("stage 1 is in its middle", || machine::packages(cluster).contains("tool-2"));
    cluster.lab.run("kill", &[WORKER]).ok();
    cluster.lab.up(1, 2).ok();
    // What holds it was in memory: the next boot goes on by itself, before the kubelet.

    node::await_end(cluster, "Done", attempt);
    let first: Vec<String> = stages(cluster).into_iter().filter(|line| line.starts_with("stage 1")).collect();
    assert!(first.len() == 2 && first[1].ends_with("kubelet=inactive"), "{first:?}");
    assert_upgraded(cluster);
    node::assert_given_back(cluster);
}
