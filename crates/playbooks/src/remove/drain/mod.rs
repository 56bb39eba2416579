//! The node's pods leave it, as gently as their owners have asked for.
//!
//! ```text
//! the node answers        evict, which respects budgets ─► wait until the kubelet says that it has ended ─► gone
//! it does not, --force    delete without its word ─► gone
//! it does not             refused: nobody can see whether they have ended
//! ```
//! Which pods go is decided in [`pods`]. A run that was killed finds fewer of them the next time.

mod pods;

use std::{collections::BTreeMap, time::Duration};

use engine::{About, Act, Planned, Stays, Step, StepError};
use explain::counted;
use host::Host;
use kubeapi::{
    k8s_openapi::api::core::v1::{Node as ApiNode, Pod},
    kube::{
        self, Api, Client,
        api::{DeleteParams, EvictParams, ListParams, Preconditions},
    },
};
use tokio::time::{Instant, sleep};

use self::pods::{Leaving, leaving, listed};
use super::{Target, gone, ids, refused};
use crate::codes;

const PAUSE: Duration = Duration::from_millis(500);
/// What the API server says of an eviction that a budget does not allow now.
const TOO_MANY: u16 = 429;

/// Evicts the node's pods.
pub(super) struct Drain {
    target: Target,
    within: Duration,
    force: bool,
}

/// The node and its pods.
pub(super) struct Seen {
    /// Why it is taken for dead, if it is.
    silence: Option<String>,
    pods: Vec<Leaving>,
}

impl Drain {
    /// Within this time; with `force`, pods of a node that does not answer are deleted.
    pub(super) fn new(target: &Target, within: Duration, force: bool) -> Self {
        Self { target: target.clone(), within, force }
    }

    async fn check(&self, host: &Host) -> Result<Seen, StepError> {
        // Pods of a Node that is gone are removed by Kubernetes itself.
        let Some(node) = self.target.node(host).await? else { return Ok(Seen { silence: None, pods: Vec::new() }) };
        let name = &self.target.name;
        let on_it = ListParams::default().fields(&format!("spec.nodeName={name}"));
        let pods: Api<Pod> = Api::all(self.target.api.required(host).await?);
        let pods = pods.list(&on_it).await.map_err(refused(format!("list the pods of {name}")))?;
        Ok(Seen { silence: silence(&node), pods: pods.iter().filter_map(leaving).collect() })
    }

    /// Refuses to wait for a node that cannot say what became of its pods.
    fn check_word(&self, seen: &Seen) -> Result<(), StepError> {
        match &seen.silence {
            Some(why) if !self.force && !seen.pods.is_empty() => {
                let (name, pods) = (&self.target.name, counted(seen.pods.len(), "pod"));
                let message = format!("{name} does not answer ({why}), and {pods} on it: {}", listed(&seen.pods));
                Err(StepError::new(codes::SILENT_NODE, message))
            }
            _ => Ok(()),
        }
    }

    /// Until all of them are gone, or the time is over.
    async fn drain(&self, host: &Host) -> Result<(), StepError> {
        let until = Instant::now() + self.within;
        let mut reported = String::new();
        loop {
            let seen = self.check(host).await?;
            if seen.pods.is_empty() {
                return Ok(());
            }
            self.check_word(&seen)?;
            let client = self.target.api.required(host).await?;
            let mut held_back = BTreeMap::new();
            for pod in &seen.pods {
                if let Some(why) = self.send_away(&client, pod, seen.silence.is_some()).await? {
                    held_back.insert(pod.to_string(), why);
                }
            }
            let left = progress(&seen.pods, &held_back);
            if Instant::now() >= until {
                let limit = self.within.as_secs();
                return Err(StepError::new(codes::NOT_DRAINED, format!("{left}; waited for {limit} s")));
            }
            if left != reported {
                host.doing(left.clone());
                reported = left;
            }
            sleep(PAUSE).await;
        }
    }

    /// Why it may not go yet, if it may not.
    async fn send_away(&self, client: &Client, pod: &Leaving, is_silent: bool) -> Result<Option<String>, StepError> {
        let pods: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace);
        // Exactly what was seen: one of the same name may have been started elsewhere.
        let same =
            DeleteParams::default().preconditions(Preconditions { uid: Some(pod.uid.clone()), resource_version: None });
        if is_silent {
            let deleted = pods.delete(&pod.name, &same.grace_period(0)).await;
            return gone(unless_another(deleted), format!("delete pod {pod}")).map(|()| None);
        }
        if pod.is_ending {
            return Ok(None);
        }
        let how = EvictParams { delete_options: Some(same), ..EvictParams::default() };
        match unless_another(pods.evict(&pod.name, &how).await) {
            Err(kube::Error::Api(status)) if status.code == TOO_MANY => {
                let causes = status.details.iter().flat_map(|details| &details.causes);
                Ok(Some(causes.map(|cause| cause.message.clone()).next().unwrap_or_else(|| status.message.clone())))
            }
            answered => gone(answered, format!("evict pod {pod}")).map(|()| None),
        }
    }
}

/// A conflict tells that the name belongs to another pod by now: the one that was meant is gone.
fn unless_another<T>(answered: Result<T, kube::Error>) -> Result<Option<T>, kube::Error> {
    match answered {
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(None),
        answered => answered.map(Some),
    }
}

/// Why a node is taken for dead: nobody has heard of its kubelet for longer than Kubernetes waits.
fn silence(node: &ApiNode) -> Option<String> {
    let conditions = node.status.as_ref()?.conditions.as_ref()?;
    let ready = conditions.iter().find(|condition| condition.type_ == "Ready")?;
    (ready.status == "Unknown").then(|| ready.message.clone().unwrap_or_else(|| "its state is not known".to_owned()))
}

/// Who is still there, and who holds them back.
fn progress(pods: &[Leaving], held_back: &BTreeMap<String, String>) -> String {
    let count = counted(pods.len(), "pod");
    let Some((first, why)) = held_back.first_key_value() else {
        return format!("{count} still to end: {}", listed(pods));
    };
    format!("{count} still to end, {} of them held back by a budget; {first}: {why}", held_back.len())
}

impl Step for Drain {
    type Seen = Seen;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(ids::DRAIN, "Evict its pods", "what runs on it is started elsewhere, as its owners allow")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        self.check(host).await
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        self.check_word(seen)?;
        if seen.pods.is_empty() {
            return Ok(Vec::new());
        }
        let act = |key: &str, what: String| Planned::act(key, what);
        let (count, list) = (counted(seen.pods.len(), "pod"), listed(&seen.pods));
        let all = match &seen.silence {
            None => act("evict", format!("evict {count}: {list}")),
            Some(_) => act("delete", format!("force-delete {count} of the unreachable {}: {list}", self.target.name)),
        };
        Ok(vec![all])
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        self.drain(host).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use explain::Explain;
    use serde_json::json;

    use super::*;
    use crate::access::Access;

    fn step(force: bool) -> Drain {
        let api = Arc::new(Access::new("/etc/kubernetes/super-admin.conf"));
        let target = Target { name: "worker-01".into(), ip: None, api };
        Drain::new(&target, Duration::from_mins(2), force)
    }

    fn pod(name: &str, is_alone: bool) -> Leaving {
        let (namespace, uid) = ("default".to_owned(), "u".to_owned());
        Leaving { namespace, name: name.into(), uid, is_ending: false, is_alone }
    }

    fn planned(force: bool, silence: Option<&str>, pods: Vec<Leaving>) -> String {
        match step(force).plan(&Seen { silence: silence.map(Into::into), pods }) {
            Ok(changes) => changes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
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
    fn only_unknown_is_silence() {
        for (status, expected) in [("True", None), ("False", None), ("Unknown", Some("stopped posting".to_owned()))] {
            let ready = json!({ "type": "Ready", "status": status, "message": "stopped posting" });
            let node = json!({ "metadata": { "name": "worker-01" }, "status": { "conditions": [ready] } });
            assert_eq!(silence(&serde_json::from_value(node).unwrap()), expected, "{status}");
        }
    }
}
