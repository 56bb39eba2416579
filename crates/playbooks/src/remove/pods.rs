//! The pods of a dead node go at once. Kubernetes would wait for a kubelet that does not come back.

use engine::{About, Act, Planned, Stays, Step, StepError};
use explain::counted;
use host::Host;
use kubeapi::{
    k8s_openapi::api::core::v1::Pod,
    kube::{
        Api, Client, ResourceExt,
        api::{DeleteParams, ListParams},
    },
};

use super::{Target, gone, ids, refused};

/// Deletes them.
pub(super) struct Pods {
    target: Target,
}

impl Pods {
    pub(super) fn new(target: &Target) -> Self {
        Self { target: target.clone() }
    }
}

/// Namespace and name of what is bound to a node.
async fn bound(client: &Client, node: &str) -> Result<Vec<(String, String)>, StepError> {
    let own = ListParams::default().fields(&format!("spec.nodeName={node}"));
    let pods = Api::<Pod>::all(client.clone()).list(&own).await;
    let pods = pods.map_err(refused(format!("see the pods of {node}")))?;
    Ok(pods.iter().map(|pod| (pod.namespace().unwrap_or_default(), pod.name_any())).collect())
}

/// Deletes all pods that are bound to a node that runs none of them any more.
pub(crate) async fn delete(client: &Client, node: &str) -> Result<(), StepError> {
    for (namespace, name) in bound(client, node).await? {
        let pods = Api::<Pod>::namespaced(client.clone(), &namespace);
        let deleted = pods.delete(&name, &DeleteParams::default().grace_period(0)).await;
        gone(deleted, format!("delete pod {namespace}/{name}"))?;
    }
    Ok(())
}

impl Step for Pods {
    /// How many there are.
    type Seen = usize;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(ids::PODS, "Delete its pods", "what the API shows of them has no process behind it")
    }

    async fn observe(&self, host: &Host) -> Result<usize, StepError> {
        Ok(bound(&self.target.api.required(host).await?, &self.target.name).await?.len())
    }

    fn plan(&self, pods: &usize) -> Result<Vec<Planned>, StepError> {
        let what = format!("delete {} of {}", counted(*pods, "pod"), self.target.name);
        Ok((*pods > 0).then(|| Planned::act("delete", what)).into_iter().collect())
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        delete(&self.target.api.required(host).await?, &self.target.name).await
    }
}
