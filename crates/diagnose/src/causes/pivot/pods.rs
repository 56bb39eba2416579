//! Pods of a bootstrap node that is gone, without a Node: mirrors of static pods that no kubelet removes.

use kubeapi::{
    k8s_openapi::api::core::v1::Pod,
    kube::{Api, api::ListParams},
};

use super::gone;
use crate::{Check, Checking, Context, Finding, Inconclusive, Part, Roles, codes::BOOTSTRAP_PODS};

/// See [`super::super`].
pub(crate) const CHECK: Check =
    Check::new("bootstrap-pods", "a bootstrap node that is gone: its pods", &[BOOTSTRAP_PODS], check)
        .only(Roles::Masters);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let Some(node) = gone(context).await? else { return Ok(Vec::new()) };
        let nodes = context.nodes().await?.as_ref().map_err(|why| Inconclusive::from(why.clone()))?;
        // With a Node they go when it goes.
        if nodes.iter().any(|one| one.metadata.name.as_deref() == Some(&node.name)) {
            return Ok(Vec::new());
        }
        let own = ListParams::default().fields(&format!("spec.nodeName={}", node.name));
        let list = async |client| Api::<Pod>::all(client).list(&own).await;
        let pods = context.objects().await?.ask("see the pods of the bootstrap node", list).await?;
        Ok(evaluate(&node.name, &pods.items).into_iter().collect())
    })
}

fn evaluate(name: &str, pods: &[Pod]) -> Option<Finding> {
    let described = |pod: &Pod| {
        let (namespace, name) = (pod.metadata.namespace.as_deref(), pod.metadata.name.as_deref());
        format!("{}/{}", namespace.unwrap_or_default(), name.unwrap_or_default())
    };
    let all: Vec<String> = pods.iter().map(described).collect();
    let evidence = format!("pods of {name}, which has no Node and does not answer: {}", all.join(", "));
    (!all.is_empty()).then(|| Finding::warning(BOOTSTRAP_PODS, Part::Workloads, evidence))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn they_are_named() {
        assert_eq!(evaluate("bootstrap", &[]), None);
        let pod = json!({ "metadata": { "name": "etcd-bootstrap", "namespace": "kube-system" } });
        let found = evaluate("bootstrap", &[serde_json::from_value(pod).unwrap()]).unwrap();
        assert!(found.evidence.ends_with("kube-system/etcd-bootstrap"), "{found:?}");
    }
}
