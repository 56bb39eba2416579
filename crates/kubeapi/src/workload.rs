//! Whether the workloads among some objects run, and if not, why: the reason is in their pods.

use std::fmt;

use k8s_openapi::{
    api::{
        apps::v1::{DaemonSet, Deployment},
        core::v1::Pod,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{Api, Client, api::ListParams};
use serde_json::Value;

use crate::{ApiError, resource::describe};

/// What is being waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// `DaemonSet kube-system/calico-node: 0 of 3 ready; calico-node-x2: image … cannot be pulled`.
    pub what: String,
    /// Changes while there is progress.
    pub progress: String,
    /// True if an image cannot be had: waiting will not help.
    pub image_missing: bool,
}

/// What the workloads (deployments and daemon sets) among the objects wait for; nothing if all of them run.
pub async fn waiting(client: &Client, objects: &[Value]) -> Result<Vec<Waiting>, ApiError> {
    let mut all = Vec::new();
    for object in objects {
        if object["kind"] == "CustomResourceDefinition" {
            all.extend(unestablished(client, object).await?);
        }
        let Some(namespace) = object["metadata"]["namespace"].as_str() else { continue };
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let doing = || ApiError::of(format!("read {}", describe(object)));
        let (ready, wanted) = match object["kind"].as_str() {
            Some("Deployment") => {
                let found = Api::<Deployment>::namespaced(client.clone(), namespace).get(name).await.map_err(doing())?;
                let status = found.status.unwrap_or_default();
                let wanted = found.spec.and_then(|spec| spec.replicas).unwrap_or(1);
                let current = status.observed_generation == found.metadata.generation;
                (if current { status.ready_replicas.unwrap_or(0) } else { 0 }, wanted)
            }
            Some("DaemonSet") => {
                let found = Api::<DaemonSet>::namespaced(client.clone(), namespace).get(name).await.map_err(doing())?;
                let generation = found.metadata.generation;
                let status = found.status.unwrap_or_default();
                let current = status.observed_generation == generation && status.desired_number_scheduled > 0;
                (if current { status.number_ready } else { 0 }, status.desired_number_scheduled.max(1))
            }
            _ => continue,
        };
        if ready >= wanted {
            continue;
        }
        let failures = failures(client, namespace, object).await?;
        let image_missing = failures.iter().any(|failure| matches!(failure, Failure::Image(_)));
        let because: String = failures.iter().map(|failure| format!("; {failure}")).collect();
        all.push(Waiting {
            what: format!("{}: {ready} of {wanted} ready{because}", describe(object)),
            progress: format!("{ready} {because}"),
            image_missing,
        });
    }
    Ok(all)
}

/// Until a kind is established, objects of it are refused.
async fn unestablished(client: &Client, object: &Value) -> Result<Option<Waiting>, ApiError> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let found = definitions.get(name).await.map_err(ApiError::of(format!("read {}", describe(object))))?;
    Ok((!is_established(&found)).then(|| Waiting {
        what: format!("{} to be established", describe(object)),
        progress: String::new(),
        image_missing: false,
    }))
}

fn is_established(definition: &CustomResourceDefinition) -> bool {
    let conditions = definition.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.into_iter().flatten().any(|condition| condition.type_ == "Established" && condition.status == "True")
}

/// Why a pod does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// An image cannot be had.
    Image(String),
    /// A container that does not stay up, or cannot be made.
    Container {
        /// The pod.
        pod: String,
        /// The kubelet's reason and message.
        why: String,
    },
    /// No node takes it.
    Unscheduled {
        /// The pod.
        pod: String,
        /// The scheduler's sentence.
        why: String,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image(image) => write!(f, "image {image} cannot be pulled"),
            Self::Container { pod, why } => write!(f, "{pod}: {why}"),
            Self::Unscheduled { pod, why } => write!(f, "{pod} has no node: {why}"),
        }
    }
}

/// What the pods of a workload say, each reason once.
async fn failures(client: &Client, namespace: &str, workload: &Value) -> Result<Vec<Failure>, ApiError> {
    let labels = workload["spec"]["selector"]["matchLabels"].as_object();
    let selector = labels.into_iter().flatten().map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or("")));
    let selector = selector.collect::<Vec<_>>().join(",");
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let doing = ApiError::of(format!("list the pods of {}", describe(workload)));
    let pods = pods.list(&ListParams::default().labels(&selector)).await.map_err(doing)?;
    let mut all: Vec<Failure> = Vec::new();
    for failure in pods.items.iter().filter_map(failure) {
        if !all.contains(&failure) {
            all.push(failure);
        }
    }
    Ok(all)
}

/// Why a pod does not run, if it says so.
pub fn failure(pod: &Pod) -> Option<Failure> {
    let status = pod.status.as_ref()?;
    let name = pod.metadata.name.clone().unwrap_or_default();
    let inits = status.init_container_statuses.iter().flatten();
    for container in inits.chain(status.container_statuses.iter().flatten()) {
        let Some(waiting) = container.state.as_ref().and_then(|state| state.waiting.as_ref()) else { continue };
        match waiting.reason.as_deref() {
            Some("ErrImagePull" | "ImagePullBackOff" | "ErrImageNeverPull" | "InvalidImageName") => {
                return Some(Failure::Image(container.image.clone()));
            }
            Some("PodInitializing" | "ContainerCreating") | None => {}
            Some(other) => {
                let message = waiting.message.as_deref().unwrap_or_default();
                return Some(Failure::Container { pod: name, why: format!("{other} {message}").trim_end().to_owned() });
            }
        }
    }
    let mut conditions = status.conditions.iter().flatten();
    let unscheduled = conditions.find(|condition| condition.type_ == "PodScheduled" && condition.status == "False")?;
    let why = unscheduled.message.clone().unwrap_or_else(|| "no reason given".to_owned());
    Some(Failure::Unscheduled { pod: name, why })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_kind_is_established_when_its_definition_says_so() {
        for (conditions, expected) in [
            (json!([{ "type": "NamesAccepted", "status": "True" }, { "type": "Established", "status": "True" }]), true),
            (
                json!([{ "type": "NamesAccepted", "status": "True" }, { "type": "Established", "status": "False" }]),
                false,
            ),
            (json!([]), false),
        ] {
            let names = json!({ "kind": "Thing", "plural": "things" });
            let spec = json!({ "group": "example.org", "names": names, "scope": "Cluster", "versions": [] });
            let definition = json!({ "metadata": { "name": "things.example.org" }, "spec": spec,
                                     "status": { "conditions": conditions } });
            assert_eq!(is_established(&serde_json::from_value(definition).unwrap()), expected, "{conditions}");
        }
    }

    #[test]
    fn pods_say_why_they_do_not_run() {
        let pod = |status: Value| -> Pod {
            serde_json::from_value(json!({"metadata": {"name": "p"}, "status": status})).unwrap()
        };
        let container = |waiting: Value| {
            json!({"containerStatuses": [{"name": "c", "image": "example.org/x:1", "imageID": "", "ready": false,
                   "restartCount": 0, "state": {"waiting": waiting}}]})
        };
        for (status, expected) in [
            (container(json!({"reason": "ErrImagePull"})), Some("image example.org/x:1 cannot be pulled")),
            (container(json!({"reason": "ContainerCreating"})), None),
            (
                container(json!({"reason": "CrashLoopBackOff", "message": "back-off 10s"})),
                Some("p: CrashLoopBackOff back-off 10s"),
            ),
            (
                json!({"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes are available"}]}),
                Some("p has no node: 0/1 nodes are available"),
            ),
            (json!({"phase": "Running"}), None),
        ] {
            let reported = failure(&pod(status.clone())).map(|failure| failure.to_string());
            assert_eq!(reported.as_deref(), expected, "{status}");
        }
    }
}
