//! An administrator left with copies of a master and of a worker. After `pki rotate --all` nothing opens with them.
//!
//! The copies lie on the machines that they are of, so that they are tried from the right addresses: what is bound to an
//! address is no help here. Checks follow each other; every one leaves the cluster whole.

use jiff::Timestamp;
use join::{
    Claim, Generation, JoinKey, NodeSecret,
    wire::{ClaimedRole, Hello, JoinRequest, MasterRequest},
};
use secrecy::ExposeSecret;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    MASTERS, WORKER,
    caller::Caller,
    support::{Check, Cluster},
};

pub(crate) const CHECKS: &[Check] = &[
    ("files of a master and of a worker are copied, and open everything", kept),
    ("all keys are rotated, and no call to the API fails meanwhile", evicted),
    ("a copy lets no machine join", no_join),
    ("a copy gives no machine the cluster's keys", no_keys),
    ("a copy's certificates are refused by the API, by etcd and by the join service", no_calls),
    ("a service account token of before is refused", no_token),
    ("a Secret is not encrypted with a key of before", no_secret),
    ("a new backup does not open with a key of before", no_backup),
    ("a worker that is reset joins with its own directory", rejoins),
];

/// Copies of this machine's files.
const KEPT: &str = "/root/kept";
/// The master whose files are copied.
const MASTER: &str = MASTERS[0];

fn kept(cluster: &Cluster) {
    let copy = |machine: &str, dirs: &str| {
        cluster.sh(machine, &format!("umask 77; rm -rf {KEPT}; mkdir {KEPT}; cp -a {dirs} {KEPT}"));
    };
    copy(MASTER, "/etc/kubernetes /etc/cluster-config /var/lib/cluster-state");
    copy(WORKER, "/etc/kubernetes /etc/cluster-config /var/lib/kubelet/pki");
    cluster.sh(MASTER, &format!("kubectl create token default --duration 24h >{KEPT}/token"));
    assert!(cluster.sh(MASTER, &whoami()).contains("system:serviceaccount:default:default"));
    let nodes = format!("kubectl --kubeconfig {KEPT}/kubernetes/super-admin.conf get nodes -o name");
    assert!(cluster.sh(MASTER, &nodes).contains(WORKER));
    assert!(cluster.sh(WORKER, &as_kubelet(cluster)).contains("\"kind\":\"Node\""));
    assert_eq!(join_as_worker(cluster, &worker_secret(cluster)), None, "its secret lets the worker in");
}

fn evicted(cluster: &Cluster) {
    // Stage by stage: a client outside has to get the CAs to trust again.
    for arguments in ["--stop-after trust", "--stop-after sign", ""] {
        let caller = Caller::begin(cluster);
        let line = format!("blackstart pki rotate --all --yes {arguments}");
        let output = cluster.lab.run("exec", &[MASTER, "--", "timeout", "900", "sh", "-c", &line]).ok();
        eprintln!("  {}", output.trim().replace('\n', "\n  "));
        caller.end_unnoticed();
    }
    assert_eq!(cluster.sh(MASTER, "blackstart token list"), "there are no tokens");
}

fn no_join(cluster: &Cluster) {
    assert_eq!(join_as_worker(cluster, &worker_secret(cluster)).as_deref(), Some("BS-JOIN-002"));
    // The key makes any secret.
    let secret = kept_join_key(cluster).node_secret(WORKER, Generation::at(Timestamp::now()), None);
    assert_eq!(join_as_worker(cluster, &secret).as_deref(), Some("BS-JOIN-002"));
}

fn no_keys(cluster: &Cluster) {
    let secret = kept_join_key(cluster).node_secret(MASTER, Generation::at(Timestamp::now()), None);
    let Hello { cluster: name, challenge, .. } = hello(cluster, MASTER);
    let credential = secret.claimed();
    let node = MASTER.to_owned();
    let claim = Claim::generate().unwrap().hash();
    let machine_id = Some(cluster.machine_id(MASTER));
    let mut request =
        MasterRequest { cluster: name, node, credential, challenge, machine_id, claim, proof: String::new() };
    request.prove(secret.bytes().expose_secret());
    assert_eq!(post(cluster, MASTER, "/v1/master", &request)["code"], "BS-JOIN-002");
}

fn no_calls(cluster: &Cluster) {
    let kubectl = |more: &str| {
        let conf = format!("{KEPT}/kubernetes/super-admin.conf");
        cluster.try_sh(MASTER, &format!("kubectl --kubeconfig {conf} {more} get nodes")).err
    };
    let output = kubectl("");
    assert!(output.contains("certificate signed by unknown authority"), "the server is not believed: {output}");
    let output = kubectl("--insecure-skip-tls-verify");
    assert!(output.contains("Unauthorized") || output.contains("must be logged in"), "nor the client: {output}");
    assert!(!cluster.try_sh(WORKER, &as_kubelet(cluster)).out.contains("\"kind\":\"Node\""), "nor the kubelet");
    let etcd = format!("{KEPT}/kubernetes/pki/etcd");
    let etcd = format!(
        "etcdctl --command-timeout 3s --insecure-skip-tls-verify --cert {etcd}/healthcheck-client.crt \
         --key {etcd}/healthcheck-client.key get /registry/secrets/ --prefix --keys-only"
    );
    let output = cluster.try_sh(MASTER, &etcd);
    assert!(output.code != Some(0) && !output.out.contains("/registry"), "{output:?}");
    let agent = format!(
        "f() {{ sed -n \"s/^ *$1: //p\" {KEPT}/kubernetes/agent.conf | base64 -d >/tmp/kept-$1; }}; \
         f client-certificate-data; f client-key-data; \
         curl -sk -m 20 --cert /tmp/kept-client-certificate-data --key /tmp/kept-client-key-data \
         https://{}:7444/v1/nodes; rm /tmp/kept-*",
        cluster.ip(MASTER)
    );
    let output = cluster.try_sh(WORKER, &agent);
    assert!(!output.out.contains("\"nodes\""), "{output:?}");
}

fn no_token(cluster: &Cluster) {
    let output = cluster.try_sh(MASTER, &whoami());
    assert!(output.err.contains("Unauthorized") || output.err.contains("must be logged in"), "{output:?}");
}

fn no_secret(cluster: &Cluster) {
    cluster.kubectl(&["create", "secret", "generic", "after", "--from-literal=word=hidden"]);
    let etcd = "/etc/kubernetes/pki/etcd";
    let raw = format!(
        "etcdctl --cacert {etcd}/ca.crt --cert {etcd}/healthcheck-client.crt --key {etcd}/healthcheck-client.key \
         get /registry/secrets/ --prefix --print-value-only | grep -ao 'k8s:enc:[^:]*:v1:[^:]*:' | sort -u"
    );
    let used = cluster.sh(MASTER, &raw);
    let names = "sed -n 's/ *- name: //p'";
    let old = cluster.sh(MASTER, &format!("{names} {KEPT}/kubernetes/encryption.yaml"));
    let new = cluster.sh(MASTER, &format!("{names} /etc/kubernetes/encryption.yaml"));
    assert_eq!(used, format!("k8s:enc:secretbox:v1:{new}:"), "every Secret is of one key");
    assert_ne!(new, old);
    let secrets = "sed -n 's/ *secret: //p'";
    let shared = format!("{secrets} {KEPT}/kubernetes/encryption.yaml | grep -cFf - /etc/kubernetes/encryption.yaml");
    assert_eq!(cluster.try_sh(MASTER, &shared).out.trim(), "0", "and that is not the old one under another name");
    cluster.kubectl(&["delete", "secret", "after"]);
}

fn no_backup(cluster: &Cluster) {
    let newest = "$(ls -t /var/backups/blackstart/*.age | head -n1)";
    cluster.sh(MASTER, &format!("blackstart backup verify {newest}"));
    let output =
        cluster.try_sh(MASTER, &format!("blackstart backup verify {newest} --key-file {KEPT}/cluster-config/join.key"));
    output.refused(1, "BS-BACKUP-002");
}

fn rejoins(cluster: &Cluster) {
    for machine in [MASTER, WORKER] {
        cluster.sh(machine, &format!("rm -rf {KEPT}"));
    }
    cluster.sh(WORKER, "blackstart node reset --yes");
    let output = cluster.node_up(WORKER, "").ok();
    assert!(output.contains("is a Ready node"), "{output}");
}

fn whoami() -> String {
    format!(
        "kubectl --kubeconfig /dev/null --server https://127.0.0.1:7443 --certificate-authority /etc/kubernetes/pki/ca.crt \
         --token \"$(cat {KEPT}/token)\" auth whoami"
    )
}

fn as_kubelet(cluster: &Cluster) -> String {
    let pem = format!("{KEPT}/pki/kubelet-client-current.pem");
    // The link leads to the file that is in use now; what counts is the one that was copied.
    let copy = format!("{KEPT}/pki/$(basename $(readlink {pem}))");
    format!("curl -sk -m 20 --cert {copy} https://{}:6443/api/v1/nodes/{WORKER} | tr -d ' '", cluster.ip(MASTER))
}

fn worker_secret(cluster: &Cluster) -> NodeSecret {
    NodeSecret::parse(&cluster.sh(WORKER, &format!("cat {KEPT}/cluster-config/join-secret"))).unwrap()
}

fn kept_join_key(cluster: &Cluster) -> JoinKey {
    JoinKey::parse(&cluster.sh(MASTER, &format!("cat {KEPT}/cluster-config/join.key"))).unwrap()
}

/// The code of the refusal, if there is one.
fn join_as_worker(cluster: &Cluster, secret: &NodeSecret) -> Option<String> {
    let Hello { cluster: name, challenge, .. } = hello(cluster, WORKER);
    let mut request = JoinRequest {
        cluster: name,
        node: WORKER.to_owned(),
        role: ClaimedRole::Worker,
        credential: secret.claimed(),
        challenge,
        csrs: Cluster::csrs(WORKER),
        machine_id: Some(cluster.machine_id(WORKER)),
        proof: String::new(),
    };
    request.prove(secret.bytes().expose_secret());
    let answer = post(cluster, WORKER, "/v1/join", &request);
    answer["code"].as_str().map(str::to_owned)
}

fn hello(cluster: &Cluster, machine: &str) -> Hello {
    let url = format!("https://{}:7444/v1/hello", cluster.ip(MASTER));
    parsed(&cluster.sh(machine, &format!("curl -sk -m 20 {url}")))
}

/// Without believing the server: the copy knows only the CA of before, and its owner may not care.
fn post(cluster: &Cluster, machine: &str, path: &str, body: &impl Serialize) -> Value {
    let line = format!("curl -sk -m 20 https://{}:7444{path} --data-binary @-", cluster.ip(MASTER));
    let body = serde_json::to_vec(body).unwrap();
    parsed(&cluster.lab.feed("exec", &[machine, "--", "sh", "-c", &line], &body).ok())
}

fn parsed<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
