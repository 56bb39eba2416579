//! Nodes that ask for the work by their label get an object.

use std::collections::BTreeMap;

use kubeapi::{
    ApiError, Client,
    k8s_openapi::api::core::v1::Node,
    kube::{
        self, Api, ResourceExt,
        api::{ListParams, PostParams},
    },
};

use crate::{NodeUpgrade, NodeUpgradeSpec, names};

/// Makes the objects that are missing.
pub(super) async fn adopt(
    client: &Client,
    known: &BTreeMap<String, NodeUpgrade>,
) -> Result<Vec<NodeUpgrade>, ApiError> {
    let asking = ListParams::default().labels(&format!("{}={}", names::SCHEDULE_LABEL, names::SCHEDULED));
    let nodes = Api::<Node>::all(client.clone()).list_metadata(&asking).await;
    let nodes = nodes.map_err(ApiError::of("list the labelled Nodes"))?;
    let api: Api<NodeUpgrade> = Api::all(client.clone());
    let mut made = Vec::new();
    for node in nodes.items.iter().map(ResourceExt::name_any).filter(|node| !known.contains_key(node)) {
        let object = NodeUpgrade::new(&node, NodeUpgradeSpec::default());
        match api.create(&PostParams::default(), &object).await {
            Ok(created) => {
                tracing::info!(node, "labelled: made its NodeUpgrade");
                made.push(created);
            }
            // Another one was faster.
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            // It cannot have one, and the others go on.
            Err(kube::Error::Api(status)) if status.code == 422 => tracing::warn!(node, "no NodeUpgrade: {status}"),
            Err(error) => return Err(ApiError::of(format!("make NodeUpgrade {node}"))(error)),
        }
    }
    Ok(made)
}
