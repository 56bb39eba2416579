//! The cluster has no Node of this machine any more, nor its pods.
//!
//! The kubelet is stopped first: it would register again. What the API still shows of its static pods has no process behind it
//! and goes with the Node.

use std::sync::Arc;

use engine::{About, Act, Planned, Stays, Step, StepError};
use host::Host;
use kubeapi::{
    ApiError,
    k8s_openapi::api::core::v1::Node as ApiNode,
    kube::{self, Api, api::DeleteParams},
};
use nodekit::systemd;

use super::super::ids;
use crate::{
    access::{self, Access},
    node_pods,
};

const KUBELET: &str = "kubelet.service";

/// Removes both.
pub(super) struct NodeRetired {
    node: String,
    access: Arc<Access>,
}

/// What was found.
pub(super) struct Seen {
    kubelet_runs: bool,
    is_in_api: bool,
}

impl NodeRetired {
    pub(super) fn new(node: &str, access: &Arc<Access>) -> Self {
        Self { node: node.to_owned(), access: access.clone() }
    }
}

/// What was deleted, or was gone already.
fn gone<T>(deleted: Result<T, kube::Error>, doing: &str) -> Result<(), StepError> {
    match deleted {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(access::failed(&ApiError::of(doing)(error))),
    }
}

impl Step for NodeRetired {
    type Seen = Seen;
    type Undo = Stays;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::NODE_RETIRED, "Take this node out of the cluster", "nothing of it is left to be waited for")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let client = self.access.required(host).await?;
        let found = Api::<ApiNode>::all(client).get_opt(&self.node).await;
        let found = found.map_err(|error| access::failed(&ApiError::of(format!("see node {}", self.node))(error)))?;
        Ok(Seen { kubelet_runs: systemd::check(host, KUBELET).await?.is_up(), is_in_api: found.is_some() })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let what = format!("stop the kubelet and delete node {} from the cluster", self.node);
        Ok((seen.kubelet_runs || seen.is_in_api).then(|| Planned::act("retire", what)).into_iter().collect())
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        systemd::systemctl(host, &["disable", "--now", KUBELET]).await?;
        let client = self.access.required(host).await?;
        node_pods::delete(&client, &self.node).await?;
        let nodes = Api::<ApiNode>::all(client);
        gone(nodes.delete(&self.node, &DeleteParams::default()).await, &format!("delete node {}", self.node))
    }
}
