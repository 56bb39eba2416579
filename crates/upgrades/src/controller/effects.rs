//! Does what [`next`](crate::next) wants done. Each can be done again, and none over what was not seen.

use explain::counted;
use kubeapi::{
    ApiError, FIELD_MANAGER,
    k8s_openapi::api::core::v1::Secret,
    kube::{
        self, Api,
        api::{DeleteParams, Patch, PatchParams, Preconditions},
    },
    unless_gone,
};
use operations::drain::DrainError;
use serde_json::{Map, Value, json};

use super::{
    Controller, ControllerError, access,
    observe::{Observed, drain},
    precondition::Went,
};
use crate::{Command, NodeUpgrade, Order, Rollback, names, next::Effect, order::FORMAT};

impl Controller {
    pub(super) async fn affect(
        &mut self,
        object: &NodeUpgrade,
        observed: &mut Observed,
        effect: Effect,
    ) -> Result<Went, ControllerError> {
        let node = object.node();
        match effect {
            Effect::TakeSlot => return self.renew_slot(node, observed.is_master).await,
            Effect::ReleaseSlot => self.release_slot(node).await?,
            Effect::Cordon => return self.write_node(observed, json!({ "spec": { "unschedulable": true } })).await,
            Effect::Label => return self.write_node(observed, label(Some(names::SCHEDULED))).await,
            Effect::RemoveLabel => return self.write_node(observed, label(None)).await,
            Effect::Order(command) => return self.order(object, observed, command).await,
            Effect::RemoveOrder => return self.remove_order(object, observed).await,
            Effect::Evict => {
                self.memory.of(node).leaving = match drain(node).once(&self.client).await {
                    Err(DrainError::Refused(_, why)) => Some(why),
                    left => left?,
                };
            }
            Effect::DeletePods => drain(node).delete(&self.client).await?,
            Effect::Restore => return self.restore(object, observed).await,
            Effect::BlankSecret => return self.blank_secret(observed).await,
            Effect::DeleteSecret => return self.delete_secret(observed).await,
            Effect::RemoveFinalizer => self.remove_finalizer(object).await?,
        }
        Ok(Went::On)
    }

    async fn write_node(&self, observed: &mut Observed, patch: Value) -> Result<Went, ControllerError> {
        Ok(observed.node.write(&self.client, patch).await?)
    }

    /// The right to the Secret first: the node asks for it as soon as it sees the order. The order only to the very Node that was
    /// seen: with its label, it cannot have begun.
    async fn order(
        &self,
        object: &NodeUpgrade,
        observed: &mut Observed,
        command: Command,
    ) -> Result<Went, ControllerError> {
        let (Some(run), Some(driver)) = (&object.status.run, object.status.driver) else { return Ok(Went::On) };
        let (node, deadlines) = (object.node(), &object.spec.deadlines);
        if matches!(command, Command::Check | Command::Arm) {
            access::grant(&self.client, node, &observed.secret.name).await?;
        }
        let order = Order {
            version: FORMAT,
            run: run.clone(),
            command,
            driver,
            secret: observed.secret.name.clone(),
            apply_seconds: deadlines.apply,
            confirm_seconds: deadlines.confirm,
            goes_back: object.spec.rollback == Rollback::Auto,
            by_agent: self.options.commits,
        };
        tracing::info!(node, run, ?command, "orders");
        let text = json!(order).to_string();
        self.write_node(observed, json!({ "metadata": { "annotations": { names::ORDER_ANNOTATION: text } } })).await
    }

    /// Noting the run changes the Node even where it had no order: a cordon or a label that was decided on before does not land
    /// after the node was given back.
    async fn remove_order(&self, object: &NodeUpgrade, observed: &mut Observed) -> Result<Went, ControllerError> {
        let annotations = json!({ names::ORDER_ANNOTATION: null, names::ENDED_ANNOTATION: object.status.run });
        let went = self.write_node(observed, json!({ "metadata": { "annotations": annotations } })).await?;
        if went == Went::On {
            access::revoke(&self.client, object.node()).await?;
        }
        Ok(went)
    }

    async fn restore(&self, object: &NodeUpgrade, observed: &mut Observed) -> Result<Went, ControllerError> {
        let snapshot = object.status.snapshot.as_ref();
        let patch = observed.node.node().zip(snapshot).and_then(|(node, snapshot)| snapshot.patch(node));
        match patch {
            Some(patch) => self.write_node(observed, patch).await,
            None => Ok(Went::On),
        }
    }

    /// Of the very Secret that was seen: what a user writes into it meanwhile is for another run.
    async fn blank_secret(&self, observed: &Observed) -> Result<Went, ControllerError> {
        let there = names::key::OF_THE_NODE.into_iter().filter(|key| observed.secret.has(key));
        let data: Map<String, Value> = there.map(|key| (key.to_owned(), Value::Null)).collect();
        if data.is_empty() {
            return Ok(Went::On);
        }
        let name = &observed.secret.name;
        tracing::info!(secret = name, "removes {}, which the node has used", counted(data.len(), "key"));
        let metadata = json!({ "uid": observed.secret.uid, "resourceVersion": observed.secret.version });
        let patch = Patch::Merge(json!({ "metadata": metadata, "data": data }));
        let api: Api<Secret> = Api::namespaced(self.client.clone(), names::NAMESPACE);
        let patched = api.patch(name, &PatchParams::default(), &patch).await;
        Ok(went(patched, format!("remove the tokens of Secret {name}"))?)
    }

    /// The very one of the run.
    async fn delete_secret(&self, observed: &Observed) -> Result<Went, ControllerError> {
        let name = &observed.secret.name;
        let same =
            Preconditions { uid: observed.secret.uid.clone(), resource_version: observed.secret.version.clone() };
        let api: Api<Secret> = Api::namespaced(self.client.clone(), names::NAMESPACE);
        let deleted = api.delete(name, &DeleteParams::default().preconditions(same)).await;
        Ok(went(deleted, format!("delete Secret {name}"))?)
    }

    async fn remove_finalizer(&self, object: &NodeUpgrade) -> Result<(), ControllerError> {
        let finalizers = object.metadata.finalizers.iter().flatten();
        let others: Vec<&String> = finalizers.filter(|finalizer| *finalizer != names::FINALIZER).collect();
        let metadata = json!({ "finalizers": others, "resourceVersion": object.metadata.resource_version });
        let api: Api<NodeUpgrade> = Api::all(self.client.clone());
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        let patched = api.patch(object.node(), &params, &Patch::Merge(json!({ "metadata": metadata }))).await;
        // It is the last effect of all, and one that changed meanwhile is observed again.
        went(patched, format!("let NodeUpgrade {} go", object.node()))?;
        Ok(())
    }
}

fn label(value: Option<&str>) -> Value {
    json!({ "metadata": { "labels": { names::SCHEDULE_LABEL: value } } })
}

fn went<T>(done: Result<T, kube::Error>, doing: String) -> Result<Went, ApiError> {
    match done {
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(Went::Stop),
        done => unless_gone(done, doing).map(|_| Went::On),
    }
}

#[cfg(test)]
mod tests;
