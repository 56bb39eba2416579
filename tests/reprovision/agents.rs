//! The same without a pod: the master's agent is the controller, and each node's agent the door.

use crate::{
    MASTER, api, machine, node, rhel,
    support::{Check, Cluster, eventually},
    untold,
};

pub(crate) const CHECKS: &[Check] =
    &[("rhel stand-in: the agents do it without a pod, for a worker and for the only master", without_pods)];

fn without_pods(cluster: &Cluster) {
    by_agents(cluster);
    rhel::done(cluster);
    assert_no_pods(cluster);
    the_only_master(cluster);
    assert_no_pods(cluster);
    by_pods(cluster);
}

/// As the guide says to change from pods to agents.
fn by_agents(cluster: &Cluster) {
    let pods = "deployment/ipb-controller daemonset/ipb-daemonset";
    cluster.sh(MASTER, &format!("kubectl delete -n ipb-system {pods} --ignore-not-found --timeout=60s"));
    let line = "blackstart reprovision manifests --agents | kubectl apply --server-side -f - 2>&1";
    let applied = cluster.sh(MASTER, line);
    assert!(!applied.contains("Warning"), "{applied}");
    await_leader(cluster, "agent-master-01");
}

/// The lab is left as it was found.
fn by_pods(cluster: &Cluster) {
    cluster.kubectl(&["delete", "configmap", "-n", "ipb-system", "ipb-agents"]);
    cluster.sh(MASTER, "blackstart reprovision manifests | kubectl apply --server-side -f - 2>&1");
    await_leader(cluster, "ipb-controller-");
}

fn await_leader(cluster: &Cluster, prefix: &str) {
    eventually(&format!("{prefix} leads"), || {
        let lease =
            cluster.try_kubectl(&["get", "lease", "-n", "ipb-system", "-l", "app=ipb-controller", "-o", "json"]);
        let leases: serde_json::Value = serde_json::from_str(&lease.out).unwrap_or_default();
        leases["items"][0]["spec"]["holderIdentity"].as_str().is_some_and(|holder| holder.starts_with(prefix))
    });
}

#[track_caller]
fn assert_no_pods(cluster: &Cluster) {
    let pods = cluster.get(&["pods,deployments,daemonsets", "-n", "ipb-system"]);
    assert!(pods.is_empty(), "{pods:#?}");
}

/// Its API goes down with it, and the controller: all goes on by itself.
fn the_only_master(cluster: &Cluster) {
    machine::prepare_one(cluster, MASTER);
    rhel::afresh(cluster);
    cluster.sh(MASTER, "rm -f /root/stages; echo old > /etc/declared");
    let (boot, attempt) = (cluster.lab.boot(MASTER), node::attempt_of(cluster, MASTER));
    api::secret(cluster, node::KEYS);
    cluster.sh(MASTER, &format!("blackstart reprovision start {MASTER} --secret {}", node::KEYS));
    let status = node::await_end_of(cluster, MASTER, "Done", attempt);
    assert_ne!(cluster.lab.boot(MASTER), boot, "the machine was rebooted");
    assert_eq!(status["to"], "4.18-stand-in");
    let stages = cluster.sh(MASTER, "cat /root/stages");
    let [first, second] = &stages.lines().collect::<Vec<_>>()[..] else { unreachable!("{stages}") };
    assert_eq!(*first, "stage 1 of w-1 c-1 eu-de kubelet=active");
    assert_eq!(*second, "stage 2 of w-1 c-1 eu-de kubelet=inactive", "the second one comes before the kubelet");
    assert_eq!(cluster.sh(MASTER, "cat /etc/declared"), "new");
    assert_eq!(machine::packages_of(cluster, MASTER), "shell-1 stand-in-kubelet-1 tool-2");
    node::assert_given_back_of(cluster, MASTER);
    untold::assert_untold_of(cluster, MASTER);
    await_leader(cluster, "agent-master-01");
    cluster.await_ready(&Cluster::MACHINES);
    cluster.sh(MASTER, "dnf -qy remove stand-in-kubelet tool shell; rm -f /root/stages /etc/declared");
    cluster.kubectl(&["delete", "nodeupgrade", MASTER, "--timeout=60s"]);
}
