//! Requests that no honest node makes, to the join service and to the API: refused, each with its code.

use join::wire::{ClaimedCredential, ClaimedRole};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::support::{Check, Cluster, csr, eventually};

pub(crate) const CHECKS: &[Check] = &[
    ("a node's secret is good for no other name", other_names),
    ("a node's secret is good from its own address only", other_address),
    ("a worker does not become a master by saying so", other_role),
    ("a recorded request is of no use to anybody", replay),
    ("an address that fails too often has to wait", too_often),
    ("certificate requests that do not fit cluster.yaml are denied", signing_requests),
];

fn own(node: &str) -> ClaimedCredential {
    ClaimedCredential::NodeSecret { node: node.to_owned(), expires: 0 }
}

fn other_names(cluster: &Cluster) {
    let secret = cluster.secret("worker-01");
    for claimed in ["worker-02", "master-01", "stranger"] {
        let request = cluster.join_request(claimed, own("worker-01"));
        assert_eq!(cluster.send_proved(request, &secret), Err("BS-JOIN-004".to_owned()), "{claimed}");
        let request = cluster.join_request(claimed, own(claimed));
        assert_eq!(cluster.send_proved(request, &secret), Err("BS-JOIN-002".to_owned()), "{claimed}");
    }
    assert_logged(cluster, "BS-JOIN-004");
    assert_logged(cluster, "BS-JOIN-002");
}

fn other_address(cluster: &Cluster) {
    forget_failures(cluster);
    let request = cluster.join_request("worker-01", own("worker-01"));
    assert_eq!(cluster.send_proved(request, &cluster.secret("worker-01")), Err("BS-JOIN-007".to_owned()));
    assert_logged(cluster, "BS-JOIN-007");
}

fn other_role(cluster: &Cluster) {
    let mut request = cluster.join_request("worker-01", own("worker-01"));
    request.role = ClaimedRole::Master;
    assert_eq!(cluster.send_proved(request, &cluster.secret("worker-01")), Err("BS-JOIN-006".to_owned()));
    // Not even who knows a master's secret gets in as a worker under its name.
    let request = cluster.join_request("master-01", own("master-01"));
    assert_eq!(cluster.send_proved(request, &cluster.secret("master-01")), Err("BS-JOIN-006".to_owned()));
    assert_logged(cluster, "BS-JOIN-006");
}

fn replay(cluster: &Cluster) {
    let mut recorded = cluster.join_request("worker-01", own("worker-01"));
    recorded.prove(cluster.secret("worker-01").bytes().expose_secret());
    assert_eq!(cluster.send_from("worker-01", &recorded), Ok(()));
    assert_eq!(cluster.send_from("worker-01", &recorded), Err("BS-JOIN-009".to_owned()));
    assert_logged(cluster, "BS-JOIN-009");
    assert!(cluster.send_from("worker-02", &recorded).is_err());
    "worker-02".clone_into(&mut recorded.node);
    assert_eq!(cluster.send_from("worker-02", &recorded), Err("BS-JOIN-002".to_owned()), "changed on the way");
}

fn too_often(cluster: &Cluster) {
    let request = cluster.join_request("stranger", own("stranger"));
    eventually("it is told to wait", || cluster.send(&request) == Err("BS-JOIN-014".to_owned()));
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

fn signing_requests(cluster: &Cluster) {
    let any = cluster.sh("master-01", "blackstart token create --ttl 10m");
    let bound = cluster.sh("master-01", "blackstart token create --ttl 10m --node worker-01");
    for (name, token, subject, code) in [
        ("stranger", &any, "/O=system:nodes/CN=system:node:stranger", "BS-CSR-006"),
        ("first-master", &any, "/O=system:nodes/CN=system:node:master-01", "BS-CSR-007"),
        ("there-already", &any, "/O=system:nodes/CN=system:node:worker-02", "BS-CSR-008"),
        ("of-another", &bound, "/O=system:nodes/CN=system:node:worker-02", "BS-CSR-009"),
        ("no-node", &any, "/O=system:masters/CN=admin", "BS-CSR-002"),
    ] {
        request_certificate(cluster, name, token, subject);
        let condition =
            || -> Value { serde_json::from_str(&cluster.kubectl(&["get", "csr", name, "-o", "json"])).unwrap() };
        eventually(&format!("{name} is decided"), || condition()["status"]["conditions"].is_array());
        let status = condition()["status"].clone();
        let decided = &status["conditions"][0];
        let text = decided.to_string();
        assert!(decided["type"] == "Denied" && text.contains(code), "{name}: {status}");
        assert!(status["certificate"].is_null(), "{name}: {status}");
        assert_logged(cluster, code);
    }
    for id in [any, bound].map(|token| token.split_once('.').unwrap().0.to_owned()) {
        cluster.sh("master-01", &format!("blackstart token revoke {id}"));
    }
}

/// With nothing but a token, as whoever has found one would.
fn request_certificate(cluster: &Cluster, name: &str, token: &str, subject: &str) {
    let object = json!({
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": { "name": name },
        "spec": {
            "request": base64(&csr(subject)),
            "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
            "usages": ["digital signature", "client auth"],
        },
    });
    let server = format!("https://{}:6443", cluster.ip("master-01"));
    let kubectl =
        ["worker-01", "--", "kubectl", "--server", &server, "--certificate-authority", "/etc/kubernetes/pki/ca.crt"];
    let create = ["--token", token, "create", "--validate=false", "-f", "-"];
    cluster.lab.feed("exec", &[&kubectl[..], &create].concat(), object.to_string().as_bytes()).ok();
}

fn base64(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("text");
    std::fs::write(&file, text).unwrap();
    crate::support::run("base64", &["-w0", &file.display().to_string()]).ok()
}

#[track_caller]
fn assert_logged(cluster: &Cluster, code: &str) {
    let journal = cluster.journal("master-01", "blackstart-agent");
    assert!(journal.contains(code), "{code} in:\n{journal}");
}
