//! Kubelets' certificates: their requests are approved or denied, and signed, on every master.
//!
//! ```text
//!                             ┌──────────────── what the API knows of node and token
//! CertificateSigningRequest ─► read: its form ─► decide ─┬─► issue: a certificate of our own making ─► write: approval, certificate
//!                                                        └─► write: denial (failure, if it was approved), Event
//! ```
//! There is one reader: the approver is the signer, and nothing of a request but its key gets into a certificate.
//! kube-controller-manager neither approves nor signs for kubelets. What is approved by hand is decided on like
//! anything else, and is not signed where it does not fit.
//!
//! A denial carries its code and what was seen, for `kubectl describe csr`. Requests for other signers are left
//! alone. All masters look at every request; the first one to write wins, and the others find it done. Nothing is kept: a
//! request that was not decided before a restart is in the next list.

mod decide;
#[cfg(test)]
mod drafts;
mod issue;
mod known;
mod names;
mod read;
mod write;

use std::{collections::BTreeSet, net::IpAddr, time::Duration};

use futures::StreamExt;
use jiff::SignedDuration;
use k8s_openapi::api::{certificates::v1::CertificateSigningRequest, core::v1::Secret};
use kube::{
    Api, Client, ResourceExt,
    api::ListParams,
    runtime::watcher::{Event, watcher},
};
use operations::outage::Outage;
use render::objects::NODE_ANNOTATION;
use tokio::time::interval;

use self::{
    decide::{Decision, decide},
    known::{Known, Token},
    read::{Ask, Purpose, Requestor},
    write::Writer,
};
use crate::{Agent, AgentError, node_object::NodeObject, session};

/// Between two checks of requests that could not be decided yet.
const AGAIN: Duration = Duration::from_secs(1);

/// For how long a request is left undecided.
const DEADLINE: SignedDuration = SignedDuration::from_mins(1);

/// Runs until the credentials are renewed.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    session::with_client(agent, |client| {
        let writer = Writer::new(&client, &agent.node.name);
        Certificates { agent, client, writer }.follow()
    })
    .await
}

struct Certificates<'a> {
    agent: &'a Agent,
    client: Client,
    writer: Writer,
}

/// How far a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It is not decided.
    New,
    /// It is approved, and not signed.
    Approved,
    /// It has its certificate, or will never have one.
    Over,
}

impl Certificates<'_> {
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

    /// Decides on a request and does what follows; gives it back if it is too early.
    async fn consider(&self, csr: CertificateSigningRequest) -> Result<Option<CertificateSigningRequest>, AgentError> {
        let stage = Stage::of(&csr);
        if stage == Stage::Over {
            return Ok(None);
        }
        let decision = match Ask::read(&csr) {
            Ok(None) => return Ok(None),
            Ok(Some(ask)) => match decide(&ask, &self.agent.cluster, &self.look_up(&ask).await?) {
                Decision::Fits => Ok(ask),
                Decision::Later(_) if self.is_young(&csr) => return Ok(Some(csr)),
                Decision::Later(denial) | Decision::Deny(denial) => Err(denial),
            },
            Err(denial) => Err(denial),
        };
        let now = self.agent.host.clock.now();
        match (decision, stage) {
            (Ok(ask), stage) => self.hand_out(csr, stage, &ask).await?,
            (Err(denial), Stage::Approved) => self.writer.fail(csr, &denial, now).await?,
            (Err(denial), _) => self.writer.deny(csr, &denial, now).await?,
        }
        Ok(None)
    }

    /// Signs before it approves: what this master cannot sign is left to one that can.
    async fn hand_out(&self, csr: CertificateSigningRequest, stage: Stage, ask: &Ask) -> Result<(), AgentError> {
        let certificate = issue::sign(self.agent, ask)?;
        let approved = if stage == Stage::New { self.writer.approve(csr).await? } else { Some(csr) };
        match approved {
            Some(csr) => self.writer.issue(csr, certificate).await,
            None => Ok(()),
        }
    }

    fn is_young(&self, csr: &CertificateSigningRequest) -> bool {
        let age = csr.creation_timestamp().map(|made| self.agent.host.clock.now().duration_since(made.0));
        age.is_some_and(|age| age < DEADLINE)
    }

    /// Asks the API for what this one decision needs.
    async fn look_up(&self, ask: &Ask) -> Result<Known, AgentError> {
        let nodes: Api<NodeObject> = Api::all(self.client.clone());
        let node = nodes.get_opt(&ask.node).await.map_err(AgentError::api("get a Node"))?;
        let of_others = match ask.purpose {
            Purpose::Serving if self.agent.cluster.machine(&ask.node).is_none() => {
                addresses_but(&nodes, &ask.node).await?
            }
            Purpose::Serving | Purpose::Client => BTreeSet::new(),
        };
        let token = match &ask.requestor {
            Requestor::Token(id) => {
                let secrets: Api<Secret> = Api::namespaced(self.client.clone(), "kube-system");
                let secret = secrets.get_metadata_opt(&format!("bootstrap-token-{id}")).await;
                secret.map_err(AgentError::api("get a bootstrap token"))?
            }
            Requestor::Node(_) | Requestor::Other(_) => None,
        };
        let token = token.map(|token| Token { node: token.annotations().get(NODE_ANNOTATION).cloned() });
        Ok(Known { node, of_others, token })
    }
}

/// The addresses of all Nodes but one.
async fn addresses_but(nodes: &Api<NodeObject>, own: &str) -> Result<BTreeSet<IpAddr>, AgentError> {
    let all = nodes.list(&ListParams::default()).await.map_err(AgentError::api("list nodes"))?;
    let others = all.items.iter().filter(|node| node.name() != own);
    let output = others.flat_map(|node| node.status.addresses.iter()).filter_map(|output| output.address.parse().ok());
    Ok(output.map(|ip: IpAddr| ip.to_canonical()).collect())
}

impl Stage {
    fn of(csr: &CertificateSigningRequest) -> Self {
        let status = csr.status.as_ref();
        let has = |kinds: &[&str]| {
            let conditions = status.and_then(|status| status.conditions.as_ref()).into_iter().flatten();
            conditions.into_iter().any(|condition| kinds.contains(&condition.type_.as_str()))
        };
        let is_signed = status.and_then(|status| status.certificate.as_ref()).is_some_and(|pem| !pem.0.is_empty());
        if is_signed || has(&["Denied", "Failed"]) {
            Self::Over
        } else if has(&["Approved"]) {
            Self::Approved
        } else {
            Self::New
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn how_far_a_request_is() {
        let conditions = |kinds: &[&str]| {
            let all: Vec<Value> = kinds.iter().map(|kind| json!({ "type": kind, "status": "True" })).collect();
            json!({ "conditions": all })
        };
        for (status, expected) in [
            (json!({}), Stage::New),
            (json!({ "certificate": "" }), Stage::New),
            (conditions(&["Approved"]), Stage::Approved),
            (conditions(&["Denied"]), Stage::Over),
            (conditions(&["Approved", "Failed"]), Stage::Over),
            (conditions(&["Approved", "Denied"]), Stage::Over),
            (json!({ "certificate": "eA==", "conditions": [{ "type": "Approved", "status": "True" }] }), Stage::Over),
        ] {
            let csr = json!({
                "metadata": { "name": "csr-1" },
                "spec": { "request": "", "signerName": "kubernetes.io/kubelet-serving" },
                "status": status,
            });
            assert_eq!(Stage::of(&serde_json::from_value(csr).unwrap()), expected, "{status}");
        }
    }
}
