//! A certificate for the agent of a master, which never leaves its memory.

use join::Purpose;
use pki::{Existing, Request, Signer};
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256};

use crate::{Agent, AgentError};
use nodekit::kubeconfig::Identity;

/// Longer than it is used for.
const DAYS: i64 = 2;

/// Signed with the CA on this machine.
pub(crate) fn sign(agent: &Agent) -> Result<Identity, AgentError> {
    let now = agent.host.clock.now();
    let existing = Existing::read(&*agent.host.disk, &agent.paths.kubernetes_dir)?;
    let signer = Signer::new(&existing, agent.cluster.name(), now)?;
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let request = Request::from_pem(CertificateParams::default().serialize_request(&key)?.pem()?.as_bytes())?;
    let subject = Purpose::Agent.subject(&agent.node.name);
    Ok(Identity {
        certificate: signer.client_certificate(&request, &subject, DAYS, now)?,
        key: key.serialize_pem(),
        ca: String::from_utf8_lossy(signer.ca_pem()).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;
    use pki::{Input, Shared};

    use super::*;
    use crate::testing::{Scripted, agent};

    #[test]
    fn a_master_is_its_own_ca() {
        let agent = agent("master-01", &Arc::new(Scripted::default()));
        let existing = Existing::read(&*agent.host.disk, &agent.paths.kubernetes_dir).unwrap();
        let input = Input::new(&agent.cluster, &agent.node, Shared::Make);
        for change in pki::plan(&existing, &input, Timestamp::now()).unwrap() {
            change.apply(&*agent.host.disk).unwrap();
        }
        let identity = sign(&agent).unwrap();
        let certificate = x509_parser::pem::parse_x509_pem(identity.certificate.as_bytes()).unwrap().1;
        let caller = join::Caller::from_certificate(Some(&certificate.contents)).unwrap();
        assert_eq!(caller, join::Caller::Agent("master-01".to_owned()));
    }
}
