//! The node is registered, by this boot of this machine, and Ready.

use std::sync::Arc;

use engine::{About, Act, Planned, Stays, Step, StepError, Verdict};
use host::Host;
use kubeapi::{ApiError, k8s_openapi::api::core::v1::Node as ApiNode, kube::Api};
use operations::readiness::Readiness;

use super::ids;
use crate::access::Access;
use nodekit::{boot_id, run_record, systemd};

const KUBELET: &str = "kubelet.service";

/// Waits for the node's Ready condition.
pub(super) struct NodeReady {
    node: String,
    access: Arc<Access>,
}

/// What was found.
pub(super) struct Seen {
    boot_id: String,
    /// What the API answers, or why it does not answer.
    node: Result<Option<ApiNode>, String>,
    /// The kubelet's process was there before this one.
    is_kubelet_older: bool,
}

impl NodeReady {
    /// For this node.
    pub(super) fn new(node: &str, access: &Arc<Access>) -> Self {
        Self { node: node.to_owned(), access: access.clone() }
    }
}

impl Step for NodeReady {
    type Seen = Seen;
    type Undo = Stays;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(
            ids::NODE_READY,
            "Wait for the node to be Ready",
            "a node has joined when Kubernetes says that it can run pods",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let boot_id = boot_id(&*host.disk)?;
        let node = match self.access.client(host).await? {
            None => Err("there is no kubeconfig yet".to_owned()),
            Some(client) => {
                let found = Api::<ApiNode>::all(client).get_opt(&self.node).await;
                found.map_err(|error| ApiError::of(format!("see node {}", self.node))(error).to_string())
            }
        };
        let is_missing = matches!(node, Ok(None));
        let is_kubelet_older = is_missing && is_kubelet_older(host).await?;
        Ok(Seen { boot_id, node, is_kubelet_older })
    }

    /// A kubelet registers its node once, when it starts: one whose node was deleted, or whose cluster was bootstrapped again,
    /// runs on without ever being seen again.
    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let restart = || {
            Planned::act(
                "restart",
                format!("restart the kubelet: it does not register node {} again by itself", self.node),
            )
        };
        Ok(seen.is_kubelet_older.then(restart).into_iter().collect())
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        systemd::systemctl(host, &["restart", KUBELET]).await.map(drop)
    }

    fn verify(&self, Seen { boot_id, node, .. }: &Seen) -> Verdict {
        let waiting = |what: String| Verdict::Waiting { progress: what.clone(), what };
        let node = match node {
            Err(what) => return waiting(format!("node {} to be Ready: {what}", self.node)),
            Ok(None) => return waiting(format!("the kubelet to register node {}", self.node)),
            Ok(Some(node)) => node,
        };
        match Readiness::of_boot(node, boot_id) {
            Readiness::Ready(_) => Verdict::Met,
            Readiness::OtherBoot => waiting(format!("the kubelet of this boot to report node {}", self.node)),
            Readiness::Unreported => waiting(format!("node {} to have a Ready condition", self.node)),
            other => {
                let why = other.why().unwrap_or_default();
                waiting(format!("node {} to be Ready; the kubelet reports: {why}", self.node))
            }
        }
    }
}

/// Whether the kubelet runs since before this process began.
async fn is_kubelet_older(host: &Host) -> Result<bool, StepError> {
    let kubelet = systemd::check(host, KUBELET).await?.pid;
    let began = |pid| run_record::began(&*host.disk, pid);
    let (kubelet, own) = (kubelet.and_then(began), began(std::process::id()));
    Ok(kubelet.zip(own).is_some_and(|(kubelet, own)| kubelet < own))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_this_boot_counts_as_ready() {
        let step = NodeReady::new("worker-01", &Arc::new(Access::new("/nowhere")));
        let node = |boot: &str, ready: &str, message: &str| -> Result<Option<ApiNode>, String> {
            let status = json!({
                "conditions": [{"type": "Ready", "status": ready, "message": message}],
                "nodeInfo": {"architecture": "", "bootID": boot, "containerRuntimeVersion": "", "kernelVersion": "",
                             "kubeProxyVersion": "", "kubeletVersion": "", "machineID": "", "operatingSystem": "",
                             "osImage": "", "systemUUID": ""},
            });
            Ok(Some(serde_json::from_value(json!({"metadata": {"name": "worker-01"}, "status": status})).unwrap()))
        };
        let evaluated = |node| match step.verify(&Seen { boot_id: "b2".into(), node, is_kubelet_older: false }) {
            Verdict::Met => "met".to_owned(),
            Verdict::Waiting { what, .. } => what,
        };
        assert_eq!(evaluated(node("b2", "True", "")), "met");
        assert_eq!(evaluated(node("b1", "True", "")), "the kubelet of this boot to report node worker-01");
        assert_eq!(evaluated(node("b2", "False", "no CNI")), "node worker-01 to be Ready; the kubelet reports: no CNI");
        assert_eq!(evaluated(Ok(None)), "the kubelet to register node worker-01");
        assert_eq!(evaluated(Err("403 forbidden".into())), "node worker-01 to be Ready: 403 forbidden");
    }
    #[test]
    fn only_a_kubelet_that_was_there_before_is_restarted() {
        let step = NodeReady::new("worker-01", &Arc::new(Access::new("/nowhere")));
        let planned = |is_kubelet_older| {
            let seen = Seen { boot_id: String::new(), node: Ok(None), is_kubelet_older };
            step.plan(&seen).unwrap().len()
        };
        assert_eq!((planned(true), planned(false)), (1, 0));
    }
}
