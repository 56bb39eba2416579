//! Does what [`next`](crate::next) wants done. Each can be done again.

use explain::counted;
use kubeapi::{
    FIELD_MANAGER,
    k8s_openapi::api::core::v1::{Node, Secret},
    kube::{
        self, Api,
        api::{DeleteParams, Patch, PatchParams, Preconditions},
    },
    unless_gone,
};
use operations::cordon::cordon;
use serde_json::{Map, Value, json};

use super::{
    Controller, ControllerError, access,
    look::{Look, drain},
};
use crate::{Command, NodeUpgrade, Order, names, next::Effect, order::FORMAT};

impl Controller {
    pub(super) async fn affect(
        &mut self,
        object: &NodeUpgrade,
        look: &Look,
        effect: Effect,
    ) -> Result<(), ControllerError> {
        let node = object.node();
        match effect {
            Effect::TakeSlot => drop(self.take_slot(node, look.is_master).await?),
            Effect::ReleaseSlot => self.release_slot(node, look.is_master).await?,
            Effect::Cordon => cordon(&self.client, node).await?,
            Effect::Label => {
                self.patch_node(node, None, json!({ "labels": { names::SCHEDULE_LABEL: names::SCHEDULED } })).await?;
            }
            Effect::RemoveLabel => {
                self.patch_node(node, None, json!({ "labels": { names::SCHEDULE_LABEL: null } })).await?;
            }
            Effect::Order(command) => self.order(object, look, command).await?,
            Effect::RemoveOrder => {
                self.patch_node(node, None, json!({ "annotations": { names::ORDER_ANNOTATION: null } })).await?;
                access::revoke(&self.client, node).await?;
            }
            Effect::Evict => {
                let left = drain(node).once(&self.client).await?;
                self.memory.of(node).leaving = left;
            }
            Effect::DeletePods => drain(node).delete(&self.client).await?,
            Effect::Restore => self.restore(object).await?,
            Effect::BlankSecret => self.blank_secret(look).await?,
            Effect::DeleteSecret => self.delete_secret(look).await?,
            Effect::RemoveFinalizer => self.remove_finalizer(object).await?,
        }
        Ok(())
    }

    /// The right to the Secret first: the node asks for it as soon as it sees the order. The order only to the very Node that was
    /// seen: with its label, it cannot have begun.
    async fn order(&self, object: &NodeUpgrade, look: &Look, command: Command) -> Result<(), ControllerError> {
        let (Some(run), Some(driver)) = (&object.status.run, object.status.driver) else { return Ok(()) };
        let (node, deadlines) = (object.node(), &object.spec.deadlines);
        if matches!(command, Command::Check | Command::Arm) {
            access::grant(&self.client, node, &look.secret.name).await?;
        }
        let order = Order {
            version: FORMAT,
            run: run.clone(),
            command,
            driver,
            secret: look.secret.name.clone(),
            apply_seconds: deadlines.apply,
            confirm_seconds: deadlines.confirm,
        };
        let text = json!(order).to_string();
        tracing::info!(node, run, ?command, "ordered");
        self.patch_node(node, look.version.as_deref(), json!({ "annotations": { names::ORDER_ANNOTATION: text } }))
            .await
    }

    async fn patch_node(&self, node: &str, version: Option<&str>, mut metadata: Value) -> Result<(), ControllerError> {
        if let Some(version) = version {
            metadata["resourceVersion"] = version.into();
        }
        let patch = Patch::Merge(json!({ "metadata": metadata }));
        let patched = Api::<Node>::all(self.client.clone()).patch(node, &PatchParams::default(), &patch).await;
        match patched {
            // It changed meanwhile: what is to be done now is decided anew.
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
            patched => unless_gone(patched, format!("change node {node}")).map(drop).map_err(Into::into),
        }
    }

    async fn restore(&self, object: &NodeUpgrade) -> Result<(), ControllerError> {
        let Some(snapshot) = &object.status.snapshot else { return Ok(()) };
        snapshot.restore(&self.client, object.node()).await?;
        Ok(())
    }

    async fn blank_secret(&self, look: &Look) -> Result<(), ControllerError> {
        let there = names::key::OF_THE_NODE.into_iter().filter(|key| look.secret.has(key));
        let data: Map<String, Value> = there.map(|key| (key.to_owned(), Value::Null)).collect();
        if data.is_empty() {
            return Ok(());
        }
        let name = &look.secret.name;
        tracing::info!(secret = name, "removed {}, which the node has used", counted(data.len(), "key"));
        let api: Api<Secret> = Api::namespaced(self.client.clone(), names::NAMESPACE);
        let patched = api.patch(name, &PatchParams::default(), &Patch::Merge(json!({ "data": data }))).await;
        unless_gone(patched, format!("remove the tokens of Secret {name}"))?;
        Ok(())
    }

    /// The very one of the run.
    async fn delete_secret(&self, look: &Look) -> Result<(), ControllerError> {
        let name = &look.secret.name;
        let same = Preconditions { uid: look.secret.uid.clone(), resource_version: None };
        let api: Api<Secret> = Api::namespaced(self.client.clone(), names::NAMESPACE);
        let deleted = api.delete(name, &DeleteParams::default().preconditions(same)).await;
        unless_gone(deleted, format!("delete Secret {name}"))?;
        Ok(())
    }

    async fn remove_finalizer(&self, object: &NodeUpgrade) -> Result<(), ControllerError> {
        let finalizers = object.metadata.finalizers.iter().flatten();
        let others: Vec<&String> = finalizers.filter(|finalizer| *finalizer != names::FINALIZER).collect();
        let metadata = json!({ "finalizers": others, "resourceVersion": object.metadata.resource_version });
        let api: Api<NodeUpgrade> = Api::all(self.client.clone());
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        let patched = api.patch(object.node(), &params, &Patch::Merge(json!({ "metadata": metadata }))).await;
        unless_gone(patched, format!("let NodeUpgrade {} go", object.node()))?;
        Ok(())
    }
}
