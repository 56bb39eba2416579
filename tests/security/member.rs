//! The join service, asked by a worker that is in the cluster and whose root is the attacker.

use serde_json::Value;

use crate::{
    WORKER,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] = &[
    ("a worker does not see what other nodes report", nodes),
    ("a cordoned and tainted worker does not shed both by leaving", leave),
];

fn nodes(cluster: &Cluster) {
    let answer = ask(cluster, "/v1/nodes", "");
    assert!(answer["nodes"].is_null() && answer["code"] == "BS-JOIN-017", "{answer}");
}

fn leave(cluster: &Cluster) {
    cluster.kubectl(&["cordon", WORKER]);
    cluster.kubectl(&["taint", "node", WORKER, "example.org/broken=yes:NoSchedule"]);
    let before = cluster.kubectl(&["get", "node", WORKER, "-o", "jsonpath={.metadata.uid}"]);
    let answer = ask(cluster, "/v1/leave", "-X POST");
    assert!(answer["code"].as_str().is_some_and(|code| code.starts_with("BS-JOIN-04")), "{answer}");
    cluster.sh(WORKER, "systemctl restart kubelet");
    eventually("the kubelet is back", || cluster.ready().contains(&WORKER.to_owned()));
    let node: Value = serde_json::from_str(&cluster.kubectl(&["get", "node", WORKER, "-o", "json"])).unwrap();
    assert_eq!(node["metadata"]["uid"], *before);
    assert_eq!(node["spec"]["unschedulable"], true, "{node}");
    assert!(node["spec"]["taints"].to_string().contains("example.org/broken"), "{node}");
    cluster.kubectl(&["taint", "node", WORKER, "example.org/broken-"]);
    cluster.kubectl(&["uncordon", WORKER]);
}

/// What the join service answers to the worker's agent.
fn ask(cluster: &Cluster, path: &str, arguments: &str) -> Value {
    let url = format!("https://{}:7444{path}", cluster.ip("master-01"));
    let answer = cluster.sh(WORKER, &format!("{} {arguments} {url}", curl()));
    serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

/// `curl` with the certificate of the machine's agent, for a shell on that machine.
pub(crate) fn curl() -> String {
    let part = |name: &str| format!("awk '/{name}/ {{print $2}}' /etc/kubernetes/agent.conf | base64 -d");
    format!(
        "umask 077; ({}; {}) > /run/agent.pem; curl -sS --http1.1 -m 20 --cacert /etc/kubernetes/pki/ca.crt --cert /run/agent.pem",
        part("client-certificate-data"),
        part("client-key-data")
    )
}
