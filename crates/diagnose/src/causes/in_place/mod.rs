//! Nodes that are worked on in place, as the cluster shows them: what they wait for, how they ended, what was left behind.
//!
//! ```text
//! read (the API, with a master's credential) ─► Seen ─► asked · waits · runs · left (pure) ─► findings
//! ```
//! Where nobody has ever asked for such work, one request is all it costs. Of Secrets only the metadata is read. What the
//! machine itself shows is in [`machine`], which is for every node.

mod asked;
mod left;
pub(crate) mod machine;
mod read;
mod runs;
#[cfg(test)]
mod testing;
mod waits;

use jiff::Timestamp;
use kubeapi::k8s_openapi::{
    api::{
        apps::v1::{DaemonSet, Deployment},
        core::v1::{Node as ApiNode, Pod},
        policy::v1::PodDisruptionBudget,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use playbooks::cluster::ids;
use upgrades::{NodeReport, NodeUpgrade, names};

use crate::{
    Check, Checking, Context, Finding, Inconclusive, Roles,
    codes::{
        IN_PLACE_BUDGET, IN_PLACE_CORDON, IN_PLACE_NO_DOOR, IN_PLACE_NOBODY, IN_PLACE_NOT_COMMITTED, IN_PLACE_OLD_BOOT,
        IN_PLACE_PROGRESS, IN_PLACE_SECRET, IN_PLACE_SECRET_LEFT, IN_PLACE_SLOT, IN_PLACE_STUCK, IN_PLACE_WENT_BACK,
    },
};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "in-place",
    "nodes that are worked on in place: what they wait for, how they ended, what was left behind",
    &[
        IN_PLACE_BUDGET,
        IN_PLACE_SLOT,
        IN_PLACE_SECRET,
        IN_PLACE_NOBODY,
        IN_PLACE_NO_DOOR,
        IN_PLACE_SECRET_LEFT,
        IN_PLACE_CORDON,
        IN_PLACE_NOT_COMMITTED,
        IN_PLACE_WENT_BACK,
        IN_PLACE_STUCK,
        IN_PLACE_OLD_BOOT,
        IN_PLACE_PROGRESS,
    ],
    check,
)
.only(Roles::Masters);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if !context.was_done(ids::NODE_READY).await? {
            return Ok(Vec::new());
        }
        let nodes = context.nodes().await?.as_ref().map_err(|why| Inconclusive::from(why.clone()))?;
        let seen = Box::pin(read::read(context.objects().await?, nodes, context.host.clock.now())).await?;
        Ok(evaluate(&seen))
    })
}

/// What the API shows.
struct Seen<'a> {
    now: Timestamp,
    nodes: &'a [ApiNode],
    /// None where the API does not know the kind.
    upgrades: Option<Vec<NodeUpgrade>>,
    /// The agents of masters and nodes do the work of the Deployment and the daemon set.
    by_agents: bool,
    controller: Option<Deployment>,
    daemon_set: Option<DaemonSet>,
    /// Pods of the daemon set.
    doors: Vec<Pod>,
    /// All of our namespace, whoever made them.
    secrets: Vec<ObjectMeta>,
    /// Pods that have to leave the nodes that are drained.
    leaving: Vec<Pod>,
    budgets: Vec<PodDisruptionBudget>,
}

fn evaluate(seen: &Seen<'_>) -> Vec<Finding> {
    let parts = [asked::evaluate, waits::evaluate, runs::evaluate, left::evaluate];
    parts.iter().flat_map(|part| part(seen)).collect()
}

impl<'a> Seen<'a> {
    const fn new(nodes: &'a [ApiNode], now: Timestamp) -> Self {
        Self {
            now,
            nodes,
            upgrades: None,
            by_agents: false,
            controller: None,
            daemon_set: None,
            doors: Vec::new(),
            secrets: Vec::new(),
            leaving: Vec::new(),
            budgets: Vec::new(),
        }
    }

    fn upgrades(&self) -> &[NodeUpgrade] {
        self.upgrades.as_deref().unwrap_or_default()
    }

    fn upgrade(&self, node: &str) -> Option<&NodeUpgrade> {
        self.upgrades().iter().find(|upgrade| upgrade.node() == node)
    }

    /// Nodes that ask for the work.
    fn labelled(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().filter(|node| is_labelled(node)).map(name)
    }

    fn node(&self, name: &str) -> Option<&'a ApiNode> {
        self.nodes.iter().find(|node| node.metadata.name.as_deref() == Some(name))
    }

    /// What the node reports for the run of its object.
    fn report(&self, upgrade: &NodeUpgrade) -> Option<NodeReport> {
        let report = annotation(self.node(upgrade.node())?, names::REPORT_ANNOTATION).and_then(NodeReport::read);
        report.filter(|report| Some(&report.run) == upgrade.status.run.as_ref())
    }

    /// For how many seconds it is so; 0 where that is not known.
    fn seconds(&self, since: Option<Timestamp>) -> i64 {
        since.map_or(0, |since| self.now.duration_since(since).as_secs().max(0))
    }
}

fn name(node: &ApiNode) -> &str {
    node.metadata.name.as_deref().unwrap_or_default()
}

fn annotation<'a>(node: &'a ApiNode, key: &str) -> Option<&'a str> {
    node.metadata.annotations.as_ref()?.get(key).map(String::as_str)
}

/// Only one value of the label counts.
fn is_labelled(node: &ApiNode) -> bool {
    let label = node.metadata.labels.as_ref().and_then(|labels| labels.get(names::SCHEDULE_LABEL));
    label.is_some_and(|value| value == names::SCHEDULED)
}

/// Seconds as a person says them.
fn long(seconds: i64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::{testing::World, *};

    #[test]
    fn nothing_is_said_where_all_is_well() {
        assert_eq!(evaluate(&Seen::new(&[], Timestamp::UNIX_EPOCH)), []);
        let mut world = World::new(&["w1"]);
        world.upgrade("w1", "Done", 40, &serde_json::json!({}));
        assert_eq!(world.reported(evaluate), "");
        world.upgrade("w1", "Applying", 40, &serde_json::json!({}));
        assert_eq!(world.reported(evaluate), "");
    }

    #[test]
    fn times_as_a_person_says_them() {
        assert_eq!([0, 119, 120, 7199, 7200, 90_000].map(long), ["0 s", "119 s", "2 min", "119 min", "2 h", "25 h"]);
    }
}
