//! The cluster's DNS: its objects, its pods, and whether it answers at the address that pods ask.

use kubeapi::{
    Failure, failure,
    k8s_openapi::api::{
        apps::v1::Deployment,
        core::v1::{Pod, Service},
    },
    kube::{Api, api::ListParams},
};
use playbooks::cluster::{ask_dns, ids};
use spec::BootstrapRole;

use crate::{
    Check, Checking, Context, Finding, Part,
    codes::{DNS_GONE, DNS_SILENT},
    view::{Objects, Unread},
};

/// See [`super`].
pub(crate) const CHECK: Check =
    Check::new("cluster-dns", "the cluster's DNS: its objects, its pods, its answers", &[DNS_GONE, DNS_SILENT], check);

const NAMESPACE: &str = "kube-system";

/// What the API has of it.
struct Seen {
    service: Option<Service>,
    deployment: Option<Deployment>,
    pods: Vec<Pod>,
}

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let is_worker = context.role() == BootstrapRole::Worker;
        if !context.was_done(if is_worker { ids::NODE_READY } else { ids::CLUSTER_DNS }).await? {
            return Ok(Vec::new());
        }
        let answer = ask_with_retries(context).await;
        // A worker may not look at the objects, and where names are resolved nothing can be wrong with them.
        if is_worker {
            return Ok(answer.err().map(silent).into_iter().collect());
        }
        let seen = match read(context.objects().await?).await {
            Ok(seen) => seen,
            Err(unread) => return if answer.is_ok() { Ok(Vec::new()) } else { Err(unread.into()) },
        };
        Ok(evaluate(&seen, answer))
    })
}

/// One lost packet is no silence.
async fn ask_with_retries(context: &Context) -> Result<(), String> {
    match ask_dns(&context.cluster).await {
        Ok(()) => Ok(()),
        Err(_) => ask_dns(&context.cluster).await,
    }
}

async fn read(objects: &Objects) -> Result<Seen, Unread> {
    let service = objects
        .ask("read the DNS service", async |client| Api::namespaced(client, NAMESPACE).get_opt("kube-dns").await);
    let deployment = objects
        .ask("read the DNS deployment", async |client| Api::namespaced(client, NAMESPACE).get_opt("coredns").await);
    let pods = objects.ask("list the DNS pods", async |client| {
        Api::namespaced(client, NAMESPACE).list(&ListParams::default().labels("k8s-app=kube-dns")).await
    });
    let (service, deployment, pods) = tokio::join!(service, deployment, pods);
    Ok(Seen { service: service?, deployment: deployment?, pods: pods?.items })
}

fn evaluate(seen: &Seen, answer: Result<(), String>) -> Vec<Finding> {
    let replicas =
        seen.deployment.as_ref().map(|found| found.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1));
    let mut gone = Vec::new();
    if seen.service.is_none() {
        gone.push("Service kube-system/kube-dns is missing");
    }
    match replicas {
        None => gone.push("Deployment kube-system/coredns is missing"),
        Some(0) => gone.push("Deployment kube-system/coredns is scaled to 0"),
        Some(_) => {}
    }
    let mut found = Vec::new();
    if !gone.is_empty() {
        found.push(Finding::cause(DNS_GONE, Part::ClusterDns, gone.join("; ")));
    }
    if let Err(why) = answer {
        let mut reasons: Vec<String> = seen.pods.iter().filter_map(failure).map(|failure| output(&failure)).collect();
        reasons.dedup();
        let evidence = [vec![why], reasons].concat().join("; ");
        found.push(silent(evidence));
    }
    found
}

fn output(failure: &Failure) -> String {
    failure.to_string()
}

fn silent(why: String) -> Finding {
    Finding::symptom(DNS_SILENT, Part::ClusterDns, why)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn seen(replicas: i32) -> Seen {
        let deployment = json!({"spec": {"replicas": replicas, "selector": {}, "template": {}}});
        Seen {
            service: Some(Service::default()),
            deployment: Some(serde_json::from_value(deployment).unwrap()),
            pods: Vec::new(),
        }
    }

    fn reported(seen: &Seen, answer: Result<(), String>) -> Vec<String> {
        evaluate(seen, answer).iter().map(|finding| format!("{} {}", finding.id(), finding.evidence)).collect()
    }

    #[test]
    fn what_is_missing_and_who_is_silent() {
        let no_answer = || Err("10.96.0.10:53 does not answer".to_owned());
        assert_eq!(reported(&seen(2), Ok(())), [""; 0]);
        assert_eq!(reported(&seen(2), no_answer()), ["BS-DIAG-056 10.96.0.10:53 does not answer"]);
        assert_eq!(
            reported(&Seen { service: None, ..seen(0) }, Ok(())),
            ["BS-DIAG-055 Service kube-system/kube-dns is missing; Deployment kube-system/coredns is scaled to 0"]
        );
        let pod = serde_json::from_value(json!({
            "metadata": {"name": "coredns-1"},
            "status": {"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes"}]},
        }));
        let waiting = Seen { pods: vec![pod.unwrap()], ..seen(2) };
        assert_eq!(
            reported(&waiting, no_answer()),
            ["BS-DIAG-056 10.96.0.10:53 does not answer; coredns-1 has no node: 0/1 nodes"]
        );
    }
}
