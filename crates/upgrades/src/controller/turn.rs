//! One object's turn: observe, decide, do, and note it over exactly what was read.

use explain::{Explain, chain};
use kubeapi::{
    ApiError,
    kube::{
        self, Api, Resource, ResourceExt,
        api::{Patch, PatchParams, PostParams},
        runtime::events::{Event, EventType, Recorder},
    },
};
use serde_json::json;

use super::{Controller, ControllerError, precondition::Went, reporting};
use crate::{
    NodeUpgrade, NodeUpgradeStatus, names,
    next::{advance, next},
};

/// A node that can go on goes on at once; more than this in a row would be a mistake.
const MOST_STEPS: usize = 8;

impl Controller {
    pub(super) async fn turn(&mut self, mut object: NodeUpgrade) {
        let node = object.node().to_owned();
        for _ in 0..MOST_STEPS {
            match self.step(&object).await {
                Ok(Some(next)) => object = next,
                Ok(None) => break,
                Err(error) => return self.failed(&node, &error),
            }
        }
        if self.memory.of(&node).failure.take().is_some() {
            tracing::info!(node, "goes on");
        }
    }

    /// Each failure is logged once.
    fn failed(&mut self, node: &str, error: &ControllerError) {
        let why = chain(error);
        let memory = self.memory.of(node);
        if memory.failure.as_ref() != Some(&why) {
            tracing::warn!(node, code = error.code().id, hint = error.advice(), "{why}; trying on");
            memory.failure = Some(why);
        }
    }

    /// The object as it is afterwards, if it entered another phase.
    async fn step(&mut self, object: &NodeUpgrade) -> Result<Option<NodeUpgrade>, ControllerError> {
        if object.metadata.deletion_timestamp.is_none() && !object.finalizers().iter().any(|it| it == names::FINALIZER)
        {
            return self.add_finalizer(object).await;
        }
        let Some(mut observed) = self.observe(object).await? else { return Ok(None) };
        let outbox = reporting::deliver(object, &observed, self.memory.of(object.node())).await;
        let current = NodeUpgrade { status: NodeUpgradeStatus { outbox, ..object.status.clone() }, ..object.clone() };
        let next = next(&current, &observed.seen);
        for effect in &next.effects {
            if self.affect(&current, &mut observed, *effect).await? == Went::Stop {
                // What was delivered meanwhile is true all the same.
                if current.status != object.status {
                    self.write(current).await?;
                }
                return Ok(None);
            }
        }
        let status = advance(&current, &observed.seen, &next);
        if status == object.status {
            return Ok(None);
        }
        let has_moved = status.phase != object.status.phase;
        let Some(written) = self.write(NodeUpgrade { status, ..current }).await? else { return Ok(None) };
        if has_moved {
            self.publish(&written).await;
        }
        Ok(has_moved.then_some(written))
    }

    /// None where it was changed meanwhile, or is gone: it is observed again in a moment.
    async fn write(&self, object: NodeUpgrade) -> Result<Option<NodeUpgrade>, ControllerError> {
        let api: Api<NodeUpgrade> = Api::all(self.client.clone());
        match api.replace_status(object.node(), &PostParams::default(), &object).await {
            Ok(written) => Ok(Some(written)),
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(None),
            Err(error) => Err(ApiError::of(format!("write the status of NodeUpgrade {}", object.node()))(error).into()),
        }
    }

    async fn add_finalizer(&self, object: &NodeUpgrade) -> Result<Option<NodeUpgrade>, ControllerError> {
        let mut finalizers = object.finalizers().to_vec();
        finalizers.push(names::FINALIZER.to_owned());
        let metadata = json!({ "finalizers": finalizers, "resourceVersion": object.metadata.resource_version });
        let api: Api<NodeUpgrade> = Api::all(self.client.clone());
        let patch = Patch::Merge(json!({ "metadata": metadata }));
        match api.patch(object.node(), &PatchParams::default(), &patch).await {
            Ok(patched) => Ok(Some(patched)),
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(None),
            Err(error) => Err(ApiError::of(format!("hold NodeUpgrade {}", object.node()))(error).into()),
        }
    }

    /// An Event of the object, for `kubectl describe`. One that is lost is in the status anyway.
    async fn publish(&self, object: &NodeUpgrade) {
        let status = &object.status;
        tracing::info!(node = object.node(), phase = %status.phase, "{}", message(status));
        let event = Event {
            type_: if status.failure.is_some() { EventType::Warning } else { EventType::Normal },
            reason: status.phase.to_string(),
            note: Some(message(status).chars().take(1000).collect()),
            action: "Upgrade".to_owned(),
            secondary: None,
        };
        let recorder = Recorder::new(self.client.clone(), names::CONTROLLER.into());
        if let Err(error) = recorder.publish(&event, &object.object_ref(&())).await {
            tracing::warn!(node = object.node(), "cannot write an Event: {}", chain(&error));
        }
    }
}

fn message(status: &NodeUpgradeStatus) -> String {
    match (&status.failure, &status.waits_for) {
        (Some(failure), _) => failure.to_string(),
        (None, Some(waits_for)) => format!("waits for {}", waits_for.message()),
        (None, None) => status.run.as_ref().map_or_else(String::new, |run| format!("run {run}")),
    }
}
