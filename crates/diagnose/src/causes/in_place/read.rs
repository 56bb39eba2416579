//! Reads what the API shows of nodes that are worked on in place: the less, the less there is.

use jiff::Timestamp;
use kubeapi::{
    k8s_openapi::{
        api::{
            apps::v1::{DaemonSet, Deployment},
            core::v1::{ConfigMap, Node as ApiNode, Pod, Secret},
            policy::v1::PodDisruptionBudget,
        },
        apimachinery::pkg::apis::meta::v1::ObjectMeta,
    },
    kube::{
        self, Api,
        api::{ListParams, ObjectList},
    },
};
use upgrades::{
    NodeUpgrade, Phase,
    names::{self, NAMESPACE},
};

use super::{Seen, annotation};
use crate::view::{Objects, Unread};

/// Everything that the evaluation needs.
pub(super) async fn read<'a>(objects: &Objects, nodes: &'a [ApiNode], now: Timestamp) -> Result<Seen<'a>, Unread> {
    let mut seen = Seen::new(nodes, now);
    let list = async |client| unless_unknown(Api::<NodeUpgrade>::all(client).list(&ListParams::default()).await);
    seen.upgrades = objects.ask("list the NodeUpgrades", list).await?;
    if seen.is_unused() {
        return Ok(seen);
    }
    (seen.secrets, seen.by_agents, seen.controller, seen.daemon_set, seen.doors) = futures::try_join!(
        secrets(objects),
        by_agents(objects),
        controller(objects),
        daemon_set(objects),
        doors(objects)
    )?;
    let drained: Vec<String> = seen.drained().map(str::to_owned).collect();
    for node in &drained {
        let on_it = ListParams::default().fields(&format!("spec.nodeName={node}"));
        let list = async |client| Api::<Pod>::all(client).list(&on_it).await;
        let pods = objects.ask(&format!("list the pods of {node}"), list).await?;
        seen.leaving.extend(pods.items.into_iter().filter(operations::drain::has_to_leave));
    }
    if !seen.leaving.is_empty() {
        let list = async |client| Api::<PodDisruptionBudget>::all(client).list(&ListParams::default()).await;
        seen.budgets = objects.ask("list the PodDisruptionBudgets", list).await?.items;
    }
    Ok(seen)
}

impl Seen<'_> {
    /// Nobody has ever asked for such work, and nothing of it is left.
    fn is_unused(&self) -> bool {
        let is_ordered = |node: &ApiNode| annotation(node, names::ORDER_ANNOTATION).is_some();
        self.upgrades().is_empty() && self.labelled().next().is_none() && !self.nodes.iter().any(is_ordered)
    }

    fn drained(&self) -> impl Iterator<Item = &str> {
        let drained = self.upgrades().iter().filter(|upgrade| upgrade.status.phase == Phase::Draining);
        drained.map(NodeUpgrade::node)
    }
}

/// Where the definition of the kind was never applied there is none of it.
fn unless_unknown(
    listed: Result<ObjectList<NodeUpgrade>, kube::Error>,
) -> Result<Option<Vec<NodeUpgrade>>, kube::Error> {
    match listed {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        listed => listed.map(|listed| Some(listed.items)),
    }
}

/// Their names and ages: no value of them is read.
async fn secrets(objects: &Objects) -> Result<Vec<ObjectMeta>, Unread> {
    let list = async |client| Api::<Secret>::namespaced(client, NAMESPACE).list_metadata(&ListParams::default()).await;
    let listed = objects.ask("list the names of the Secrets of ipb-system", list).await?;
    Ok(listed.items.into_iter().map(|secret| secret.metadata).collect())
}

async fn by_agents(objects: &Objects) -> Result<bool, Unread> {
    let get = async |client| Api::<ConfigMap>::namespaced(client, NAMESPACE).get_metadata_opt(names::AGENTS).await;
    Ok(objects.ask("see the ConfigMap ipb-agents", get).await?.is_some())
}

async fn controller(objects: &Objects) -> Result<Option<Deployment>, Unread> {
    let get = async |client| Api::<Deployment>::namespaced(client, NAMESPACE).get_opt(names::CONTROLLER).await;
    objects.ask("see the Deployment ipb-controller", get).await
}

async fn daemon_set(objects: &Objects) -> Result<Option<DaemonSet>, Unread> {
    let get = async |client| Api::<DaemonSet>::namespaced(client, NAMESPACE).get_opt(names::DAEMON_SET).await;
    objects.ask("see the DaemonSet ipb-daemonset", get).await
}

async fn doors(objects: &Objects) -> Result<Vec<Pod>, Unread> {
    let ours = ListParams::default().labels(&format!("app={}", names::DAEMON_SET));
    let list = async |client| Api::<Pod>::namespaced(client, NAMESPACE).list(&ours).await;
    Ok(objects.ask("list the pods of ipb-daemonset", list).await?.items)
}
