//! Tells the masters how this node is doing, every few seconds.
//!
//! A worker shows the certificate it got when it joined. A master has the cluster's authority at hand and signs one for
//! its agent, in memory. A report that does not get through is worth no more than a line in the log: the next one says
//! all of it again.

use std::{collections::BTreeMap, time::Duration};

use jiff::{SignedDuration, Timestamp};
use join::{Member, Purpose};
use pki::{Existing, Request, Signer};
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256};
use serde::Serialize;
use spec::{BootstrapRole, ports};
use tokio::time::sleep;

use crate::{
    Agent, AgentError,
    kubeconfig::Identity,
    outage::Outage,
    session,
    systemd::{self, Unit},
};

const INTERVAL: Duration = Duration::from_secs(5);

/// A master's agent signs itself a new certificate long before the old one ends.
const OWN_DAYS: i64 = 2;
const OWN_USED: SignedDuration = SignedDuration::from_hours(24);

/// How a node is doing.
#[derive(Debug, Serialize)]
struct Status<'a> {
    node: &'a str,
    role: BootstrapRole,
    /// What `bootstrap-state` says; null before there is one.
    bootstrap: Option<String>,
    /// The state of every unit that is installed.
    units: BTreeMap<String, String>,
    /// For how long earlier reports have not come through.
    unheard_seconds: Option<u64>,
    /// The version of this program.
    version: &'static str,
}

/// Runs until the credentials are renewed.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    if agent.is_master() {
        session::wait_for(&agent.host, &agent.paths.kubernetes_dir.join("pki/ca.key")).await?;
        let identity = sign_own(agent)?;
        let end = agent.host.clock.now() + OWN_USED;
        return report(agent, &identity, |now| now >= end).await;
    }
    let path = agent.paths.kubernetes_dir.join("agent.conf");
    let text = session::wait_for(&agent.host, &path).await?;
    let identity = Identity::of_file(&path, &text)?;
    tokio::select! {
        ended = report(agent, &identity, |_| false) => ended,
        renewed = session::until_changed(&agent.host, &path, &text) => renewed,
    }
}

async fn report(agent: &Agent, identity: &Identity, is_over: impl Fn(Timestamp) -> bool) -> Result<(), AgentError> {
    let shown = (identity.certificate.as_str(), identity.key.as_str());
    let member = Member::new(agent.masters(ports::JOIN), &identity.ca, shown)?;
    let mut outage = Outage::new("report to the masters");
    while !is_over(agent.host.clock.now()) {
        let status =
            Status { unheard_seconds: outage.lasting().map(|lasting| lasting.as_secs()), ..look(agent).await? };
        match member.report(&status).await {
            Ok(()) => outage.over(),
            Err(error) => outage.failed(&explain::chain(&error)),
        }
        sleep(INTERVAL).await;
    }
    Ok(())
}

async fn look(agent: &Agent) -> Result<Status<'_>, AgentError> {
    let state = agent.host.disk.read_optional(&agent.paths.state_dir.join("bootstrap-state"))?;
    let printed = agent.host.commands.run(&systemd::show(render::units::NAMES)).await?.stdout;
    Ok(status(agent, state.as_deref(), systemd::parse(&printed)))
}

fn status<'a>(agent: &'a Agent, state: Option<&[u8]>, units: BTreeMap<String, Unit>) -> Status<'a> {
    Status {
        node: &agent.node.name,
        role: agent.cluster.bootstrap_role(&agent.node),
        bootstrap: state.map(|state| String::from_utf8_lossy(state).trim().to_owned()),
        units: units.into_iter().map(|(name, unit)| (name, unit.state)).collect(),
        unheard_seconds: None,
        version: env!("CARGO_PKG_VERSION"),
    }
}

/// A certificate for the agent of a master, which never leaves its memory.
fn sign_own(agent: &Agent) -> Result<Identity, AgentError> {
    let now = agent.host.clock.now();
    let existing = Existing::read(&*agent.host.disk, &agent.paths.kubernetes_dir)?;
    let signer = Signer::new(&existing, agent.cluster.name(), now)?;
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let request = Request::from_pem(&CertificateParams::default().serialize_request(&key)?.pem()?)?;
    let subject = Purpose::Agent.subject(&agent.node.name);
    Ok(Identity {
        certificate: signer.client_certificate(&request, &subject, OWN_DAYS, now)?,
        key: key.serialize_pem(),
        ca: String::from_utf8_lossy(signer.authority_pem()).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pki::{Input, Shared};

    use super::*;
    use crate::testing::{Scripted, agent};

    #[test]
    fn a_status_is_small_and_says_what_matters() {
        let agent = agent("worker-01", &Arc::new(Scripted::default()));
        let unit = |state: &str| Unit { state: state.to_owned(), started: None };
        let units = [("kubelet.service", unit("active")), ("kube-proxy.service", unit("failed"))];
        let units = units.map(|(name, unit)| (name.to_owned(), unit)).into();
        let status = Status { version: "1.2.3", ..status(&agent, Some(b"joined\n"), units) };
        insta::assert_json_snapshot!(status);
    }

    #[test]
    fn a_master_is_its_own_authority() {
        let agent = agent("master-01", &Arc::new(Scripted::default()));
        let existing = Existing::read(&*agent.host.disk, &agent.paths.kubernetes_dir).unwrap();
        let input = Input::new(&agent.cluster, &agent.node, Shared::Make);
        for change in pki::plan(&existing, &input, Timestamp::now()).unwrap() {
            change.apply(&*agent.host.disk).unwrap();
        }
        let identity = sign_own(&agent).unwrap();
        let certificate = x509_parser::pem::parse_x509_pem(identity.certificate.as_bytes()).unwrap().1;
        let caller = join::Caller::from_certificate(Some(&certificate.contents)).unwrap();
        assert_eq!(caller, join::Caller::Agent("master-01".to_owned()));
    }
}
