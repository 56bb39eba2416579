//! What the two sides prove to each other with a secret that both know.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};

use crate::{
    mac,
    wire::{CephRequest, ClaimedCredential, EarlyReport, JoinCsrs, JoinRequest, MasterRequest},
};

const JOINING: &str = "blackstart join v2";
const MASTER: &str = "blackstart master v2";
const CEPH: &str = "blackstart ceph v2";
const REPORTING: &str = "blackstart early report v2";
const CA: &str = "blackstart authority v1";

impl JoinRequest {
    /// Puts the proof in; nothing may be changed afterwards.
    pub fn prove(&mut self, secret: &[u8]) {
        self.proof = of_request(secret, self);
    }
}

impl MasterRequest {
    /// Puts the proof in; nothing may be changed afterwards.
    pub fn prove(&mut self, secret: &[u8]) {
        self.proof = of_master(secret, self);
    }
}

impl CephRequest {
    /// Puts the proof in; nothing may be changed afterwards.
    pub fn prove(&mut self, secret: &[u8]) {
        self.proof = of_ceph(secret, self);
    }
}

impl EarlyReport {
    /// Puts the proof in; nothing may be changed afterwards.
    pub fn prove(&mut self, secret: &[u8]) {
        self.proof = of_report(secret, self);
    }
}

/// The proof of a request: everything in it but the proof itself.
fn of_request(secret: &[u8], request: &JoinRequest) -> String {
    BASE64.encode(with_fields(request, |fields| mac::sign(secret, JOINING, fields)))
}

/// True if the request's proof was made with this secret.
pub(crate) fn request_is_proved(secret: &[u8], request: &JoinRequest) -> bool {
    let tag = BASE64.decode(&request.proof).unwrap_or_default();
    with_fields(request, |fields| mac::verify(secret, JOINING, fields, &tag))
}

/// The proof of a master's request.
fn of_master(secret: &[u8], request: &MasterRequest) -> String {
    BASE64.encode(with_master_fields(request, |fields| mac::sign(secret, MASTER, fields)))
}

/// True if a master's request was made with this secret.
pub(crate) fn master_is_proved(secret: &[u8], request: &MasterRequest) -> bool {
    let tag = BASE64.decode(&request.proof).unwrap_or_default();
    with_master_fields(request, |fields| mac::verify(secret, MASTER, fields, &tag))
}

/// The proof of a request for Ceph's keys.
fn of_ceph(secret: &[u8], request: &CephRequest) -> String {
    BASE64.encode(with_ceph_fields(request, |fields| mac::sign(secret, CEPH, fields)))
}

/// True if a request for Ceph's keys was made with this secret.
pub(crate) fn ceph_is_proved(secret: &[u8], request: &CephRequest) -> bool {
    let tag = BASE64.decode(&request.proof).unwrap_or_default();
    with_ceph_fields(request, |fields| mac::verify(secret, CEPH, fields, &tag))
}

/// The proof of a report by a node without a certificate.
fn of_report(secret: &[u8], report: &EarlyReport) -> String {
    BASE64.encode(with_report_fields(report, |fields| mac::sign(secret, REPORTING, fields)))
}

/// True if the report's proof was made with this secret.
pub(crate) fn report_is_proved(secret: &[u8], report: &EarlyReport) -> bool {
    let tag = BASE64.decode(&report.proof).unwrap_or_default();
    with_report_fields(report, |fields| mac::verify(secret, REPORTING, fields, &tag))
}

/// The proof that a master knows the token, over the CA it hands out.
pub(crate) fn of_ca(secret: &[u8], nonce: &str, ca_pem: &str) -> String {
    BASE64.encode(mac::sign(secret, CA, &[nonce.as_bytes(), ca_pem.as_bytes()]))
}

/// True if this CA was handed out by a server that knows the token, for this very question.
pub(crate) fn ca_is_proved(secret: &[u8], nonce: &str, ca_pem: &str, proof: &str) -> bool {
    let tag = BASE64.decode(proof).unwrap_or_default();
    mac::verify(secret, CA, &[nonce.as_bytes(), ca_pem.as_bytes()], &tag)
}

fn with_fields<T>(request: &JoinRequest, then: impl FnOnce(&[&[u8]]) -> T) -> T {
    // Taken apart without `..`, so that a new field cannot be forgotten here.
    let JoinRequest { cluster, node, role, credential, challenge, csrs, machine_id, proof: _ } = request;
    let JoinCsrs { kubelet, kube_proxy, agent } = csrs;
    let (kind, of, numbers) = parts(credential);
    let machine = machine(machine_id.as_deref());
    let texts = [cluster, node, &role.to_string(), kind, of, challenge, kubelet, kube_proxy, agent, &machine];
    let mut fields: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    fields.push(&numbers);
    then(&fields)
}

fn with_master_fields<T>(request: &MasterRequest, then: impl FnOnce(&[&[u8]]) -> T) -> T {
    let MasterRequest { cluster, node, credential, challenge, machine_id, claim, proof: _ } = request;
    let (kind, of, numbers) = parts(credential);
    let machine = machine(machine_id.as_deref());
    let texts = [cluster, node, kind, of, challenge, &machine, claim];
    let mut fields: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    fields.push(&numbers);
    then(&fields)
}

fn with_ceph_fields<T>(request: &CephRequest, then: impl FnOnce(&[&[u8]]) -> T) -> T {
    let CephRequest { cluster, node, credential, challenge, machine_id, is_initialized, proof: _ } = request;
    let (kind, of, numbers) = parts(credential);
    let machine = machine(machine_id.as_deref());
    let texts = [cluster, node, kind, of, challenge, &machine];
    let mut fields: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    let initialized = [u8::from(*is_initialized)];
    fields.extend([&numbers[..], &initialized]);
    then(&fields)
}

fn machine(id: Option<&str>) -> String {
    id.map_or_else(|| "none".to_owned(), |id| format!("some {id}"))
}

fn with_report_fields<T>(report: &EarlyReport, then: impl FnOnce(&[&[u8]]) -> T) -> T {
    let EarlyReport { cluster, node, credential, challenge, status, proof: _ } = report;
    let (kind, of, numbers) = parts(credential);
    let texts = [cluster, node, kind, of, challenge, status];
    let mut fields: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    fields.push(&numbers);
    then(&fields)
}

/// Everything a claimed credential says.
fn parts(credential: &ClaimedCredential) -> (&'static str, &str, [u8; 8]) {
    match credential {
        ClaimedCredential::NodeSecret { node, generation, expires } => {
            let numbers = (u64::from(generation.0) << 32) | u64::from(*expires);
            ("node-secret", node, numbers.to_be_bytes())
        }
        ClaimedCredential::Token { id } => ("token", id, [0; 8]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Generation, wire::ClaimedRole};

    fn secret(node: &str, generation: u32, expires: u32) -> ClaimedCredential {
        ClaimedCredential::NodeSecret { node: node.into(), generation: Generation(generation), expires }
    }

    fn request() -> JoinRequest {
        let csrs = JoinCsrs { kubelet: "k".into(), kube_proxy: "p".into(), agent: "a".into() };
        let mut request = JoinRequest {
            cluster: "home".into(),
            node: "worker-01".into(),
            role: ClaimedRole::Worker,
            credential: secret("worker-01", 3, 7),
            challenge: "c".into(),
            csrs,
            machine_id: Some("m".into()),
            proof: String::new(),
        };
        request.proof = of_request(b"secret", &request);
        request
    }

    #[test]
    fn no_field_can_be_changed() {
        assert!(request_is_proved(b"secret", &request()));
        assert!(!request_is_proved(b"other", &request()));
        let tampering: [fn(&mut JoinRequest); 14] = [
            |request| request.cluster = "away".into(),
            |request| request.node = "worker-02".into(),
            |request| request.role = ClaimedRole::Master,
            |request| request.credential = secret("worker-01", 3, 8),
            |request| request.credential = secret("worker-01", 4, 7),
            |request| request.credential = secret("worker-02", 3, 7),
            |request| request.credential = ClaimedCredential::Token { id: "worker-01".into() },
            |request| request.challenge = "d".into(),
            |request| request.csrs.kubelet = "x".into(),
            |request| request.csrs.kube_proxy = "x".into(),
            |request| request.csrs.agent = "x".into(),
            |request| request.machine_id = None,
            |request| request.machine_id = Some(String::new()),
            |request| request.proof = "not base64 !".into(),
        ];
        for (index, change) in tampering.iter().enumerate() {
            let mut changed = request();
            change(&mut changed);
            assert!(!request_is_proved(b"secret", &changed), "change {index}");
        }
    }

    fn master() -> MasterRequest {
        let mut request = MasterRequest {
            cluster: "home".into(),
            node: "master-02".into(),
            credential: secret("master-02", 3, 7),
            challenge: "c".into(),
            machine_id: Some("m".into()),
            claim: "claim".into(),
            proof: String::new(),
        };
        request.prove(b"secret");
        request
    }

    #[test]
    fn no_field_of_a_masters_request_can_be_changed() {
        assert!(master_is_proved(b"secret", &master()));
        assert!(!master_is_proved(b"other", &master()));
        let tampering: [fn(&mut MasterRequest); 9] = [
            |request| request.cluster = "away".into(),
            |request| request.node = "master-03".into(),
            |request| request.credential = secret("master-02", 3, 8),
            |request| request.credential = secret("master-02", 4, 7),
            |request| request.credential = ClaimedCredential::Token { id: "master-02".into() },
            |request| request.challenge = "d".into(),
            |request| request.machine_id = None,
            |request| request.claim = "other".into(),
            |request| request.proof = "not base64 !".into(),
        ];
        for (index, change) in tampering.iter().enumerate() {
            let mut changed = master();
            change(&mut changed);
            assert!(!master_is_proved(b"secret", &changed), "change {index}");
        }
    }

    fn ceph() -> CephRequest {
        let mut request = CephRequest {
            cluster: "home".into(),
            node: "worker-01".into(),
            credential: secret("worker-01", 3, 7),
            challenge: "c".into(),
            machine_id: Some("m".into()),
            is_initialized: false,
            proof: String::new(),
        };
        request.prove(b"secret");
        request
    }

    #[test]
    fn no_field_of_a_request_for_cephs_keys_can_be_changed() {
        assert!(ceph_is_proved(b"secret", &ceph()));
        assert!(!ceph_is_proved(b"other", &ceph()));
        let tampering: [fn(&mut CephRequest); 9] = [
            |request| request.cluster = "away".into(),
            |request| request.node = "worker-02".into(),
            |request| request.credential = secret("worker-01", 3, 8),
            |request| request.credential = secret("worker-01", 4, 7),
            |request| request.credential = ClaimedCredential::Token { id: "worker-01".into() },
            |request| request.challenge = "d".into(),
            |request| request.machine_id = None,
            |request| request.is_initialized = true,
            |request| request.proof = "not base64 !".into(),
        ];
        for (index, change) in tampering.iter().enumerate() {
            let mut changed = ceph();
            change(&mut changed);
            assert!(!ceph_is_proved(b"secret", &changed), "change {index}");
        }
    }

    fn report() -> EarlyReport {
        let mut report = EarlyReport {
            cluster: "home".into(),
            node: "worker-01".into(),
            credential: secret("worker-01", 3, 7),
            challenge: "c".into(),
            status: "{}".into(),
            proof: String::new(),
        };
        report.proof = of_report(b"secret", &report);
        report
    }

    #[test]
    fn no_field_of_a_report_can_be_changed() {
        assert!(report_is_proved(b"secret", &report()));
        assert!(!report_is_proved(b"other", &report()));
        let tampering: [fn(&mut EarlyReport); 9] = [
            |report| report.cluster = "away".into(),
            |report| report.node = "worker-02".into(),
            |report| report.credential = secret("worker-01", 3, 8),
            |report| report.credential = secret("worker-01", 4, 7),
            |report| report.credential = secret("worker-02", 3, 7),
            |report| report.credential = ClaimedCredential::Token { id: "worker-01".into() },
            |report| report.challenge = "d".into(),
            |report| report.status = "{ }".into(),
            |report| report.proof = "not base64 !".into(),
        ];
        for (index, change) in tampering.iter().enumerate() {
            let mut changed = report();
            change(&mut changed);
            assert!(!report_is_proved(b"secret", &changed), "change {index}");
        }
    }

    #[test]
    fn a_ca_is_proved_for_one_question() {
        let proof = of_ca(b"secret", "nonce", "pem");
        for (secret, nonce, pem, expected) in [
            (b"secret", "nonce", "pem", true),
            (b"sacred", "nonce", "pem", false),
            (b"secret", "other", "pem", false),
            (b"secret", "nonce", "mep", false),
        ] {
            assert_eq!(ca_is_proved(secret, nonce, pem, &proof), expected, "{nonce} {pem}");
        }
    }
}
