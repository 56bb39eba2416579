//! Copies of what a node holds are of no use: an older secret, a revoked one, a master's without its claim, a living node's.
//!
//! Needs master-01 and two workers that are Ready. It leaves them so.

use std::fs;

use join::{
    Claim, NodeSecret,
    wire::{Hello, JoinRequest, MasterRequest},
};
use secrecy::ExposeSecret;
use serde_json::Value;

use crate::support::{Check, Cluster, PROGRAM, eventually, run};

pub(crate) const CHECKS: &[Check] = &[
    ("a living node is not taken over, and both machines are named", taken_over),
    ("the cluster's keys go to one machine of a name, until it is armed again", second_claim),
    ("a secret is worthless once a newer one was used", old_generation),
    ("who is revoked is out, and in again when it is sealed again", revoked),
];

const VICTIM: &str = "worker-02";

/// What a thief on the node's address sends with a copy of its secret.
fn request(cluster: &Cluster, node: &str, secret: &NodeSecret, machine: String) -> JoinRequest {
    let mut request = cluster.join_request(node, secret.claimed());
    request.machine_id = Some(machine);
    request.prove(secret.bytes().expose_secret());
    request
}

/// What a machine on a master's address sends for the cluster's keys, still without its proof.
fn master_request(of: &Cluster, node: &str, claim: &Claim) -> MasterRequest {
    let Hello { cluster, challenge, .. } = of.hello();
    MasterRequest {
        cluster,
        node: node.to_owned(),
        credential: of.secret(node).claimed(),
        challenge,
        machine_id: Some(of.machine_id(node)),
        claim: claim.hash(),
        proof: String::new(),
    }
}

fn join_as(cluster: &Cluster, node: &str, secret: &NodeSecret) -> Result<(), String> {
    cluster.send_from(node, &request(cluster, node, secret, cluster.machine_id(node)))
}

/// A newer secret for a node, in the lab's own sealed directory.
fn seal_again(cluster: &Cluster, node: &str) -> NodeSecret {
    let [config, out] = ["config", "sealed"].map(|name| cluster.lab.dir().join(name).display().to_string());
    run(PROGRAM, &["config", "seal", &config, "--out", &out, "--expires", "never", "--renew", node]).ok();
    cluster.secret(node)
}

/// Brings the newest secret to its node.
fn bring_secret(cluster: &Cluster, node: &str) {
    let text = fs::read(cluster.sealed_dir(node).join("join-secret")).unwrap();
    cluster.lab.feed("exec", &[node, "--", "sh", "-c", "cat > /etc/cluster-config/join-secret"], &text).ok();
}

fn taken_over(cluster: &Cluster) {
    let own = cluster.machine_id(VICTIM);
    let thief = join::machine_id("the thief's");
    let request = request(cluster, VICTIM, &cluster.secret(VICTIM), thief.clone());
    let answer = cluster.post_from(VICTIM, "/v1/join", &serde_json::to_vec(&request).unwrap());
    assert_eq!(answer["code"], "BS-JOIN-062", "{answer}");
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains(&own[..12]) && message.contains(&thief[..12]), "{message}");
    assert_eq!(answer["retryable"], true, "a machine that was re-imaged gets in when the old one is gone");
    assert_eq!(join_as(cluster, VICTIM, &cluster.secret(VICTIM)), Ok(()), "it may itself");
}

fn second_claim(cluster: &Cluster) {
    let keys = |claim: &Claim| -> Value {
        let mut request = master_request(cluster, "master-01", claim);
        request.prove(cluster.secret("master-01").bytes().expose_secret());
        cluster.post_from("master-01", "/v1/master", &serde_json::to_vec(&request).unwrap())
    };
    let [thief, new] = [(), ()].map(|()| Claim::generate().unwrap());
    let answer = keys(&thief);
    assert_eq!(answer["code"], "BS-JOIN-061", "{answer}");
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains(&cluster.machine_id("master-01")[..12]) && message.contains(" at 20"), "{message}");
    assert!(answer["hint"].as_str().unwrap().contains("blackstart node rearm master-01"), "{answer}");
    cluster.sh("master-01", "systemctl restart blackstart-agent");
    eventually("it is remembered after a restart", || keys(&thief)["code"] == "BS-JOIN-061");

    cluster.sh("master-01", "blackstart node rearm master-01");
    assert!(keys(&new)["envelope"].is_string(), "one more");
    assert_eq!(keys(&thief)["code"], "BS-JOIN-061", "and only one");
}

fn old_generation(cluster: &Cluster) {
    let old = cluster.secret(VICTIM);
    assert_eq!(join_as(cluster, VICTIM, &old), Ok(()));
    let new = seal_again(cluster, VICTIM);
    assert!(new.generation > old.generation);
    assert_eq!(join_as(cluster, VICTIM, &old), Ok(()), "the newer one was not used yet");
    assert_eq!(join_as(cluster, VICTIM, &new), Ok(()));
    assert_eq!(join_as(cluster, VICTIM, &old), Err("BS-JOIN-060".to_owned()));
    assert_eq!(join_as(cluster, VICTIM, &new), Ok(()));
    bring_secret(cluster, VICTIM);
}

fn revoked(cluster: &Cluster) {
    let stolen = cluster.secret(VICTIM);
    let output = cluster.sh("master-01", &format!("blackstart config revoke {VICTIM} --yes"));
    assert!(
        output.contains("is worthless") && output.contains(&format!("blackstart node remove {VICTIM}")),
        "{output}"
    );
    assert_eq!(join_as(cluster, VICTIM, &stolen), Err("BS-JOIN-060".to_owned()));
    eventually("its agent is not heard any more", || {
        cluster.journal("master-01", "blackstart-agent").contains("BS-JOIN-063")
    });
    cluster.sh(VICTIM, "blackstart node reset --yes");
    let refused = cluster.node_up(VICTIM, "");
    refused.refused(1, "BS-JOIN-060");
    assert!(refused.err.contains(&format!("blackstart config seal --renew {VICTIM}")), "{refused:?}");

    seal_again(cluster, VICTIM);
    bring_secret(cluster, VICTIM);
    cluster.node_up(VICTIM, "").ok();
    eventually("it is Ready", || cluster.ready().contains(&VICTIM.to_owned()));
    assert_eq!(join_as(cluster, VICTIM, &stolen), Err("BS-JOIN-060".to_owned()), "the copy stays worthless");
}
