//! Who does not belong is not let in: a code on both sides, and nothing is left behind.
//!
//! worker-01 has never joined. Each check gives it something wrong and looks; the last one gives it what is right.

use std::fs;

use nodekit::run_record::Outcome;

use crate::support::{Check, Cluster, CommandOutput, PROGRAM, eventually, run};

pub(crate) const CHECKS: &[Check] = &[
    ("a token that was never made", unknown_token),
    ("a token with a wrong secret", wrong_token),
    ("a token that was revoked", revoked_token),
    ("a token that has expired", expired_token),
    ("a sealed secret that has expired", expired_secret),
    ("a sealed secret of another node", secret_of_another),
    ("a CA that does not fit its pin", exchanged_ca),
    ("a sealed directory of another cluster", other_cluster),
    ("a machine that says it is another node", another_name),
    ("with the right directory it joins", joins_at_last),
];

const WORKER: &str = "worker-01";

fn unknown_token(cluster: &Cluster) {
    let output = up_with_token(cluster, "abcdef.0123456789abcdef");
    assert_refused(cluster, &output, "BS-JOIN-001");
    assert_logged(cluster, "BS-JOIN-001");
}

fn wrong_token(cluster: &Cluster) {
    let token = cluster.sh("master-01", "blackstart token create");
    let (id, _) = token.split_once('.').unwrap();
    assert_refused(cluster, &up_with_token(cluster, &format!("{id}.0123456789abcdef")), "BS-JOIN-002");
    assert_logged(cluster, "BS-JOIN-002");
}

fn revoked_token(cluster: &Cluster) {
    let token = cluster.sh("master-01", "blackstart token create --node worker-01");
    let (id, _) = token.split_once('.').unwrap();
    assert!(cluster.sh("master-01", "blackstart token list").contains(id));
    cluster.sh("master-01", &format!("blackstart token revoke {id}"));
    assert!(!cluster.sh("master-01", "blackstart token list").contains(id));
    let output = up_with_token(cluster, &token);
    assert_refused(cluster, &output, "BS-JOIN-001");
    assert!(output.err.contains(&format!("there is no token `{id}`")), "{output:?}");
}

fn expired_token(cluster: &Cluster) {
    let token = cluster.sh("master-01", "blackstart token create --ttl 1s");
    let (id, _) = token.split_once('.').unwrap();
    eventually("the token is over", || {
        let list = cluster.sh("master-01", "blackstart token list");
        list.lines().find(|line| line.starts_with(id)).is_some_and(|line| line.contains("(over)"))
    });
    assert_refused(cluster, &up_with_token(cluster, &token), "BS-JOIN-003");
    assert_logged(cluster, "BS-JOIN-003");
}

fn expired_secret(cluster: &Cluster) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().display().to_string();
    // Sealed with the keys of this cluster, which are in the first master's directory.
    run("cp", &["-a", &cluster.sealed_dir("master-01").display().to_string(), &out]).ok();
    let config = cluster.lab.dir().join("config").display().to_string();
    run(PROGRAM, &["config", "seal", &config, "--out", &out, "--expires", "1s"]).ok();
    cluster.bring(&dir.path().join(WORKER), WORKER);
    let end = cluster.sh(WORKER, "date +%s").parse::<u64>().unwrap() + 2;
    eventually("the secret is over", || cluster.sh(WORKER, "date +%s").parse::<u64>().unwrap() > end);
    assert_refused(cluster, &cluster.node_up(WORKER, ""), "BS-JOIN-003");
    assert_logged(cluster, "BS-JOIN-003");
}

fn secret_of_another(cluster: &Cluster) {
    cluster.bring(&cluster.sealed_dir(WORKER), WORKER);
    let other = fs::read(cluster.sealed_dir("worker-02").join("join-secret")).unwrap();
    let write = ["worker-01", "--", "sh", "-c", "cat > /etc/cluster-config/join-secret"];
    cluster.lab.feed("exec", &write, &other).ok();
    assert_refused(cluster, &cluster.node_up(WORKER, ""), "BS-JOIN-004");
    assert_logged(cluster, "BS-JOIN-004");
}

fn exchanged_ca(cluster: &Cluster) {
    cluster.bring(&cluster.sealed_dir(WORKER), WORKER);
    let make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=other -keyout /dev/null \
                -out /etc/cluster-config/ca.crt 2>/dev/null";
    cluster.sh(WORKER, make);
    assert_refused(cluster, &cluster.node_up(WORKER, ""), "BS-JOIN-031");
}

fn other_cluster(cluster: &Cluster) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("sealed");
    let config = cluster.lab.dir().join("config").display().to_string();
    run(PROGRAM, &["config", "seal", &config, "--out", &out.display().to_string()]).ok();
    cluster.bring(&out.join(WORKER), WORKER);
    assert_refused(cluster, &cluster.node_up(WORKER, ""), "BS-JOIN-020");
    // It never gets as far as a request, and the master logs all the same which node did not trust it.
    assert_logged(cluster, "BS-JOIN-020");
    let journal = cluster.journal("master-01", "blackstart-agent");
    let is_it = |line: &str| line.contains("BS-JOIN-020") && line.contains("node=\"worker-01\"");
    assert!(journal.lines().any(is_it), "{journal}");
}

/// It would have to take the other's address too, and says so before it asks anybody.
fn another_name(cluster: &Cluster) {
    cluster.bring(&cluster.sealed_dir("worker-02"), WORKER);
    let uid = ["get", "node", "worker-02", "-o", "jsonpath={.metadata.uid}"];
    let before = cluster.kubectl(&uid);
    let output = cluster.node_up(WORKER, "--node worker-02");
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.err.contains("BS-NET-001"), "{output:?}");
    assert_nothing_left(cluster);
    assert_eq!(cluster.kubectl(&uid), before);
    cluster.await_ready(&["master-01", "worker-02"]);
}

fn joins_at_last(cluster: &Cluster) {
    cluster.install(&cluster.sealed_dir(WORKER), WORKER);
    cluster.await_ready(&Cluster::MACHINES);
}

fn up_with_token(cluster: &Cluster, token: &str) -> CommandOutput {
    cluster.bring(&cluster.sealed_dir(WORKER), WORKER);
    let line = "blackstart node up --token-file -";
    cluster.lab.feed("exec", &[WORKER, "--", "timeout", "120", "sh", "-c", line], token.as_bytes())
}

/// The node says why, where it was started and in its records.
#[track_caller]
fn assert_refused(cluster: &Cluster, output: &CommandOutput, code: &str) {
    output.refused(1, code);
    let run = cluster.last_up(WORKER).unwrap();
    assert_eq!(run.outcome, Outcome::Failed, "{run:#?}");
    assert_eq!(run.cause().unwrap().diagnostic.code, code, "{run:#?}");
    assert_nothing_left(cluster);
}

/// The master has noted it too.
#[track_caller]
fn assert_logged(cluster: &Cluster, code: &str) {
    let journal = cluster.journal("master-01", "blackstart-agent");
    let (from, node) = (cluster.ip(WORKER), WORKER);
    let is_it = |line: &str| line.contains(code) && line.contains(&from);
    assert!(journal.lines().any(is_it), "{code} for {node} at {from} in:\n{journal}");
}

#[track_caller]
fn assert_nothing_left(cluster: &Cluster) {
    let files = "ls -d /etc/kubernetes/*.conf /etc/kubernetes/pki/* /var/lib/kubelet/pki/* /var/lib/cluster-state/bootstrap-state \
                 /var/lib/cluster-state/cluster-joined 2>/dev/null";
    assert_eq!(cluster.try_sh(WORKER, files).out, "");
    assert_eq!(cluster.sh(WORKER, "systemctl is-active kubelet kube-proxy; true"), "inactive\ninactive");
    assert_eq!(cluster.kubectl(&["get", "nodes", WORKER, "--ignore-not-found"]), "");
    let csrs = cluster.get(&["csr"]);
    assert!(!csrs.iter().any(|csr| csr["spec"]["username"].as_str().unwrap().ends_with(WORKER)), "{csrs:?}");
}
