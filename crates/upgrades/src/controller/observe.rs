//! From the cluster to [`Seen`]. What is dear is observed only in the phase that needs it.
//!
//! Object and Node are one view: the Node is observed while the object is what it was read as. Else what an old object says would
//! be done to a Node of the next run.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use kubeapi::{
    ApiError,
    k8s_openapi::{
        api::{core::v1::Node, storage::v1::VolumeAttachment},
        apimachinery::pkg::apis::meta::v1::ObjectMeta,
    },
    kube::{Api, api::ListParams},
};
use operations::{
    cordon::is_cordoned,
    drain::{Drain, DrainError},
    node_snapshot::NodeSnapshot,
    readiness::Readiness,
};

use super::{
    Controller, ControllerError, gates,
    precondition::SeenNode,
    secret::{self, NodeSecret},
};
use crate::{
    DrainPolicy, NodeReport, NodeUpgrade, Order, Phase, names,
    next::{Leaving, NodeSeen, Seen, SlotSeen},
    progress,
};

/// What was observed, beside what is decided from.
pub(super) struct Observed {
    pub(super) seen: Seen,
    /// What is written to the Node is written over this.
    pub(super) node: SeenNode,
    pub(super) secret: NodeSecret,
    /// A master, of which only one is taken at a time.
    pub(super) is_master: bool,
}

impl Controller {
    /// None where the object is another by now.
    pub(super) async fn observe(&mut self, object: &NodeUpgrade) -> Result<Option<Observed>, ControllerError> {
        let (name, phase) = (object.node(), object.status.phase);
        let seen_node = SeenNode::observe(&self.client, name).await?;
        // Where nothing is done to the Node there is nothing to be sure of.
        let is_left_alone = phase.is_end() && object.metadata.deletion_timestamp.is_none();
        if !is_left_alone && !self.is_still(object).await? {
            return Ok(None);
        }
        let node = seen_node.node();
        let secret = secret::read(&self.client, &object.secret()).await?;
        // The slot of a master whose Node is gone is a master's.
        let noted = object.status.snapshot.as_ref().map(|snapshot| &snapshot.labels);
        let is_master = node.and_then(|node| node.metadata.labels.as_ref()).or(noted).is_some_and(has_master_label);
        let slot = self.slot(object, is_master).await?;
        let others = match (phase, &slot) {
            (Phase::Pending, SlotSeen::Free) => gates::others(&self.client, |node| node == name).await?,
            _ => None,
        };
        let not_ready_pods = match (phase, &slot) {
            // Before it is touched, and after its return.
            (Phase::Pending, SlotSeen::Held) | (Phase::Gating, _) => gates::not_ready_pods(&self.client, name).await?,
            _ => BTreeSet::new(),
        };
        let leaving = if phase == Phase::Draining { self.leaving(object).await? } else { Leaving::default() };
        let required = secret.destination.as_ref().is_ok_and(|to| to.as_ref().is_some_and(|to| to.required));
        let seen = Seen {
            now: Timestamp::now(),
            secret: secret.seen(object.spec.driver),
            secret_uid: secret.uid.clone(),
            slot,
            others,
            no_progress: progress::blocks(&object.status.outbox, required),
            report: node.and_then(|node| annotation(node, names::REPORT_ANNOTATION)).and_then(NodeReport::read),
            leaving,
            not_ready_pods,
            commits: self.options.commits,
            node: node.map(node_seen),
        };
        Ok(Some(Observed { seen, node: seen_node, secret, is_master }))
    }

    async fn is_still(&self, object: &NodeUpgrade) -> Result<bool, ApiError> {
        let api: Api<NodeUpgrade> = Api::all(self.client.clone());
        let now = api.get_metadata_opt(object.node()).await;
        let now = now.map_err(ApiError::of(format!("see NodeUpgrade {}", object.node())))?;
        let of = |metadata: &ObjectMeta| (metadata.uid.clone(), metadata.resource_version.clone());
        Ok(now.is_some_and(|now| of(&now.metadata) == of(&object.metadata)))
    }

    async fn leaving(&mut self, object: &NodeUpgrade) -> Result<Leaving, ControllerError> {
        if object.spec.drain.policy == DrainPolicy::Never {
            return Ok(Leaving::default());
        }
        let node = object.node();
        let drain = drain(node);
        let pods = match drain.plan(&drain.check(&self.client).await?) {
            // A node that went silent is drained no further; the deadline decides, not an error.
            Err(DrainError::Refused(_, why)) => return Ok(Leaving { pods: Some(why), volumes: None }),
            planned => planned?,
        };
        // What holds them back is heard when they are asked to leave.
        let mut pods = pods.map(|planned| self.memory.of(node).leaving.clone().unwrap_or(planned));
        if let Some(pods) = &mut pods
            && self.is_only_node().await?
        {
            pods.push_str("; there is no other node for them, and with `drain.policy: never` they may stay");
        }
        Ok(Leaving { volumes: if pods.is_none() { self.attached(node).await? } else { None }, pods })
    }

    async fn is_only_node(&self) -> Result<bool, ApiError> {
        let nodes = Api::<Node>::all(self.client.clone()).list_metadata(&ListParams::default().limit(2)).await;
        Ok(nodes.map_err(ApiError::of("count the Nodes"))?.items.len() < 2)
    }

    /// A volume that is still attached cannot be attached elsewhere for minutes once the node is down.
    async fn attached(&self, node: &str) -> Result<Option<String>, ControllerError> {
        let api: Api<VolumeAttachment> = Api::all(self.client.clone());
        let all = api.list(&ListParams::default()).await.map_err(ApiError::of("list VolumeAttachments"))?.items;
        let here = all.iter().filter(|one| one.spec.node_name == node);
        let names: Vec<String> = here
            .map(|one| {
                let volume = one.spec.source.persistent_volume_name.as_deref().unwrap_or("a volume");
                format!("{volume} ({})", one.spec.attacher)
            })
            .collect();
        Ok((!names.is_empty()).then(|| format!("still attached: {}", names.join(", "))))
    }
}

/// How a node's pods are asked to leave; for how long is decided elsewhere.
pub(super) fn drain(node: &str) -> Drain {
    Drain { node: node.to_owned(), within: std::time::Duration::ZERO, force: false }
}

fn node_seen(node: &Node) -> NodeSeen {
    let label = node.metadata.labels.as_ref().and_then(|labels| labels.get(names::SCHEDULE_LABEL));
    let boot_id = node.status.as_ref().and_then(|status| status.node_info.as_ref()).map(|info| info.boot_id.clone());
    let readiness = Readiness::of_node(node);
    NodeSeen {
        is_labelled: label.is_some_and(|value| value == names::SCHEDULED),
        is_cordoned: is_cordoned(node),
        boot_id: boot_id.unwrap_or_default(),
        not_ready: (!readiness.is_ready()).then(|| explain::plain(readiness.why().unwrap_or("not Ready")).into_owned()),
        order: annotation(node, names::ORDER_ANNOTATION).and_then(Order::read),
        snapshot: NodeSnapshot::of(node),
    }
}

pub(super) fn has_master_label(labels: &BTreeMap<String, String>) -> bool {
    let roles = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];
    roles.iter().any(|role| labels.contains_key(*role))
}

fn annotation<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    node.metadata.annotations.as_ref()?.get(key).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_seen_of_a_node() {
        let node: Node = serde_json::from_value(json!({
            "metadata": { "name": "w1", "labels": { names::SCHEDULE_LABEL: "yes", "node-role.kubernetes.io/master": "" } },
            "spec": { "unschedulable": true },
        }))
        .unwrap();
        let seen = node_seen(&node);
        let is_master = has_master_label(node.metadata.labels.as_ref().unwrap());
        assert_eq!((seen.is_labelled, seen.is_cordoned, is_master), (false, true, true), "only `true` counts");
        assert_eq!(seen.not_ready.as_deref(), Some("not Ready"));
    }
}
