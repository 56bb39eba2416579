//! Role labels: every Node of cluster.yaml carries `node-role.kubernetes.io/control-plane` and `/worker` as its roles say.
//!
//! A kubelet may not give itself such labels, so the masters do it. Every master does, with server-side apply under one
//! name: the second one changes nothing. Only these two keys are ever touched, and only where they differ.

use std::collections::BTreeMap;

use futures::StreamExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
    core::PartialObjectMeta,
    runtime::watcher::{Event, watcher},
};
use operations::outage::Outage;
use serde_json::json;
use spec::{Node, Role};

use crate::{Agent, AgentError, node_object::NodeObject, session};

const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";
const WORKER: &str = "node-role.kubernetes.io/worker";
const BOOTSTRAP: &str = "node-role.kubernetes.io/bootstrap";

/// Runs until the credentials are renewed.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    session::with_client(agent, |client| follow(agent, client)).await
}

async fn follow(agent: &Agent, client: Client) -> Result<(), AgentError> {
    let nodes: Api<PartialObjectMeta<NodeObject>> = Api::all(client);
    let mut stream = watcher(nodes.clone(), session::watching()).boxed();
    let mut outage = Outage::new("follow the nodes' labels");
    loop {
        let (Event::Apply(seen) | Event::InitApply(seen)) = session::next(&mut stream, &mut outage).await else {
            continue;
        };
        let name = seen.metadata.name.clone().unwrap_or_default();
        let Some(patch) = agent.cluster.machine(&name).and_then(|node| plan(node, &seen.metadata)) else { continue };
        tracing::info!(node = name, labels = %patch["metadata"]["labels"], "labelling");
        let as_us = PatchParams::apply(kubeapi::FIELD_MANAGER).force();
        match nodes.patch(&name, &as_us, &Patch::Apply(patch)).await {
            // The Node was deleted in this moment, or is another one of the same name by now.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
            result => drop(result.map_err(AgentError::api("label a node"))?),
        }
    }
}

/// What is applied to a Node, if its labels are not as they should be. The uid keeps a Node that was just deleted from
/// being made again by us.
fn plan(node: &Node, seen: &ObjectMeta) -> Option<serde_json::Value> {
    let wanted = |role: Role| node.roles.contains(&role);
    let all = [(CONTROL_PLANE, Role::Master), (WORKER, Role::Worker), (BOOTSTRAP, Role::Bootstrap)];
    let labels: BTreeMap<&str, &str> =
        all.into_iter().filter_map(|(key, role)| wanted(role).then_some((key, ""))).collect();
    let has = |key: &str| seen.labels.as_ref().and_then(|seen| seen.get(key)).map(String::as_str);
    let fits = all.iter().all(|(key, _)| has(key) == labels.get(*key).copied());
    (!fits).then(|| {
        json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": { "name": node.name, "uid": seen.uid, "labels": labels },
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cluster;

    #[test]
    fn only_differences_are_applied() {
        let cluster = cluster();
        let labels = |labels: &[(&str, &str)]| labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let control_plane = Some(json!({ CONTROL_PLANE: "" }));
        let worker = Some(json!({ WORKER: "" }));
        for (name, seen, expected) in [
            ("master-01", labels(&[]), &control_plane),
            ("master-01", labels(&[("kubernetes.io/os", "linux"), (CONTROL_PLANE, "")]), &None),
            ("master-01", labels(&[(CONTROL_PLANE, "yes")]), &control_plane),
            ("master-01", labels(&[(CONTROL_PLANE, ""), (WORKER, "")]), &control_plane),
            ("worker-01", labels(&[]), &worker),
            ("worker-01", labels(&[(WORKER, "")]), &None),
        ] {
            let meta = ObjectMeta { labels: Some(seen), uid: Some("u-1".into()), ..ObjectMeta::default() };
            let patch = plan(cluster.node(name).unwrap(), &meta);
            assert_eq!(&patch.as_ref().map(|patch| patch["metadata"]["labels"].clone()), expected, "{name} {meta:?}");
            assert!(patch.is_none_or(|patch| patch["metadata"]["uid"] == "u-1"));
        }
    }
}
