//! A worker that has not been let into the cluster yet, or has lost what it was handed: what keeps it out.

use std::time::Duration;

use explain::{Code, Explain};
use host::Disk;
use jiff::Timestamp;
use join::{Client, JoinError, NodeSecret, Trust, codes, seal::Sealed};
use playbooks::cluster::ids;
use tokio::time::timeout;

use crate::{Check, Checking, Context, Finding, Inconclusive, Part, Roles};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "joining",
    "a worker outside the cluster: its secret, its trust, the masters' join services",
    &[
        codes::EXPIRED,
        codes::OTHER_NODE,
        codes::UNREACHABLE,
        codes::WRONG_CA,
        codes::UNTRUSTED,
        codes::CLOCK,
        codes::UNPROVEN_CA,
        codes::ANSWER,
        codes::BAD_SECRET,
        codes::WRONG_PIN,
        codes::INCOMPLETE,
    ],
    check,
)
.only(Roles::Workers);

/// A master that is up answers at once.
const LIMIT: Duration = Duration::from_secs(6);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let has_joined = context.host.disk.exists(&context.layout.kubernetes_dir.join("agent.conf"))?;
        if has_joined || !context.was_done(ids::PREFLIGHT).await? {
            return Ok(Vec::new());
        }
        let now = context.host.clock.now();
        let trust = match read_trust(&*context.host.disk, context) {
            Ok((secret, trust)) => {
                if let Some(finding) = secret.as_ref().and_then(|secret| evaluate(secret, &context.node.name, now)) {
                    return Ok(vec![finding]);
                }
                trust
            }
            Err(finding) => return Ok(vec![*finding]),
        };
        let Some(trust) = trust else { return Ok(Vec::new()) };
        let client = Client::new(Sealed::masters(&context.cluster), trust);
        match timeout(LIMIT, client.hello(None)).await {
            Ok(Ok(_)) => Ok(Vec::new()),
            Ok(Err(error)) => Ok(vec![kept_out(&error)]),
            Err(_) => Err(Inconclusive("no master answers in time".to_owned())),
        }
    })
}

/// What the node proves itself with, where that is a secret of its own, and whom it believes.
fn read_trust(disk: &dyn Disk, context: &Context) -> Result<(Option<NodeSecret>, Option<Trust>), Box<Finding>> {
    let reported = |error: &dyn Explain| Box::new(found(error.code(), explain::chain(&error), error.advice()));
    match Sealed::read(disk, &context.layout.config_dir) {
        Ok(Some(sealed)) => Ok((Some(sealed.secret), Some(Trust::Ca(sealed.ca_pem)))),
        Ok(None) => Ok((None, context.cluster.bootstrap().token.clone().map(Trust::Token))),
        Err(error) => Err(reported(&error)),
    }
}

fn evaluate(secret: &NodeSecret, node: &str, now: Timestamp) -> Option<Finding> {
    if secret.node != node {
        let evidence = format!("the join secret of this machine is for `{}`, and the machine is `{node}`", secret.node);
        return Some(Finding::cause(codes::OTHER_NODE, Part::Joining, evidence));
    }
    let expired = secret.expires.filter(|end| *end <= now)?;
    let evidence = format!("the join secret of `{node}` ended on {expired:.0}");
    Some(Finding::cause(codes::EXPIRED, Part::Joining, evidence))
}

/// That no master answers may have any cause; everything else is in the masters' answer itself.
fn kept_out(error: &JoinError) -> Finding {
    let evidence = explain::chain(error);
    match error {
        JoinError::Unreachable { .. } => Finding::symptom(error.code(), Part::Network, evidence),
        _ => found(error.code(), evidence, error.advice()),
    }
}

fn found(code: Code, evidence: String, fix: String) -> Finding {
    Finding::cause(code, Part::Joining, evidence).with_fix(fix)
}

#[cfg(test)]
mod tests {
    use join::{Generation, JoinKey};

    use super::*;

    #[test]
    fn a_secret_is_for_one_node_and_for_a_time() {
        let now: Timestamp = "2026-11-16T03:00:00Z".parse().unwrap();
        let key = JoinKey::generate().unwrap();
        let at = |text: &str| Some(text.parse().unwrap());
        for (secret, expected) in [
            (key.node_secret("worker-01", Generation(1), None), None),
            (key.node_secret("worker-01", Generation(1), at("2026-11-17T00:00:00Z")), None),
            (key.node_secret("worker-01", Generation(1), at("2026-11-16T03:00:00Z")), Some(codes::EXPIRED)),
            (key.node_secret("worker-02", Generation(1), None), Some(codes::OTHER_NODE)),
        ] {
            let reported = evaluate(&secret, "worker-01", now);
            assert_eq!(reported.and_then(|finding| finding.code), expected, "{:?}", secret.expires);
        }
    }

    #[test]
    fn who_is_not_there_is_a_symptom_and_who_is_not_believed_a_cause() {
        let master = "10.0.0.11:7444".parse().unwrap();
        let wrong = kept_out(&JoinError::WrongCa { master });
        assert_eq!((wrong.code, wrong.kind), (Some(codes::WRONG_CA), crate::Kind::Cause));
        let away = kept_out(&JoinError::Unreachable { tried: Vec::new() });
        assert_eq!((away.code, away.kind), (Some(codes::UNREACHABLE), crate::Kind::Symptom));
    }
}
