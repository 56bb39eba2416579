//! Approves and denies the certificate requests of kubelets, on every master.
//!
//! ```text
//! CertificateSigningRequest ──► ask: its form ──► what the API knows of node and token ──► decide ──► approval
//! ```
//! A denial carries its code and what was seen, so that `kubectl describe csr` tells. Requests for other signers are left
//! alone. All masters look at every request; the first one to write wins, and the others find it done. Nothing is kept: a
//! request that was not decided before a restart is in the next list.

mod ask;
mod decide;

use std::time::Duration;

use futures::StreamExt;
use jiff::SignedDuration;
use k8s_openapi::api::{
    certificates::v1::{CertificateSigningRequest, CertificateSigningRequestCondition},
    core::v1::Secret,
};
use kube::{
    Api, Client, ResourceExt,
    api::PostParams,
    runtime::watcher::{Event, watcher},
};
use render::objects::NODE_ANNOTATION;
use tokio::time::interval;

use self::{
    ask::{Ask, Denial, Requestor},
    decide::{Decision, Known, Token, decide},
};
use crate::{Agent, AgentError, node_object::NodeObject, outage::Outage, session};

/// Between two looks at requests that could not be decided yet.
const AGAIN: Duration = Duration::from_secs(1);

/// For how long a request is left undecided.
const PATIENCE: SignedDuration = SignedDuration::from_mins(1);

/// Runs until the credentials are renewed.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    session::with_client(agent, |client| Approver { agent, client }.follow()).await
}

struct Approver<'a> {
    agent: &'a Agent,
    client: Client,
}

impl Approver<'_> {
    async fn follow(self) -> Result<(), AgentError> {
        let requests: Api<CertificateSigningRequest> = Api::all(self.client.clone());
        let mut stream = watcher(requests, session::watching()).boxed();
        let mut outage = Outage::new("follow the certificate requests");
        let mut undecided: Vec<CertificateSigningRequest> = Vec::new();
        let mut again = interval(AGAIN);
        loop {
            let due = tokio::select! {
                event = session::next(&mut stream, &mut outage) => match event {
                    Event::Apply(csr) | Event::InitApply(csr) => vec![csr],
                    Event::Delete(_) | Event::Init | Event::InitDone => continue,
                },
                _ = again.tick(), if !undecided.is_empty() => std::mem::take(&mut undecided),
            };
            for csr in due {
                undecided.extend(self.consider(csr).await?);
            }
        }
    }

    /// Decides on a request and writes it down; gives it back if it is too early.
    async fn consider(&self, csr: CertificateSigningRequest) -> Result<Option<CertificateSigningRequest>, AgentError> {
        if is_decided(&csr) {
            return Ok(None);
        }
        let decision = match Ask::read(&csr) {
            Ok(None) => return Ok(None),
            Ok(Some(ask)) => decide(&ask, &self.agent.cluster, &self.look_up(&ask).await?),
            Err(denial) => Decision::Deny(denial),
        };
        let decision = match decision {
            Decision::Approve => Ok(()),
            Decision::Later(_) if self.is_young(&csr) => return Ok(Some(csr)),
            Decision::Later(denial) | Decision::Deny(denial) => Err(denial),
        };
        self.write(csr, decision).await?;
        Ok(None)
    }

    fn is_young(&self, csr: &CertificateSigningRequest) -> bool {
        let age = csr.creation_timestamp().map(|made| self.agent.host.clock.now().duration_since(made.0));
        age.is_some_and(|age| age < PATIENCE)
    }

    /// Asks the API for what this one decision needs.
    async fn look_up(&self, ask: &Ask) -> Result<Known, AgentError> {
        let nodes: Api<NodeObject> = Api::all(self.client.clone());
        let node = nodes.get_opt(&ask.node).await.map_err(AgentError::api("look up a node"))?;
        let token = match &ask.requestor {
            Requestor::Token(id) => {
                let secrets: Api<Secret> = Api::namespaced(self.client.clone(), "kube-system");
                let secret = secrets.get_metadata_opt(&format!("bootstrap-token-{id}")).await;
                secret.map_err(AgentError::api("look up a bootstrap token"))?
            }
            Requestor::Node(_) | Requestor::Other(_) => None,
        };
        let token = token.map(|token| Token { node: token.annotations().get(NODE_ANNOTATION).cloned() });
        Ok(Known { node, token })
    }

    async fn write(&self, mut csr: CertificateSigningRequest, decision: Result<(), Denial>) -> Result<(), AgentError> {
        let requests: Api<CertificateSigningRequest> = Api::all(self.client.clone());
        let (name, requestor) = (csr.name_any(), csr.spec.username.clone().unwrap_or_default());
        csr.status.get_or_insert_default().conditions.get_or_insert_default().push(condition(&decision));
        match (requests.replace_subresource("approval", &name, &PostParams::default(), &csr).await, decision) {
            (Ok(_), Ok(())) => tracing::info!(request = name, requestor, "approved"),
            (Ok(_), Err(denial)) => {
                tracing::warn!(request = name, requestor, code = denial.code.id, "denied: {}", denial.message());
            }
            // Another master was faster, or the request is gone.
            (Err(kube::Error::Api(status)), _) if matches!(status.code, 404 | 409) => {}
            (Err(error), _) => return Err(AgentError::api("decide on a certificate request")(error)),
        }
        Ok(())
    }
}

fn is_decided(csr: &CertificateSigningRequest) -> bool {
    let conditions = csr.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.is_some_and(|conditions| !conditions.is_empty())
}

fn condition(decision: &Result<(), Denial>) -> CertificateSigningRequestCondition {
    let (type_, reason, message) = match decision {
        Ok(()) => ("Approved", "FitsClusterYaml", "it fits cluster.yaml".to_owned()),
        Err(denial) => ("Denied", denial.code.id, denial.message()),
    };
    CertificateSigningRequestCondition {
        type_: type_.to_owned(),
        status: "True".to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message),
        ..CertificateSigningRequestCondition::default()
    }
}
