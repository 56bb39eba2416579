//! Join requests as an attacker would write them: any claim, any secret, from any machine.

use std::fs;

use join::{
    NodeSecret,
    wire::{ClaimedCredential, ClaimedRole, EarlyReport, Hello, JoinCsrs, JoinRequest},
};
use secrecy::ExposeSecret;
use serde_json::Value;

use super::{Cluster, run};

/// The code of a refusal.
type Code = String;

impl Cluster {
    /// An honest request of a node, still without its proof. `role` and names can be changed before it is proved.
    pub(crate) fn join_request(&self, node: &str, credential: ClaimedCredential) -> JoinRequest {
        let hello = self.hello();
        JoinRequest {
            cluster: hello.cluster,
            node: node.to_owned(),
            role: ClaimedRole::Worker,
            credential,
            challenge: hello.challenge,
            csrs: Self::csrs(node),
            machine_id: None,
            proof: String::new(),
        }
    }

    /// What an honest node wants signed.
    pub(crate) fn csrs(node: &str) -> JoinCsrs {
        JoinCsrs {
            kubelet: csr(&format!("/O=system:nodes/CN=system:node:{node}")),
            kube_proxy: csr("/CN=system:kube-proxy"),
            agent: csr(&format!("/O=blackstart:agents/CN=blackstart:agent:{node}")),
        }
    }

    /// A report of a node that has not joined, still without its proof.
    pub(crate) fn early_report(&self, node: &str, credential: ClaimedCredential, status: &str) -> EarlyReport {
        let Hello { cluster, challenge, .. } = self.hello();
        let (node, status) = (node.to_owned(), status.to_owned());
        EarlyReport { cluster, node, credential, challenge, status, proof: String::new() }
    }

    /// Sends a report from a machine, as it is.
    pub(crate) fn send_report_from(&self, machine: &str, report: &EarlyReport) -> Result<(), Code> {
        let answer = self.post_from(machine, "/v1/early-report", &serde_json::to_vec(report).unwrap());
        answer["code"].as_str().map_or(Ok(()), |code| Err(code.to_owned()))
    }

    /// The secret that was sealed for a node.
    pub(crate) fn secret(&self, node: &str) -> NodeSecret {
        NodeSecret::parse(&fs::read_to_string(self.sealed_dir(node).join("join-secret")).unwrap()).unwrap()
    }

    /// Which machine a node is, as the masters learn it.
    pub(crate) fn machine_id(&self, machine: &str) -> String {
        join::machine_id(&self.sh(machine, "cat /etc/machine-id"))
    }

    /// Sends a request from this computer, proved with a node's secret.
    pub(crate) fn send_proved(&self, mut request: JoinRequest, secret: &NodeSecret) -> Result<(), Code> {
        request.prove(secret.bytes().expose_secret());
        self.send(&request)
    }

    /// Sends a request from this computer, as it is.
    pub(crate) fn send(&self, request: &JoinRequest) -> Result<(), Code> {
        let answer = self.ask_master("/v1/join", &["--data-binary", &serde_json::to_string(request).unwrap()]);
        outcome(&serde_json::from_str(&answer).unwrap())
    }

    /// Sends a request from a machine, as it is.
    pub(crate) fn send_from(&self, machine: &str, request: &JoinRequest) -> Result<(), Code> {
        outcome(&self.post_from(machine, "/v1/join", &serde_json::to_vec(request).unwrap()))
    }

    /// With the CA of the machine's sealed directory: it need not have joined.
    pub(crate) fn post_from(&self, machine: &str, path: &str, body: &[u8]) -> Value {
        let url = format!("https://{}:7444{path}", self.ip("master-01"));
        let line = format!("curl -sS -m 20 --cacert /etc/cluster-config/ca.crt {url} --data-binary @-");
        let answer = self.lab.feed("exec", &[machine, "--", "sh", "-c", &line], body).ok();
        serde_json::from_str(&answer).unwrap()
    }

    pub(crate) fn hello(&self) -> Hello {
        serde_json::from_str(&self.ask_master("/v1/hello", &[])).unwrap()
    }

    fn ask_master(&self, path: &str, arguments: &[&str]) -> String {
        let ca = self.sealed_dir("master-01").join("ca.crt").display().to_string();
        let url = format!("https://{}:7444{path}", self.ip("master-01"));
        // Who is refused before its request is read hears it whole only where nothing else is on the connection.
        run("curl", &[&["-sS", "--http1.1", "-m", "20", "--cacert", &ca, &url], arguments].concat()).ok()
    }
}

fn outcome(answer: &Value) -> Result<(), Code> {
    if let Some(code) = answer["code"].as_str() {
        return Err(code.to_owned());
    }
    assert!(answer["kubelet"].as_str().is_some_and(|pem| pem.contains("CERTIFICATE")), "{answer}");
    Ok(())
}

/// A certificate request for a new key.
fn csr(subject: &str) -> String {
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "/dev/null"];
    run("openssl", &[&["req", "-new", "-subj", subject], &key[..]].concat()).ok()
}
