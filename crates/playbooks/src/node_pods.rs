//! Pods that the API shows of a node whose kubelet is gone.

use engine::StepError;
use kubeapi::{
    ApiError,
    k8s_openapi::api::core::v1::Pod,
    kube::{
        Api, Client, ResourceExt,
        api::{DeleteParams, ListParams},
    },
};

use crate::access;

/// Namespace and name of what is bound to a node.
pub(crate) async fn bound(client: &Client, node: &str) -> Result<Vec<(String, String)>, StepError> {
    let own = ListParams::default().fields(&format!("spec.nodeName={node}"));
    let pods = Api::<Pod>::all(client.clone()).list(&own).await;
    let pods = pods.map_err(|error| access::failed(&ApiError::of(format!("see the pods of {node}"))(error)))?;
    Ok(pods.iter().map(|pod| (pod.namespace().unwrap_or_default(), pod.name_any())).collect())
}

/// Deletes all pods that are bound to a node that runs none of them any more.
pub(crate) async fn delete(client: &Client, node: &str) -> Result<(), StepError> {
    for (namespace, name) in bound(client, node).await? {
        let pods = Api::<Pod>::namespaced(client.clone(), &namespace);
        let deleted = pods.delete(&name, &DeleteParams::default().grace_period(0)).await;
        kubeapi::unless_gone(deleted, format!("delete pod {namespace}/{name}"))
            .map_err(|error| access::failed(&error))?;
    }
    Ok(())
}
