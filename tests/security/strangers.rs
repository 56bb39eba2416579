//! The join service, asked by those who hold nothing, or a token that more than one machine may have.

use join::wire::{ClaimedCredential, ClaimedRole};
use serde_json::Value;

use crate::{
    WORKER,
    support::{Check, Cluster, run},
};

pub(crate) const CHECKS: &[Check] = &[
    ("a stranger learns nothing of machines and members", hello),
    ("a token for anybody admits no master", master_with_a_shared_token),
    ("a token for any node admits none under a name that is in use", name_in_use),
    ("the token of the first start is a token for anybody", first_token),
];

/// Last: strangers at the worker's address have to wait for a minute afterwards.
pub(crate) const LOCKED_OUT: &[Check] = &[("strangers at a node's address do not lock out its agent", locked_out)];

/// More than the service hears from one address before it has to wait.
const TOO_MANY: u32 = 25;

fn locked_out(cluster: &Cluster) {
    let url = format!("https://{}:7444", cluster.ip("master-01"));
    let curl = "curl -sS --http1.1 -m 10 --cacert /etc/kubernetes/pki/ca.crt";
    let line = format!("for i in $(seq {TOO_MANY}); do {curl} -X POST {url}/v1/join -d ''; echo; done");
    let answers = cluster.sh(WORKER, &line);
    assert!(answers.contains("BS-JOIN-014"), "a stranger has to wait: {answers}");
    let report = format!("{} {url}/v1/report -d '{{}}'", crate::member::curl());
    let answer = cluster.sh(WORKER, &report);
    assert!(!answer.contains("BS-JOIN-"), "the agent is heard: {answer}");
}

fn hello(cluster: &Cluster) {
    let ca = cluster.sealed_dir("master-01").join("ca.crt").display().to_string();
    let id = cluster.sh("master-01", "tr -d '\\n' < /etc/machine-id | sha256sum | cut -d ' ' -f 1");
    for query in ["", &format!("?machine_id={id}")] {
        let url = format!("https://{}:7444/v1/hello{query}", cluster.ip("master-01"));
        let answer = run("curl", &["-sS", "-m", "20", "--cacert", &ca, &url]).ok();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert!(answer["challenge"].is_string(), "{answer}");
        for field in ["own_machine", "machine", "cluster_state"] {
            assert!(answer[field].is_null(), "{field}: {answer}");
        }
    }
}

fn master_with_a_shared_token(cluster: &Cluster) {
    let token = cluster.sh("master-01", "blackstart token create --ttl 10m");
    assert_eq!(join_with(cluster, &token, "master-01", ClaimedRole::Master), Err("BS-JOIN-033".to_owned()));
    revoke(cluster, &token);
}

fn name_in_use(cluster: &Cluster) {
    let token = cluster.sh("master-01", "blackstart token create --ttl 10m");
    let refused = join_with(cluster, &token, WORKER, ClaimedRole::Worker);
    assert!(refused.as_ref().is_err_and(|code| code.starts_with("BS-JOIN-04")), "{refused:?}");
    revoke(cluster, &token);
}

fn first_token(cluster: &Cluster) {
    let token = cluster.sh("master-01", "cat /var/lib/cluster-state/bootstrap-token");
    assert_eq!(join_with(cluster, &token, "master-01", ClaimedRole::Master), Err("BS-JOIN-033".to_owned()));
    assert!(join_with(cluster, &token, WORKER, ClaimedRole::Worker).is_err());
    assert_eq!(join_with(cluster, &token, "stranger", ClaimedRole::Worker), Err("BS-JOIN-005".to_owned()));
}

/// From the node's own address, where it has one.
fn join_with(cluster: &Cluster, token: &str, node: &str, role: ClaimedRole) -> Result<(), String> {
    let (id, secret) = token.split_once('.').unwrap();
    let mut request = cluster.join_request(node, ClaimedCredential::Token { id: id.to_owned() });
    request.role = role;
    request.prove(secret.as_bytes());
    cluster.send_from(if node == "stranger" { WORKER } else { node }, &request)
}

fn revoke(cluster: &Cluster, token: &str) {
    cluster.sh("master-01", &format!("blackstart token revoke {}", token.split_once('.').unwrap().0));
}
