//! Name servers and package mirrors are gone: a node needs neither, and its cluster has names of its own.

use crate::{
    MASTER,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] = &[
    ("no name server and no way out: it becomes a node all the same", without_names),
    ("a list of name servers that is empty later on", empty_later),
];

/// No name server is listed, and the way out of the lab is closed. A file that is mounted cannot be replaced.
const GONE: &str = "umount /etc/resolv.conf 2>/dev/null; : > /run/no-names; mount --bind /run/no-names /etc/resolv.conf; \
    ip route replace blackhole default metric 1";
const BACK: &str = "umount /etc/resolv.conf; ip route del blackhole default metric 1";

/// The cluster's own name, as pods ask for it.
fn resolves(cluster: &Cluster) -> bool {
    cluster.try_sh(MASTER, "blackstart node up").out.contains("is a Ready node")
}

fn without_names(cluster: &Cluster) {
    cluster.sh(MASTER, GONE);
    let output = cluster.node_up(MASTER, "");
    assert!(output.code == Some(0) && output.out.contains("is a Ready node"), "{output:?}");
    cluster.await_ready(&[MASTER]);
    cluster.sh(MASTER, BACK);
    assert!(cluster.node_up(MASTER, "").ok().contains("nothing was changed"));
}

/// Pods of the DNS that start on a node without name servers.
fn empty_later(cluster: &Cluster) {
    cluster.sh(MASTER, GONE);
    cluster.kubectl(&["-n", "kube-system", "delete", "pods", "-l", "k8s-app=kube-dns", "--grace-period=0", "--force"]);
    cluster.kubectl(&["-n", "kube-system", "rollout", "status", "deployment/coredns", "--timeout=2m"]);
    eventually("the cluster's own names are resolved", || resolves(cluster));
    cluster.sh(MASTER, BACK);
}
