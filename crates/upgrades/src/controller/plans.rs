//! Plans: each begins the nodes that [`decide`] names, by making or changing their objects.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kubeapi::{
    ApiError,
    k8s_openapi::api::core::v1::Node,
    kube::{
        self, Api, ResourceExt,
        api::{ListParams, Patch, PatchParams, PostParams},
        core::Selector,
    },
};
use serde_json::json;

use super::{Controller, ControllerError, observe::has_master_label};
use crate::{
    NodeUpgrade, UpgradePlan, UpgradePlanStatus, names,
    plan::{Selected, decide},
};

impl Controller {
    /// Goes over all plans; the objects they made are returned with those that were there.
    pub(super) async fn plans(&self, known: &mut BTreeMap<String, NodeUpgrade>) -> Result<(), ControllerError> {
        let api: Api<UpgradePlan> = Api::all(self.client.clone());
        let plans = api.list(&ListParams::default()).await.map_err(ApiError::of("list UpgradePlans"))?.items;
        let names: Vec<String> = plans.iter().map(|plan| plan.name().to_owned()).collect();
        for plan in plans.into_iter().filter(|plan| plan.metadata.deletion_timestamp.is_none()) {
            let selected = |(node, is_master): (String, bool)| {
                let object = known.get(&node);
                let owner = object.and_then(|object| object.spec.plan.as_deref()).filter(|owner| *owner != plan.name());
                let belongs_to = owner.filter(|owner| names.iter().any(|name| name == owner));
                Selected { node, is_master, object, belongs_to }
            };
            let nodes = match self.selected(&plan).await {
                Ok(nodes) => nodes,
                // One plan that cannot be read holds up neither the others nor any node.
                Err(error) => {
                    let status = UpgradePlanStatus { message: explain::chain(&error), ..plan.status.clone() };
                    self.write_plan(plan, status).await?;
                    continue;
                }
            };
            let selected: Vec<Selected> = nodes.into_iter().map(selected).collect();
            let decision = decide(&plan, &selected, Timestamp::now());
            for node in &decision.begin {
                if let Some(object) = self.begin(&plan, node, known.get(node)).await? {
                    tracing::info!(plan = plan.name(), node, "begun");
                    known.insert(node.clone(), object);
                }
            }
            self.write_plan(plan, decision.status).await?;
        }
        Ok(())
    }

    /// Names, and whether they are masters.
    async fn selected(&self, plan: &UpgradePlan) -> Result<Vec<(String, bool)>, ControllerError> {
        let doing = || format!("read the selector of UpgradePlan {}", plan.name());
        let selector = Selector::try_from(plan.spec.nodes.clone())
            .map_err(|error| ApiError::Unreachable { doing: doing(), why: error.to_string() })?;
        let wanted = ListParams::default().labels_from(&selector);
        let nodes = Api::<Node>::all(self.client.clone()).list_metadata(&wanted).await;
        let nodes = nodes.map_err(ApiError::of("list the Nodes of a plan"))?.items;
        Ok(nodes.iter().map(|node| (node.name_any(), has_master_label(node.labels()))).collect())
    }

    /// None where it was changed meanwhile: it is decided again in a moment.
    async fn begin(
        &self,
        plan: &UpgradePlan,
        node: &str,
        object: Option<&NodeUpgrade>,
    ) -> Result<Option<NodeUpgrade>, ControllerError> {
        let api: Api<NodeUpgrade> = Api::all(self.client.clone());
        // One says for what it was begun, the other begins it.
        let annotations = [names::PLAN_ANNOTATION, names::RETRY_ANNOTATION].map(|key| (key.to_owned(), plan.mark()));
        let done = match object {
            None => {
                let mut new = NodeUpgrade::new(node, plan.of_node());
                new.metadata.annotations = Some(annotations.into());
                api.create(&PostParams::default(), &new).await
            }
            Some(object) => {
                let metadata = json!({
                    "resourceVersion": object.metadata.resource_version,
                    "annotations": BTreeMap::from(annotations),
                });
                let mut spec = json!(plan.of_node());
                // One that the plan does not name must not stay from before.
                spec["driver"] = json!(plan.spec.driver);
                let patch = Patch::Merge(json!({ "metadata": metadata, "spec": spec }));
                api.patch(node, &PatchParams::default(), &patch).await
            }
        };
        match done {
            Ok(object) => Ok(Some(object)),
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(None),
            Err(error) => Err(ApiError::of(format!("begin node {node} of UpgradePlan {}", plan.name()))(error).into()),
        }
    }

    async fn write_plan(&self, plan: UpgradePlan, status: UpgradePlanStatus) -> Result<(), ControllerError> {
        if plan.status == status {
            return Ok(());
        }
        let name = plan.name().to_owned();
        let api: Api<UpgradePlan> = Api::all(self.client.clone());
        match api.replace_status(&name, &PostParams::default(), &UpgradePlan { status, ..plan }).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
            Err(error) => Err(ApiError::of(format!("write the status of UpgradePlan {name}"))(error).into()),
        }
    }
}
