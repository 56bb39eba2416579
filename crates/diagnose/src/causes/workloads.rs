//! Pods that do not run although the cluster does. They belong to users and are not the node's fault: warnings only.

use std::collections::BTreeMap;

use explain::Code;
use kubeapi::{
    Failure, failure,
    k8s_openapi::api::core::v1::Pod,
    kube::{Api, api::ListParams},
};

use playbooks::cluster::ids;

use crate::{
    Check, Checking, Context, Finding, Part, Roles,
    codes::{POD_FAILS, POD_IMAGE, POD_UNSCHEDULED},
    listed::listed,
};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "workloads",
    "pods without an image, without a node, or that do not stay up",
    &[POD_IMAGE, POD_UNSCHEDULED, POD_FAILS],
    check,
)
.only(Roles::Masters);

/// More than this no person reads, and the API server has other things to do.
const LISTED: u32 = 500;

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if !context.was_done(ids::NODE_READY).await? {
            return Ok(Vec::new());
        }
        let some = ListParams::default().limit(LISTED).fields("status.phase!=Succeeded");
        let list = async |client| Api::<Pod>::all(client).list(&some).await;
        let pods = context.objects().await?.ask("list the pods", list).await?;
        Ok(evaluate(&pods.items))
    })
}

fn evaluate(pods: &[Pod]) -> Vec<Finding> {
    let mut by_code: BTreeMap<&str, (Code, Vec<String>)> = BTreeMap::new();
    for pod in pods {
        let Some(failure) = failure(pod) else { continue };
        let code = match failure {
            Failure::Image(_) => POD_IMAGE,
            Failure::Unscheduled { .. } => POD_UNSCHEDULED,
            Failure::Container { .. } => POD_FAILS,
        };
        by_code.entry(code.id).or_insert((code, Vec::new())).1.push(output(pod, &failure));
    }
    by_code.into_values().map(|(code, output)| Finding::warning(code, Part::Workloads, listed(&output, "; "))).collect()
}

fn output(pod: &Pod, failure: &Failure) -> String {
    let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
    match failure {
        Failure::Image(image) => {
            format!("{namespace}/{}: image {image}", pod.metadata.name.as_deref().unwrap_or_default())
        }
        Failure::Container { pod, why } | Failure::Unscheduled { pod, why } => format!("{namespace}/{pod}: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(name: &str, status: &Value) -> Pod {
        serde_json::from_value(json!({"metadata": {"name": name, "namespace": "shop"}, "status": status})).unwrap()
    }

    fn waiting(name: &str, reason: &str) -> Pod {
        pod(
            name,
            &json!({"containerStatuses": [{"name": "c", "image": "example.org/x:1", "imageID": "", "ready": false,
            "restartCount": 0, "state": {"waiting": {"reason": reason, "message": "no"}}}]}),
        )
    }

    #[test]
    fn pods_are_reported_by_what_they_lack() {
        let unscheduled = json!({"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/2 nodes"}]});
        let mut pods = vec![
            pod("fine", &json!({"phase": "Running"})),
            pod("waits", &unscheduled),
            waiting("crashes", "CrashLoopBackOff"),
        ];
        pods.extend((0..7).map(|number| waiting(&format!("web-{number}"), "ImagePullBackOff")));
        let reported: Vec<String> =
            evaluate(&pods).iter().map(|finding| format!("{} {}", finding.id(), finding.evidence)).collect();
        insta::assert_snapshot!(reported.join("\n"));
    }
}
