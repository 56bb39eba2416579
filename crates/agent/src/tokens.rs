//! Removes bootstrap tokens a day after their end.
//!
//! Not at once, as kube-controller-manager would: a machine with a token that ended an hour ago is to hear that it
//! expired, not that it is unknown. Tokens that were made by others are left alone.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, Preconditions},
};
use render::objects::NODE_ANNOTATION;
use tokio::time::sleep;

use crate::{Agent, AgentError, session};

const KEPT: SignedDuration = SignedDuration::from_hours(24);
const CHECK_INTERVAL: Duration = Duration::from_hours(1);

/// Runs until the credentials are renewed.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    session::with_client(agent, |client| follow(agent, client)).await
}

async fn follow(agent: &Agent, client: Client) -> Result<(), AgentError> {
    let secrets: Api<Secret> = Api::namespaced(client, "kube-system");
    let tokens = ListParams::default().fields("type=bootstrap.kubernetes.io/token");
    loop {
        let found = secrets.list(&tokens).await.map_err(AgentError::api("list bootstrap tokens"))?;
        for token in found.into_iter().filter(|token| is_over(token, agent.host.clock.now())) {
            let name = token.name_any();
            // Exactly what was seen: a token of the same name may have been made again.
            let (uid, resource_version) = (token.uid(), token.resource_version());
            let same = DeleteParams::default().preconditions(Preconditions { uid, resource_version });
            match secrets.delete(&name, &same).await {
                Ok(_) => tracing::info!(token = name, "removed: it ended more than a day ago"),
                Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
                Err(error) => return Err(AgentError::api("remove a bootstrap token")(error)),
            }
        }
        sleep(CHECK_INTERVAL).await;
    }
}

/// True for a token of ours that ended long enough ago.
fn is_over(token: &Secret, now: Timestamp) -> bool {
    let applied_by_us =
        || token.managed_fields().iter().any(|by| by.manager.as_deref() == Some(kubeapi::FIELD_MANAGER));
    let ours = token.annotations().contains_key(NODE_ANNOTATION) || applied_by_us();
    let end = token.data.as_ref().and_then(|data| data.get("expiration"));
    let end: Option<Timestamp> = end.and_then(|end| std::str::from_utf8(&end.0).ok()?.parse().ok());
    ours && end.is_some_and(|end| now.duration_since(end) > KEPT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_our_own_and_only_long_after_their_end() {
        let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        for (what, end, bound, manager, expected) in [
            ("ours, long over", Some("2026-11-15T11:59:59Z"), false, "blackstart", true),
            ("ours, just over", Some("2026-11-16T11:00:00Z"), false, "blackstart", false),
            ("ours, valid", Some("2026-11-17T11:00:00Z"), false, "blackstart", false),
            ("ours, for ever", None, false, "blackstart", false),
            ("ours by its node, long over", Some("2026-11-01T00:00:00Z"), true, "kubectl", true),
            ("theirs, long over", Some("2026-11-01T00:00:00Z"), false, "kubeadm", false),
            ("nonsense", Some("tomorrow"), false, "blackstart", false),
        ] {
            let mut token = render::objects::token("abcdef", "0123456789abcdef", end, bound.then_some("worker-01"), "");
            token["metadata"]["managedFields"] = json!([{ "manager": manager, "operation": "Apply" }]);
            let token: Secret = serde_json::from_value(token).unwrap();
            assert_eq!(is_over(&token, now), expected, "{what}");
        }
    }
}
