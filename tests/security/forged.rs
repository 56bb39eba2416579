//! Certificate requests that two programs read differently, or that only look like a kubelet's: nothing is issued for them.

use serde_json::{Value, json};

use crate::{
    ABSENT, WORKER,
    kubelet_csr::KubeletCsr,
    support::{Check, Cluster, CommandOutput, eventually, run, text},
};

pub(crate) const CHECKS: &[Check] = &[
    ("a kubelet's serving certificate holds what cluster.yaml says", as_cluster_yaml_says),
    ("a request that two programs read differently gets no serving certificate", two_readings),
    ("a token cannot even ask for a certificate", tokens),
    ("a token bound to a worker gets no other node's certificate", two_readings_with_a_token),
    ("a CSR that an administrator approves by hand and that does not fit cluster.yaml is not signed", approved_by_hand),
    ("the controller manager signs for users, and for no kubelet", only_agents_sign),
];

const CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const SERVING: &str = "kubernetes.io/kubelet-serving";
const USER: &str = "kubernetes.io/kube-apiserver-client";

/// A name, and a text of an honest and an evil request.
type Trick = (&'static str, fn(&str, &str) -> String);

/// Ways to show one reader `honest` and another one `evil`. The first was exploited.
#[rustfmt::skip]
const TRICKS: &[Trick] = &[
    ("another-end",  |honest, evil| format!("{}{evil}", honest.replace("END CERTIFICATE REQUEST", "END X"))),
    ("both",         |honest, evil| format!("{honest}{evil}")),
    ("reversed",     |honest, evil| format!("{evil}{honest}")),
    ("garbage",      |honest, evil| format!("-----BEGIN CERTIFICATE REQUEST-----\n!\n{honest}{evil}")),
    ("header",       |honest, evil| format!("{}{evil}", honest.replace("REQUEST-----\nM", "REQUEST-----\nA: b\n\nM"))),
    ("crlf",         |honest, evil| format!("{}{evil}", honest.replace('\n', "\r\n"))),
];

/// Who asks.
enum By<'a> {
    Admin,
    Token(&'a str),
    /// The worker's kubelet.
    Kubelet,
}

fn as_cluster_yaml_says(cluster: &Cluster) {
    for machine in ["master-01", WORKER] {
        let shown = "openssl x509 -in /var/lib/kubelet/pki/kubelet-server-current.pem -noout -subject -ext \
                     subjectAltName,extendedKeyUsage";
        eventually("the kubelet has its certificate", || cluster.try_sh(machine, shown).code == Some(0));
        let shown = cluster.sh(machine, shown);
        assert!(shown.contains(&format!("O = system:nodes, CN = system:node:{machine}")), "{shown}");
        let names = shown.lines().find(|line| line.contains("DNS:")).unwrap().trim();
        assert_eq!(names, format!("DNS:{machine}, IP Address:{}", cluster.ip(machine)));
        assert!(shown.contains("TLS Web Server Authentication") && !shown.contains("Client Auth"), "{shown}");
    }
}

fn two_readings(cluster: &Cluster) {
    let (honest, evil) = (honest_request(cluster), evil_request(cluster));
    for (name, trick) in TRICKS {
        let name = format!("serving-{name}");
        create(cluster, &name, SERVING, &trick(&honest, &evil), &By::Kubelet).ok();
        assert_refused(cluster, &name, "Denied", "BS-CSR-001");
    }
    create(cluster, "serving-evil", SERVING, &evil, &By::Kubelet).ok();
    assert_refused(cluster, "serving-evil", "Denied", "BS-CSR-004");
    let of_openssl = KubeletCsr { utf8: true, ..KubeletCsr::serving(WORKER, &[WORKER], &[&cluster.ip(WORKER)]) };
    create(cluster, "other-form", SERVING, &of_openssl.pem(), &By::Kubelet).ok();
    assert_refused(cluster, "other-form", "Denied", "BS-CSR-020");
}

/// Through a token the first one, or all: the reader is the same.
fn tricks_with_a_token() -> &'static [Trick] {
    if std::env::var_os("BLACKSTART_TEST_FULL").is_some() { TRICKS } else { &TRICKS[..1] }
}

fn tokens(cluster: &Cluster) {
    let token = cluster.sh("master-01", &format!("blackstart token create --ttl 10m --node {ABSENT}"));
    let (honest, evil) = (KubeletCsr::client(ABSENT).pem(), KubeletCsr::client("master-01").pem());
    for (name, trick) in tricks_with_a_token() {
        let name = format!("token-{name}");
        let output = create(cluster, &name, CLIENT, &trick(&honest, &evil), &By::Token(&token));
        if output.code == Some(0) {
            assert_refused(cluster, &name, "Denied", "BS-CSR-");
        }
        assert!(output.err.contains("orbidden"), "{output:?}");
    }
    revoke(cluster, &token);
}

/// An administrator may bind by hand what we do not bind. What is decided does not depend on it.
fn two_readings_with_a_token(cluster: &Cluster) {
    let role = "--clusterrole=system:node-bootstrapper";
    cluster.kubectl(&["create", "clusterrolebinding", "by-hand", role, "--group=system:bootstrappers"]);
    let any = cluster.sh("master-01", "blackstart token create --ttl 10m");
    let bound = cluster.sh("master-01", &format!("blackstart token create --ttl 10m --node {ABSENT}"));
    let client = |node: &str| KubeletCsr::client(node).pem();
    let admin =
        KubeletCsr { organization: "system:masters", common_name: "admin".to_owned(), ..KubeletCsr::client("") };
    let mut cases = vec![
        ("stranger", &any, client("stranger"), "BS-CSR-006"),
        ("first-master", &any, client("master-01"), "BS-CSR-007"),
        ("there-already", &any, client(WORKER), "BS-CSR-008"),
        ("of-another", &bound, client(WORKER), "BS-CSR-009"),
        ("no-node", &any, admin.pem(), "BS-CSR-002"),
    ];
    let tricked = |(name, trick): &Trick| (*name, &bound, trick(&client(ABSENT), &client("master-01")), "BS-CSR-001");
    cases.extend(tricks_with_a_token().iter().map(tricked));
    for (name, token, request, code) in cases {
        eventually(&format!("{name} can be created"), || {
            create(cluster, name, CLIENT, &request, &By::Token(token)).code == Some(0)
        });
        assert_refused(cluster, name, "Denied", code);
    }
    cluster.kubectl(&["delete", "clusterrolebinding", "by-hand"]);
    revoke(cluster, &any);
    revoke(cluster, &bound);
}

fn approved_by_hand(cluster: &Cluster) {
    // Otherwise it is denied before anybody can approve it.
    without_agent(cluster, || {
        create(cluster, "by-hand", SERVING, &evil_request(cluster), &By::Kubelet).ok();
        cluster.kubectl(&["certificate", "approve", "by-hand"]);
    });
    assert_refused(cluster, "by-hand", "Failed", "BS-CSR-004");
}

/// While no agent runs. That the controller manager does sign, and had the time to, shows a user's request.
fn only_agents_sign(cluster: &Cluster) {
    let is_issued = |name: &str| status(cluster, name)["certificate"].is_string();
    without_agent(cluster, || {
        create(cluster, "kubelets", SERVING, &honest_request(cluster), &By::Kubelet).ok();
        let jane = KubeletCsr { organization: "people", common_name: "jane".to_owned(), ..KubeletCsr::client("") };
        create(cluster, "jane", USER, &jane.pem(), &By::Admin).ok();
        cluster.kubectl(&["certificate", "approve", "kubelets", "jane"]);
        eventually("a user's certificate is issued", || is_issued("jane"));
        assert!(!is_issued("kubelets"), "{}", status(cluster, "kubelets"));
    });
    eventually("an honest request that was approved by hand is signed by an agent", || is_issued("kubelets"));
    let certificate = issued(cluster, "kubelets");
    assert!(certificate.contains(&format!("system:node:{WORKER}")), "{certificate}");
}

/// What the worker's kubelet itself asked for when it joined.
fn honest_request(cluster: &Cluster) -> String {
    let is_kubelets = |csr: &Value| {
        let of_worker = csr["spec"]["username"] == *format!("system:node:{WORKER}");
        of_worker && csr["spec"]["signerName"] == SERVING && text(&csr["metadata"]["name"]).starts_with("csr-")
    };
    let mut found = None;
    eventually("the kubelet has asked for its serving certificate", || {
        found = cluster.get(&["csr"]).into_iter().find(is_kubelets);
        found.is_some()
    });
    run("sh", &["-c", &format!("echo {} | base64 -d", text(&found.unwrap()["spec"]["request"]))]).ok()
}

/// The API server's names in a request of the worker.
fn evil_request(cluster: &Cluster) -> String {
    let ips = ["10.96.0.1", &cluster.ip("master-01")];
    KubeletCsr::serving(WORKER, &["kubernetes.default.svc"], &ips).pem()
}

/// Creates the object with the credentials of the requester.
fn create(cluster: &Cluster, name: &str, signer: &str, request: &str, by: &By<'_>) -> CommandOutput {
    let usage = if signer == SERVING { "server auth" } else { "client auth" };
    let object = json!({
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": { "name": name },
        "spec": { "request": encoded(request), "signerName": signer, "usages": ["digital signature", usage] },
    });
    let server = format!("https://{}:6443", cluster.ip("master-01"));
    let (machine, credentials): (&str, Vec<&str>) = match by {
        By::Admin => ("master-01", vec!["--kubeconfig", "/etc/kubernetes/super-admin.conf"]),
        By::Kubelet => (WORKER, vec!["--kubeconfig", "/etc/kubernetes/kubelet.conf"]),
        By::Token(token) => {
            let there = ["--server", &server, "--certificate-authority", "/etc/kubernetes/pki/ca.crt"];
            (WORKER, [&there[..], &["--token", *token]].concat())
        }
    };
    let kubectl = [&[machine, "--", "kubectl"][..], &credentials, &["create", "--validate=false", "-f", "-"]].concat();
    cluster.lab.feed("exec", &kubectl, object.to_string().as_bytes())
}

/// The worker reaches the API through its own balancer, and the master's kubectl needs none.
fn without_agent(cluster: &Cluster, work: impl FnOnce()) {
    struct Restart<'a>(&'a Cluster);
    impl Drop for Restart<'_> {
        fn drop(&mut self) {
            self.0.try_sh("master-01", "systemctl start blackstart-agent");
        }
    }
    cluster.sh("master-01", "systemctl stop blackstart-agent");
    let restart = Restart(cluster);
    work();
    drop(restart);
    eventually("the join service is back", || {
        cluster.try_sh("master-01", "ss -ltnH | grep -q ':7444 '").code == Some(0)
    });
}

/// With its code in the condition, in the journal and in an Event, and without a certificate.
#[track_caller]
fn assert_refused(cluster: &Cluster, name: &str, kind: &str, code: &str) {
    let condition = || {
        let all = status(cluster, name)["conditions"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|condition| condition["type"] == kind)
    };
    let is_issued = || status(cluster, name)["certificate"].is_string();
    eventually(&format!("{name} is {kind}"), || condition().is_some() || is_issued());
    assert!(!is_issued(), "{name} was issued:\n{}", issued(cluster, name));
    let text = condition().unwrap_or_default().to_string();
    assert!(text.contains(code), "{name}: {text}");
    let journal = cluster.journal("master-01", "blackstart-agent");
    assert!(journal.contains(code), "{code} in:\n{journal}");
    let field = format!("involvedObject.name={name}");
    eventually(&format!("an Event reports {name}"), || {
        cluster.kubectl(&["get", "events", "-n", "default", "--field-selector", &field]).contains(code)
    });
}

fn status(cluster: &Cluster, name: &str) -> Value {
    let csr: Value = serde_json::from_str(&cluster.kubectl(&["get", "csr", name, "-o", "json"])).unwrap();
    csr["status"].clone()
}

/// The certificate as text.
fn issued(cluster: &Cluster, name: &str) -> String {
    let pem = format!("kubectl get csr {name} -o jsonpath='{{.status.certificate}}' | base64 -d");
    cluster.sh("master-01", &format!("{pem} | openssl x509 -noout -subject -ext subjectAltName"))
}

fn revoke(cluster: &Cluster, token: &str) {
    cluster.sh("master-01", &format!("blackstart token revoke {}", token.split_once('.').unwrap().0));
}

fn encoded(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("text");
    std::fs::write(&file, text).unwrap();
    run("base64", &["-w0", &file.display().to_string()]).ok()
}
