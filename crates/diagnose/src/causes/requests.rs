//! Certificate requests of nodes: those that stay pending, and those that were denied.

use jiff::{SignedDuration, Timestamp};
use kubeapi::{
    k8s_openapi::api::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestCondition},
    kube::{Api, api::ListParams},
};
use playbooks::cluster::ids;
use spec::ValidatedCluster;

use crate::{
    Check, Checking, Context, Finding, Part, Roles,
    codes::{CSR_DENIED, CSR_PENDING},
};

/// See [`super`].
pub(crate) const CHECK: Check =
    Check::new("requests", "CSRs that are pending or were denied", &[CSR_PENDING, CSR_DENIED], check)
        .only(Roles::Masters);

/// Masters' agents decide at once; a node whose object is about to appear gets a minute.
const DEADLINE: SignedDuration = SignedDuration::from_secs(10);

/// A kubelet asks again within minutes: what is older than this is over.
const RECENT: SignedDuration = SignedDuration::from_mins(15);

/// The user name of a node's kubelet.
const NODE: &str = "system:node:";

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if !context.was_done(ids::API_READY).await? {
            return Ok(Vec::new());
        }
        let list = async |client| Api::<CertificateSigningRequest>::all(client).list(&ListParams::default()).await;
        let requests = context.objects().await?.ask("list the certificate requests", list).await?;
        Ok(evaluate(&context.cluster, &requests.items, context.host.clock.now()))
    })
}

fn evaluate(cluster: &ValidatedCluster, requests: &[CertificateSigningRequest], now: Timestamp) -> Vec<Finding> {
    let ours = requests.iter().filter(|request| request.spec.signer_name.contains("kubelet"));
    let requests: Vec<Request<'_>> = ours.map(|request| Request::read(request, now)).collect();
    requests
        .iter()
        .filter(|request| !request.is_answered_by(&requests))
        .filter_map(|one| one.evaluate(cluster))
        .collect()
}

/// What counts of a request.
struct Request<'a> {
    name: &'a str,
    requestor: &'a str,
    signer: &'a str,
    age: SignedDuration,
    decision: Option<&'a CertificateSigningRequestCondition>,
}

impl<'a> Request<'a> {
    fn read(request: &'a CertificateSigningRequest, now: Timestamp) -> Self {
        let conditions = request.status.as_ref().and_then(|status| status.conditions.as_ref());
        let made = request.metadata.creation_timestamp.as_ref().map_or(now, |made| made.0);
        Self {
            name: request.metadata.name.as_deref().unwrap_or_default(),
            requestor: request.spec.username.as_deref().unwrap_or_default(),
            signer: &request.spec.signer_name,
            age: now.duration_since(made),
            decision: conditions.into_iter().flatten().find(|one| matches!(one.type_.as_str(), "Approved" | "Denied")),
        }
    }

    /// Whether the same node has asked for the same since and got it.
    fn is_answered_by(&self, all: &[Self]) -> bool {
        let approved = |other: &Self| other.decision.is_some_and(|decision| decision.type_ == "Approved");
        all.iter().any(|other| {
            other.requestor == self.requestor && other.signer == self.signer && other.age < self.age && approved(other)
        })
    }

    fn evaluate(&self, cluster: &ValidatedCluster) -> Option<Finding> {
        let Self { name, requestor, age, .. } = self;
        let seconds = age.as_secs();
        match self.decision {
            None if *age > DEADLINE => {
                let evidence = format!("request {name} of {requestor} waits for {seconds} s");
                Some(Finding::symptom(CSR_PENDING, Part::Joining, evidence))
            }
            Some(decision) if decision.type_ == "Denied" && *age < RECENT => {
                let why = decision.message.as_deref().unwrap_or("no reason given");
                let code = decision.reason.as_deref().unwrap_or_default();
                let evidence = format!("request {name} of {requestor} was denied: {code} {why}");
                // A stranger who is turned away is no fault of the cluster.
                let is_member = requestor.strip_prefix(NODE).is_some_and(|node| cluster.machine(node).is_some());
                Some(if is_member {
                    Finding::cause(CSR_DENIED, Part::Joining, evidence)
                } else {
                    Finding::warning(CSR_DENIED, Part::Joining, evidence)
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::cluster;

    /// Who asks, when, and how it was decided.
    type Made = (&'static str, &'static str, Option<&'static str>);

    fn reported(requests: &[Made]) -> Vec<String> {
        let request = |(index, (user, made, decision)): (usize, &Made)| -> CertificateSigningRequest {
            let condition =
                |type_: &str| json!([{"type": type_, "status": "True", "reason": "BS-CSR-004", "message": "names"}]);
            serde_json::from_value(json!({
                "metadata": {"name": format!("csr-{index}"), "creationTimestamp": format!("2026-11-16T{made}:00Z")},
                "spec": {"signerName": "kubernetes.io/kubelet-serving", "username": user, "request": ""},
                "status": {"conditions": decision.map(condition)},
            }))
            .unwrap()
        };
        let requests: Vec<_> = requests.iter().enumerate().map(request).collect();
        let line = |finding: &Finding| format!("{} {:?} {}", finding.id(), finding.kind, finding.evidence);
        evaluate(&cluster(), &requests, "2026-11-16T03:30:00Z".parse().unwrap()).iter().map(line).collect()
    }

    #[test]
    fn only_what_still_matters_is_reported() {
        const NODE: &str = "system:node:worker-01";
        let pending = ["BS-DIAG-045 Symptom request csr-0 of system:node:worker-01 waits for 120 s"];
        let denied = ["BS-DIAG-046 Cause request csr-0 of system:node:worker-01 was denied: BS-CSR-004 names"];
        let stranger = ["BS-DIAG-046 Warning request csr-0 of system:bootstrap:x was denied: BS-CSR-004 names"];
        let cases: &[(&[Made], &[&str])] = &[
            (&[], &[]),
            (&[(NODE, "03:28", Some("Approved"))], &[]),
            (&[(NODE, "03:28", None)], &pending),
            (&[(NODE, "03:30", None)], &[]),
            (&[(NODE, "03:28", Some("Denied"))], &denied),
            (&[(NODE, "03:28", Some("Denied")), (NODE, "03:29", Some("Approved"))], &[]),
            (&[(NODE, "03:28", Some("Denied")), (NODE, "03:27", Some("Approved"))], &denied),
            (&[(NODE, "02:28", Some("Denied"))], &[]),
            (&[("system:bootstrap:x", "03:28", Some("Denied"))], &stranger),
        ];
        for (requests, expected) in cases {
            assert_eq!(reported(requests), *expected, "{requests:?}");
        }
    }
}
