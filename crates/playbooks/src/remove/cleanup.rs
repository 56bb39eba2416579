//! What a node leaves in the API beside its Node: requests for certificates that are still pending, join tokens that are
//! bound to it, the Lease by which it reported that it is up, and on a master the note that it has the cluster's keys:
//! another machine may take its place.

use engine::{About, Act, Planned, Stays, Step, StepError};
use host::Host;
use kubeapi::{
    k8s_openapi::api::{certificates::v1::CertificateSigningRequest, coordination::v1::Lease, core::v1::Secret},
    kube::{
        Api, ResourceExt,
        api::{DeleteParams, ListParams},
    },
};
use pki::Request;
use render::objects::NODE_ANNOTATION;

use super::{Target, gone, ids, refused};
use crate::admissions;

const TOKENS: &str = "type=bootstrap.kubernetes.io/token";
const TOKEN_PREFIX: &str = "bootstrap-token-";
const LEASES: &str = "kube-node-lease";

/// Deletes what is left of the node in the API.
pub(super) struct Cleanup {
    target: Target,
    /// Another machine of that name may get the cluster's keys.
    lets_follow: bool,
}

/// Something that is left, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Leftover {
    Request(String),
    Token(String),
    Lease(String),
    Keys(String),
}

impl Leftover {
    /// The form in which the ledger knows it.
    fn key(&self) -> String {
        match self {
            Self::Request(name) => format!("request/{name}"),
            Self::Token(name) => format!("token/{name}"),
            Self::Lease(name) => format!("lease/{name}"),
            Self::Keys(name) => format!("keys/{name}"),
        }
    }

    fn parse(key: &str) -> Option<Self> {
        let (kind, name) = key.split_once('/')?;
        let name = name.to_owned();
        match kind {
            "request" => Some(Self::Request(name)),
            "token" => Some(Self::Token(name)),
            "lease" => Some(Self::Lease(name)),
            "keys" => Some(Self::Keys(name)),
            _ => None,
        }
    }

    fn reported(&self) -> String {
        match self {
            Self::Request(name) => format!("delete the pending certificate request {name}"),
            // Its name holds its public half only.
            Self::Token(name) => {
                format!("delete the join token {}, which is bound to it", name.trim_start_matches(TOKEN_PREFIX))
            }
            Self::Lease(name) => format!("delete the lease {name} in {LEASES}"),
            Self::Keys(name) => format!("let the cluster's keys go to another machine of the name {name}, once"),
        }
    }
}

impl Cleanup {
    pub(super) fn new(target: &Target) -> Self {
        Self { target: target.clone(), lets_follow: true }
    }

    /// Of a node that none is to follow.
    pub(super) fn for_good(target: &Target) -> Self {
        Self { target: target.clone(), lets_follow: false }
    }
}

/// Whether a request is still pending, and is for this node.
fn is_pending_of(csr: &CertificateSigningRequest, node: &str) -> bool {
    let status = csr.status.clone().unwrap_or_default();
    let is_over = status.certificate.is_some()
        || status.conditions.iter().flatten().any(|condition| matches!(condition.type_.as_str(), "Denied" | "Failed"));
    let user = format!("system:node:{node}");
    // The first certificate of a node is asked for by a token: only the request itself shows for whom.
    let is_for_it = || Request::from_pem(&csr.spec.request.0).is_ok_and(|request| request.common_names.contains(&user));
    !is_over && (csr.spec.username.as_deref() == Some(user.as_str()) || is_for_it())
}

fn is_bound_to(token: &Secret, node: &str) -> bool {
    token.annotations().get(NODE_ANNOTATION).is_some_and(|bound| bound == node)
}

impl Step for Cleanup {
    type Seen = Vec<Leftover>;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(ids::CLEANUP, "Delete what it left in the API", "credentials of a removed node must not be usable")
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Leftover>, StepError> {
        let (node, client) = (&self.target.name, self.target.api.required(host).await?);
        let requests: Api<CertificateSigningRequest> = Api::all(client.clone());
        let requests = requests.list(&ListParams::default()).await.map_err(refused("list the certificate requests"))?;
        let tokens: Api<Secret> = Api::namespaced(client.clone(), "kube-system");
        let tokens = tokens.list(&ListParams::default().fields(TOKENS)).await.map_err(refused("list the tokens"))?;
        let leases: Api<Lease> = Api::namespaced(client.clone(), LEASES);
        let lease = leases.get_opt(node).await.map_err(refused(format!("see the lease of {node}")))?;
        let given = admissions::read(&client).await?.of(node).given.filter(|_| self.lets_follow);
        let keys = given.map(|_| Leftover::Keys(node.clone()));
        let requests =
            requests.iter().filter(|csr| is_pending_of(csr, node)).map(|csr| Leftover::Request(csr.name_any()));
        let tokens =
            tokens.iter().filter(|token| is_bound_to(token, node)).map(|token| Leftover::Token(token.name_any()));
        let lease = lease.map(|lease| Leftover::Lease(lease.name_any()));
        Ok(requests.chain(tokens).chain(lease).chain(keys).collect())
    }

    fn plan(&self, left: &Vec<Leftover>) -> Result<Vec<Planned>, StepError> {
        Ok(left.iter().map(|leftover| Planned::act(leftover.key(), leftover.reported())).collect())
    }

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        let client = self.target.api.required(host).await?;
        let at_once = DeleteParams::default();
        match Leftover::parse(key) {
            Some(Leftover::Request(name)) => {
                let deleted = Api::<CertificateSigningRequest>::all(client).delete(&name, &at_once).await;
                gone(deleted, format!("delete certificate request {name}"))
            }
            Some(Leftover::Token(name)) => {
                let deleted = Api::<Secret>::namespaced(client, "kube-system").delete(&name, &at_once).await;
                gone(deleted, "delete a join token")
            }
            Some(Leftover::Lease(name)) => {
                let deleted = Api::<Lease>::namespaced(client, LEASES).delete(&name, &at_once).await;
                gone(deleted, format!("delete the lease of {name}"))
            }
            Some(Leftover::Keys(name)) => admissions::rearm(&client, &name, host.clock.now()).await.map(drop),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn csr(user: &str, status: &Value) -> CertificateSigningRequest {
        let spec = json!({ "request": "bm8gcmVxdWVzdA==", "signerName": "kubernetes.io/kubelet-serving",
                           "username": user, "usages": [] });
        serde_json::from_value(json!({ "metadata": { "name": "csr-1" }, "spec": spec, "status": status })).unwrap()
    }

    #[test]
    fn only_its_own_pending_requests() {
        let condition = |kind: &str| json!({ "conditions": [{ "type": kind, "status": "True" }] });
        for (what, user, status, expected) in [
            ("its own, new", "system:node:worker-01", json!({}), true),
            ("its own, approved and not signed", "system:node:worker-01", condition("Approved"), true),
            ("its own, denied", "system:node:worker-01", condition("Denied"), false),
            ("its own, signed", "system:node:worker-01", json!({ "certificate": "eA==" }), false),
            ("another node's", "system:node:worker-011", json!({}), false),
            ("a token's, for an unknown node", "system:bootstrap:abcdef", json!({}), false),
        ] {
            assert_eq!(is_pending_of(&csr(user, &status), "worker-01"), expected, "{what}");
        }
    }

    #[test]
    fn only_tokens_that_are_bound_to_it() {
        for (bound, expected) in [(Some("worker-01"), true), (Some("worker-02"), false), (None, false)] {
            let token = render::objects::token("abcdef", "0123456789abcdef", None, bound, "");
            let token: Secret = serde_json::from_value(token).unwrap();
            assert_eq!(is_bound_to(&token, "worker-01"), expected, "{bound:?}");
        }
    }

    #[test]
    fn what_is_left_is_found_again_by_its_key() {
        let all = [
            Leftover::Request("csr-abc".into()),
            Leftover::Token("bootstrap-token-abcdef".into()),
            Leftover::Lease("worker-01".into()),
            Leftover::Keys("master-02".into()),
        ];
        for leftover in &all {
            assert_eq!(Leftover::parse(&leftover.key()).as_ref(), Some(leftover));
        }
        assert_eq!(Leftover::parse("pod/x"), None);
        insta::assert_snapshot!(all.map(|leftover| leftover.reported()).join("\n"), @r"
        delete the pending certificate request csr-abc
        delete the join token abcdef, which is bound to it
        delete the lease worker-01 in kube-node-lease
        let the cluster's keys go to another machine of the name master-02, once
        ");
    }
}
