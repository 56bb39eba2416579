//! A Lease of the controllers that a bootstrap node holds which is gone: no controller reconciles until it runs out.

use jiff::{SignedDuration, Timestamp};
use kubeapi::{k8s_openapi::api::coordination::v1::Lease, kube::Api};

use super::{REMOVE, gone};
use crate::{Check, Checking, Context, Finding, Kind, Part, Roles, codes::BOOTSTRAP_LEASE};

/// See [`super::super`].
pub(crate) const CHECK: Check = Check::new(
    "bootstrap-lease",
    "a bootstrap node that is gone: Leases of the controllers that it holds",
    &[BOOTSTRAP_LEASE],
    check,
)
.only(Roles::Masters);

const NAMESPACE: &str = "kube-system";
const LEASES: [&str; 2] = ["kube-controller-manager", "kube-scheduler"];

/// As long as this it is waited for: a controller that dies leaves a Lease for 15 s.
const USUAL: SignedDuration = SignedDuration::from_secs(30);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let Some(node) = gone(context).await? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for name in LEASES {
            let get = async |client| Api::<Lease>::namespaced(client, NAMESPACE).get_opt(name).await;
            let lease = context.objects().await?.ask(&format!("see the Lease {name}"), get).await?;
            found.extend(lease.and_then(|lease| evaluate(name, &node.hostname, &lease, context.host.clock.now())));
        }
        Ok(found)
    })
}

/// A holder is named after its machine's host name.
fn evaluate(name: &str, hostname: &str, lease: &Lease, now: Timestamp) -> Option<Finding> {
    let spec = lease.spec.as_ref()?;
    let holder = spec.holder_identity.as_deref().filter(|holder| holder.split('_').next() == Some(hostname))?;
    let renewed = spec.renew_time.as_ref().map_or(now, |time| time.0);
    let end = renewed + SignedDuration::from_secs(spec.lease_duration_seconds.unwrap_or_default().into());
    let left = end.duration_since(now);
    let evidence = format!(
        "the Lease {name} is held by {holder} for another {} s, and {hostname} does not answer",
        left.as_secs().max(0)
    );
    let kind = if left > USUAL { Kind::Cause } else { Kind::Warning };
    Some(Finding { kind, ..Finding::cause(BOOTSTRAP_LEASE, Part::Controllers, evidence).with_fix(REMOVE) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_expires_soon_is_worth_a_warning() {
        let now: Timestamp = "2026-11-18T12:00:10Z".parse().unwrap();
        let reported = |holder: &str, seconds: u32| {
            let lease = json!({ "spec": { "holderIdentity": holder, "leaseDurationSeconds": seconds,
                                           "renewTime": "2026-11-18T12:00:00.000000Z" } });
            let found = evaluate("kube-scheduler", "bootstrap", &serde_json::from_value(lease).unwrap(), now);
            found.map(|found| (found.kind, found.evidence))
        };
        assert_eq!(reported("master-01_2f", 15), None);
        assert_eq!(reported("bootstrap-2_2f", 15), None);
        assert_eq!(reported("", 15), None);
        assert_eq!(reported("bootstrap_2f", 15).unwrap().0, Kind::Warning);
        let (kind, evidence) = reported("bootstrap_2f", 3600).unwrap();
        assert_eq!(kind, Kind::Cause);
        insta::assert_snapshot!(evidence, @"the Lease kube-scheduler is held by bootstrap_2f for another 3590 s, and bootstrap does not answer");
    }
}
