//! What the API server says of the cluster's nodes, with whatever kubeconfig this machine and this user have.

use std::{collections::BTreeMap, path::Path, time::Duration};

use explain::chain;
use host::Host;
use jiff::Timestamp;
use kubeapi::{
    ApiError,
    k8s_openapi::api::core::v1::{Node, NodeStatus},
    kube::{Api as Objects, api::ListParams},
};
use operations::readiness::Readiness;
use tokio::time::timeout;

use super::facts::{Api, ApiNode, Condition};

/// The balancer holds a connection while no API server is ready, so silence has to end somewhere.
const LIMIT: Duration = Duration::from_secs(3);
/// The first one that is there: a master has all of them but the last, a worker only the last.
const KUBECONFIGS: [&str; 3] = ["super-admin.conf", "admin.conf", "agent.conf"];
/// More nodes than that are not for one screen.
const MOST_NODES: u32 = 1000;

pub(super) async fn ask(host: &Host, kubernetes_dir: &Path) -> Api {
    if !host.is_live {
        return Api::NotAsked("this machine was not booted by systemd".to_owned());
    }
    let kubeconfig = match kubeconfig(host, kubernetes_dir) {
        Ok(kubeconfig) => kubeconfig,
        Err(why) => return Api::NotAsked(why),
    };
    match timeout(LIMIT, nodes(&kubeconfig)).await {
        Ok(Ok(nodes)) => Api::Nodes(nodes),
        Ok(Err(error)) => Api::Silent(chain(&error)),
        Err(_) => Api::Silent(format!("no answer within {} s", LIMIT.as_secs())),
    }
}

fn kubeconfig(host: &Host, dir: &Path) -> Result<String, String> {
    let mut why = "there is no kubeconfig on this machine yet".to_owned();
    for name in KUBECONFIGS {
        match host.disk.read_optional(&dir.join(name)) {
            Ok(Some(text)) => return Ok(String::from_utf8_lossy(&text).into_owned()),
            Ok(None) => {}
            Err(error) => why = format!("{}; root may", chain(&error)),
        }
    }
    Err(why)
}

async fn nodes(kubeconfig: &str) -> Result<BTreeMap<String, ApiNode>, ApiError> {
    tls::install_provider();
    let client = kubeapi::connect(kubeconfig).await?;
    let list = Objects::<Node>::all(client).list(&ListParams::default().limit(MOST_NODES)).await;
    let list = list.map_err(ApiError::of("list the nodes"))?;
    Ok(list.items.into_iter().map(|node| (node.metadata.name.unwrap_or_default(), seen(node.status))).collect())
}

pub(super) fn seen(status: Option<NodeStatus>) -> ApiNode {
    let NodeStatus { conditions, node_info, .. } = status.unwrap_or_default();
    let conditions = conditions.unwrap_or_default();
    let readiness = Readiness::of(&conditions);
    let conditions = conditions.into_iter().map(|condition| Condition {
        kind: condition.type_,
        status: condition.status,
        reason: condition.reason.unwrap_or_default(),
        message: condition.message.unwrap_or_default(),
        since: condition.last_transition_time.and_then(|time| Timestamp::from_second(time.0.as_second()).ok()),
    });
    let boot_id = node_info.map(|info| info.boot_id).unwrap_or_default();
    ApiNode { boot_id, readiness, conditions: conditions.collect() }
}
