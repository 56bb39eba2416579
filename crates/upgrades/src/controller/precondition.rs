//! The Node as it was seen, and what is written to it: only over that very version.
//!
//! A controller that was stopped for a while goes on with what it had decided, and by then the Node may be in another run. So
//! every write carries the version that was seen, or that our own last write has made. Where it does not fit any more nothing
//! that follows is done either: it is no error, and is decided again in a moment.

use kubeapi::{
    ApiError, Client,
    k8s_openapi::api::core::v1::Node,
    kube::{
        self, Api,
        api::{Patch, PatchParams},
    },
    unless_gone,
};
use serde_json::{Value, json};

/// How an effect went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Went {
    /// What follows may be done.
    On,
    /// The cluster is not what was decided from: nothing that follows is done.
    Stop,
}

/// The Node as it was seen; none if there is none.
pub(super) struct SeenNode {
    name: String,
    node: Option<Node>,
}

impl SeenNode {
    pub(super) async fn observe(client: &Client, name: &str) -> Result<Self, ApiError> {
        let node = Api::<Node>::all(client.clone()).get_opt(name).await;
        Ok(Self { name: name.to_owned(), node: node.map_err(ApiError::of(format!("see node {name}")))? })
    }

    pub(super) const fn node(&self) -> Option<&Node> {
        self.node.as_ref()
    }

    /// A merge patch over the version that was seen. One that is gone is written no more.
    pub(super) async fn write(&mut self, client: &Client, mut patch: Value) -> Result<Went, ApiError> {
        let Some(node) = &self.node else { return Ok(Went::On) };
        patch["metadata"]["uid"] = json!(node.metadata.uid);
        patch["metadata"]["resourceVersion"] = json!(node.metadata.resource_version);
        let api = Api::<Node>::all(client.clone());
        match api.patch(&self.name, &PatchParams::default(), &Patch::Merge(patch)).await {
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(Went::Stop),
            patched => {
                self.node = unless_gone(patched, format!("change node {}", self.name))?;
                Ok(Went::On)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::testing::Server;

    #[tokio::test]
    async fn only_what_was_seen_is_written_over() {
        let server = Server::default();
        let client = server.serve().await;
        let mut first = SeenNode::observe(&client, "w1").await.unwrap();
        let mut second = SeenNode::observe(&client, "w1").await.unwrap();
        let cordon = json!({ "spec": { "unschedulable": true } });
        let label = json!({ "metadata": { "labels": { "a": "b" } } });
        assert_eq!(first.write(&client, cordon.clone()).await.unwrap(), Went::On);
        assert_eq!(first.write(&client, label.clone()).await.unwrap(), Went::On, "our own write is no surprise");
        assert_eq!(second.write(&client, json!({ "spec": { "unschedulable": null } })).await.unwrap(), Went::Stop);
        let node = server.with(|held| held.node.clone());
        assert_eq!((&node["spec"], &node["metadata"]["labels"]), (&cordon["spec"], &label["metadata"]["labels"]));
    }

    #[tokio::test]
    async fn a_node_that_is_gone_is_written_no_more() {
        let server = Server::default();
        let client = server.serve().await;
        let mut gone = SeenNode::observe(&client, "w2").await.unwrap();
        assert_eq!(gone.write(&client, json!({ "spec": {} })).await.unwrap(), Went::On);
        let mut goes = SeenNode::observe(&client, "w1").await.unwrap();
        server.with(|held| held.node = Value::Null);
        assert_eq!(goes.write(&client, json!({ "spec": {} })).await.unwrap(), Went::On);
        assert!(goes.node().is_none());
    }
}
