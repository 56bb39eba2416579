//! A node's pods leave it, as gently as their owners have asked for.
//!
//! ```text
//! the node answers        evict, which respects budgets ─► wait until the kubelet says that it has ended ─► gone
//! it does not, force      delete without its answer ─► gone
//! it does not             refused: it cannot be seen whether they have ended
//! ```
//! Which pods go is decided in `pods.rs`. A run that was killed finds fewer of them the next time. The client must pass on that
//! the server is too busy (`kubeapi::connect_with_short_timeout`): that is its answer where a budget holds a pod back.

mod pods;

use std::{collections::BTreeMap, time::Duration};

use explain::{Code, Explain, counted};
use kubeapi::{
    ApiError, Client,
    k8s_openapi::api::core::v1::{Node, Pod},
    kube::{
        self, Api,
        api::{DeleteParams, ListParams, PostParams, Preconditions},
    },
    unless_gone,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use self::pods::{Leaving, leaving, listed};
use crate::{codes, readiness::Readiness};

const PAUSE: Duration = Duration::from_millis(500);
/// What the API server says of an eviction that a budget does not allow now.
const TOO_MANY: u16 = 429;

/// How a node is drained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drain {
    /// The node.
    pub node: String,
    /// For how long budgets and pods that end slowly are waited for.
    pub within: Duration,
    /// Pods of a node that does not answer are deleted without its answer.
    pub force: bool,
}

/// The node and its pods.
pub struct Seen {
    /// Why it is taken for dead, if it is.
    pub silence: Option<String>,
    pods: Vec<Leaving>,
}

/// Why a node is not drained.
#[derive(Debug, thiserror::Error)]
pub enum DrainError {
    /// It must not, or could not in time: what is on it, and why.
    #[error("{1}")]
    Refused(Code, String),
    /// The API refused, or did not answer.
    #[error(transparent)]
    Api(#[from] ApiError),
}

impl Explain for DrainError {
    fn code(&self) -> Code {
        match self {
            Self::Refused(code, _) => *code,
            Self::Api(error) => error.code(),
        }
    }
}

impl Drain {
    /// Looks at the node and its pods.
    pub async fn check(&self, client: &Client) -> Result<Seen, DrainError> {
        let name = &self.node;
        let node = Api::<Node>::all(client.clone()).get_opt(name).await;
        // Pods of a Node that is gone are removed by Kubernetes itself.
        let Some(node) = node.map_err(ApiError::of(format!("see node {name}")))? else {
            return Ok(Seen { silence: None, pods: Vec::new() });
        };
        let on_it = ListParams::default().fields(&format!("spec.nodeName={name}"));
        let pods = Api::<Pod>::all(client.clone()).list(&on_it).await;
        let pods = pods.map_err(ApiError::of(format!("list the pods of {name}")))?;
        Ok(Seen { silence: silence(&node), pods: pods.iter().filter_map(leaving).collect() })
    }

    /// What there is to do, in words; nothing where no pod has to go. Refuses to wait for a node that cannot say what became
    /// of its pods.
    pub fn plan(&self, seen: &Seen) -> Result<Option<String>, DrainError> {
        if seen.pods.is_empty() {
            return Ok(None);
        }
        let (node, count, list) = (&self.node, counted(seen.pods.len(), "pod"), listed(&seen.pods));
        match &seen.silence {
            None => Ok(Some(format!("evict {count}: {list}"))),
            Some(_) if self.force => Ok(Some(format!("force-delete {count} of the unreachable {node}: {list}"))),
            Some(why) => {
                let message = format!("{node} does not answer ({why}), and {count} on it: {list}");
                Err(DrainError::Refused(codes::SILENT_NODE, message))
            }
        }
    }

    /// Asks each of them once to leave: who is left, and who holds them back; none once all are gone. For callers that look again
    /// on their own.
    pub async fn once(&self, client: &Client) -> Result<Option<String>, DrainError> {
        let seen = self.check(client).await?;
        if self.plan(&seen)?.is_none() {
            return Ok(None);
        }
        let mut held_back = BTreeMap::new();
        for pod in &seen.pods {
            if let Some(why) = send_away(client, pod, seen.silence.is_some()).await? {
                held_back.insert(pod.to_string(), held_by(pod, why));
            }
        }
        Ok(Some(progress(&seen.pods, &held_back)))
    }

    /// Deletes those that have not left, whatever their budgets say; each still ends as gently as it asks for.
    pub async fn delete(&self, client: &Client) -> Result<(), DrainError> {
        for pod in self.check(client).await?.pods.iter().filter(|pod| !pod.is_ending) {
            let same = Preconditions { uid: Some(pod.uid.clone()), resource_version: None };
            let pods: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace);
            let deleted = pods.delete(&pod.name, &DeleteParams::default().preconditions(same)).await;
            unless_gone(unless_another(deleted), format!("delete pod {pod}"))?;
        }
        Ok(())
    }

    /// Until all of them are gone, or the time is over. `doing` hears who is left, whenever that changes.
    pub async fn run(&self, client: &Client, doing: impl Fn(String)) -> Result<(), DrainError> {
        let until = Instant::now() + self.within;
        let mut reported = String::new();
        loop {
            let Some(left) = self.once(client).await? else { return Ok(()) };
            if Instant::now() >= until {
                let message = format!("{left}; waited for {} s", self.within.as_secs());
                return Err(DrainError::Refused(codes::NOT_DRAINED, message));
            }
            if left != reported {
                doing(left.clone());
                reported = left;
            }
            sleep(PAUSE).await;
        }
    }
}

/// Whether a pod has to go when its node is drained.
pub fn has_to_leave(pod: &Pod) -> bool {
    leaving(pod).is_some()
}

/// Why a pod may not go yet, if it may not.
async fn send_away(client: &Client, pod: &Leaving, is_silent: bool) -> Result<Option<String>, ApiError> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace);
    if is_silent {
        let same = Preconditions { uid: Some(pod.uid.clone()), resource_version: None };
        let same = DeleteParams::default().preconditions(same);
        let deleted = pods.delete(&pod.name, &same.grace_period(0)).await;
        return unless_gone(unless_another(deleted), format!("delete pod {pod}")).map(|_| None);
    }
    if pod.is_ending {
        return Ok(None);
    }
    match unless_another(evict(&pods, pod).await) {
        Err(kube::Error::Api(status)) if status.code == TOO_MANY => {
            let causes = status.details.iter().flat_map(|details| &details.causes);
            Ok(Some(causes.map(|cause| cause.message.clone()).next().unwrap_or_else(|| status.message.clone())))
        }
        answered => unless_gone(answered, format!("evict pod {pod}")).map(|_| None),
    }
}

/// A budget counts a pod that is not Ready as missing, so it never has one to spare for it, unless its policy lets such pods go.
fn held_by(pod: &Leaving, why: String) -> String {
    if pod.is_ready {
        return why;
    }
    format!("{why}; the pod is not Ready, and leaves once the budget has `unhealthyPodEvictionPolicy: AlwaysAllow`")
}

/// Exactly what was seen: one of the same name may have been started elsewhere. The client library's own call (kube 5.0) names that
/// `delete_options`, which the API server does not read.
async fn evict(pods: &Api<Pod>, pod: &Leaving) -> Result<Value, kube::Error> {
    let eviction = json!({
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": { "name": pod.name, "namespace": pod.namespace },
        "deleteOptions": { "preconditions": { "uid": pod.uid } },
    });
    pods.create_subresource("eviction", &pod.name, &PostParams::default(), &eviction).await
}

/// A conflict means that the name belongs to another pod by now: the one that was meant is gone.
fn unless_another<T>(answered: Result<T, kube::Error>) -> Result<Option<T>, kube::Error> {
    match answered {
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(None),
        answered => answered.map(Some),
    }
}

/// Why a node is taken for dead, if it is.
fn silence(node: &Node) -> Option<String> {
    let Readiness::Silent(why) = Readiness::of_node(node) else { return None };
    Some(why.unwrap_or_else(|| "its state is not known".to_owned()))
}

/// Who is still there, and who holds them back.
fn progress(pods: &[Leaving], held_back: &BTreeMap<String, String>) -> String {
    let count = counted(pods.len(), "pod");
    let Some((first, why)) = held_back.first_key_value() else {
        return format!("{count} still to end: {}", listed(pods));
    };
    format!("{count} still to end, {} of them held back by a budget; {first}: {why}", held_back.len())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::testing::Server;

    fn pod(name: &str, is_alone: bool) -> Leaving {
        let (namespace, uid) = ("default".to_owned(), "u".to_owned());
        Leaving { namespace, name: name.into(), uid, is_ending: false, is_alone, is_ready: true }
    }

    fn planned(force: bool, silence: Option<&str>, pods: Vec<Leaving>) -> String {
        let drain = Drain { node: "worker-01".into(), within: Duration::from_mins(2), force };
        match drain.plan(&Seen { silence: silence.map(Into::into), pods }) {
            Ok(what) => what.unwrap_or_default(),
            Err(error) => format!("{}: {error}", error.code()),
        }
    }

    #[test]
    fn pods_of_a_dead_node_go_by_force_only() {
        let pods = || vec![pod("web-1", false), pod("alone", true)];
        let dead = Some("Kubelet stopped posting node status.");
        let cases = [
            ("alive", planned(false, None, pods())),
            ("alive, force", planned(true, None, pods())),
            ("dead", planned(false, dead, pods())),
            ("dead, force", planned(true, dead, pods())),
            ("dead and empty", planned(false, dead, Vec::new())),
        ];
        insta::assert_snapshot!(cases.map(|(what, reported)| format!("{what}: {reported}")).join("\n"));
    }

    #[test]
    fn the_budget_that_holds_a_pod_back_is_named() {
        let pods = [pod("web-1", false), pod("web-2", false)];
        let why = "The disruption budget web needs 2 healthy pods and has 2 currently";
        let cases = [BTreeMap::new(), [("default/web-2".to_owned(), why.to_owned())].into()];
        insta::assert_snapshot!(cases.map(|held_back| progress(&pods, &held_back)).join("\n"), @r"
        2 pods still to end: default/web-1, default/web-2
        2 pods still to end, 1 of them held back by a budget; default/web-2: The disruption budget web needs 2 healthy pods and has 2 currently
        ");
    }

    #[test]
    fn a_pod_that_is_not_ready_can_be_let_go_by_the_policy_of_its_budget() {
        let why = "The disruption budget web needs 2 healthy pods and has 1 currently";
        let reported =
            [true, false].map(|is_ready| held_by(&Leaving { is_ready, ..pod("web-1", false) }, why.to_owned()));
        insta::assert_snapshot!(reported.join("\n"), @r"
        The disruption budget web needs 2 healthy pods and has 1 currently
        The disruption budget web needs 2 healthy pods and has 1 currently; the pod is not Ready, and leaves once the budget has `unhealthyPodEvictionPolicy: AlwaysAllow`
        ");
    }

    #[test]
    fn only_unknown_is_silence() {
        for (status, expected) in [("True", None), ("False", None), ("Unknown", Some("stopped posting".to_owned()))] {
            let ready = json!({ "type": "Ready", "status": status, "message": "stopped posting" });
            let node = json!({ "metadata": { "name": "worker-01" }, "status": { "conditions": [ready] } });
            assert_eq!(silence(&serde_json::from_value(node).unwrap()), expected, "{status}");
        }
    }

    #[tokio::test]
    async fn pods_go_as_their_budget_allows() {
        let server = Server::default();
        let client = server.serve().await;
        let pod = |name: &str| {
            let metadata = json!({ "namespace": "default", "name": name, "uid": name });
            let status = json!({ "conditions": [{ "type": "Ready", "status": "True" }] });
            let spec = json!({ "nodeName": "w1", "containers": [] });
            (name.to_owned(), json!({ "metadata": metadata, "spec": spec, "status": status }))
        };
        server.with(|held| held.pods = [pod("a"), pod("b")].into());
        let drain = |seconds, force| Drain { node: "w1".into(), within: Duration::from_secs(seconds), force };

        server.with(|held| held.budget = Some("The disruption budget web needs 2 healthy pods and has 2 currently"));
        let reported = Mutex::new(Vec::new());
        let doing = |left| reported.lock().unwrap().push(left);
        let late = drain(1, false).run(&client, doing).await.unwrap_err();
        assert_eq!(late.code(), codes::NOT_DRAINED);
        let held_back = "2 pods still to end, 2 of them held back by a budget; default/a: The disruption budget web needs 2 \
                         healthy pods and has 2 currently";
        assert_eq!(late.to_string(), format!("{held_back}; waited for 1 s"));
        assert_eq!(reported.into_inner().unwrap(), [held_back], "what does not change is reported once");

        server.with(|held| held.budget = None);
        drain(60, false).run(&client, |_| ()).await.unwrap();
        assert_eq!(server.with(|held| held.went.clone()), ["evict a", "evict b"]);

        server.with(|held| {
            (held.pods, held.went) = ([pod("a")].into(), Vec::new());
            held.node["status"]["conditions"] = json!([{ "type": "Ready", "status": "Unknown", "message": "silent" }]);
        });
        let refused = drain(60, false).run(&client, |_| ()).await.unwrap_err();
        assert_eq!((refused.code(), server.with(|held| held.went.len())), (codes::SILENT_NODE, 0));
        drain(60, true).run(&client, |_| ()).await.unwrap();
        assert_eq!(server.with(|held| held.went.clone()), ["delete a"]);
    }

    /// Between the list and the eviction the name may have become another pod's.
    #[tokio::test]
    async fn only_the_pod_that_was_seen_is_evicted() {
        let server = Server::default();
        let client = server.serve().await;
        let metadata = json!({ "namespace": "default", "name": "a", "uid": "second" });
        let pod = json!({ "metadata": metadata, "spec": { "nodeName": "w2", "containers": [] } });
        server.with(|held| held.pods = [("a".to_owned(), pod)].into());
        let seen = |uid: &str| Leaving {
            namespace: "default".into(),
            name: "a".into(),
            uid: uid.into(),
            is_ending: false,
            is_alone: false,
            is_ready: true,
        };
        for (uid, went) in [("first", &[][..]), ("second", &["evict a".to_owned()])] {
            assert_eq!(send_away(&client, &seen(uid), false).await.unwrap(), None);
            assert_eq!(server.with(|held| held.went.clone()), went, "{uid}");
        }
    }
}
