//! What can be seen of a cluster from outside: the same questions at the same interval, whatever tool makes it.

use std::{net::IpAddr, time::Duration};

use kubeapi::{
    k8s_openapi::api::core::v1::Node,
    kube::{Api, api::ListParams},
};
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::running::Running;

const INTERVAL: Duration = Duration::from_millis(50);
/// An answer that takes longer comes from a server that is not ready.
const ANSWER: Duration = Duration::from_secs(1);
const DEADLINE: Duration = Duration::from_mins(3);

/// When the API server says that it is ready, counted from the start of the command.
pub(crate) fn api_ready(master: IpAddr, command: &mut Running) -> Duration {
    let client = tls::unproven_client().unwrap();
    let url = format!("https://{master}:6443/readyz");
    until("the API server is ready", command, async || {
        client.get(&url).send().await.is_ok_and(|answer| answer.status().is_success())
    })
}

/// When a node is Ready, counted from the start of the command.
pub(crate) fn node_ready(kubeconfig: &str, node: &str, command: &mut Running) -> Duration {
    let client = tokio::sync::OnceCell::new();
    until(&format!("{node} is Ready"), command, async || {
        let client = client.get_or_init(async || kubeapi::connect(kubeconfig).await.unwrap()).await;
        Api::<Node>::all(client.clone()).get(node).await.is_ok_and(|node| is_ready(&node))
    })
}

/// When all of these nodes are Ready, counted from the start of the command.
pub(crate) fn nodes_ready(kubeconfig: &str, nodes: &[&str], command: &mut Running) -> Duration {
    let client = tokio::sync::OnceCell::new();
    until(&format!("{nodes:?} are Ready"), command, async || {
        let client = client.get_or_init(async || kubeapi::connect(kubeconfig).await.unwrap()).await;
        let Ok(list) = Api::<Node>::all(client.clone()).list(&ListParams::default()).await else { return false };
        let ready = |name: &&str| list.iter().any(|node| node.metadata.name.as_deref() == Some(name) && is_ready(node));
        nodes.iter().all(ready)
    })
}

/// A kubeconfig that reaches the master at its address, also from outside.
pub(crate) fn from_outside(kubeconfig: &str, master: IpAddr) -> String {
    let outside = |line: &str| match line.split_once("server: ") {
        Some((before, _)) => format!("{before}server: https://{master}:6443\n"),
        None => format!("{line}\n"),
    };
    kubeconfig.lines().map(outside).collect()
}

fn is_ready(node: &Node) -> bool {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.into_iter().flatten().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

fn until(what: &str, command: &mut Running, mut is_so: impl AsyncFnMut() -> bool) -> Duration {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut clock = interval(INTERVAL);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            clock.tick().await;
            if timeout(ANSWER, is_so()).await.unwrap_or(false) {
                return command.elapsed();
            }
            command.assert_well();
            assert!(command.elapsed() < DEADLINE, "not in time: {what}");
        }
    })
}
