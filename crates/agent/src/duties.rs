//! The duties of a node, by what it is.

use futures::future::BoxFuture;
use spec::{NetworkAddOn, Role};

use crate::{
    Agent, AgentError, backups, balancer, configuration, join_server, kubelet_certificates, labels, learners, nodes,
    pod_cidrs, progress, renewal, report, rotation, shield, tokens, upgrade_controller, upgrade_door,
};

/// One thing the agent does all the time.
#[derive(Clone, Copy)]
pub(crate) struct Duty {
    /// As logs name it.
    pub(crate) name: &'static str,
    /// Whether it is one of this node's.
    applies: fn(&Agent) -> bool,
    /// Does it, until it fails or has to start again.
    pub(crate) run: for<'a> fn(&'a Agent) -> BoxFuture<'a, Result<(), AgentError>>,
}

#[rustfmt::skip]
const ALL: &[Duty] = &[
    Duty { name: "balancer",    applies: everywhere,   run: |agent| Box::pin(balancer::run(agent)) },
    Duty { name: "nodes",       applies: basic_add_on, run: |agent| Box::pin(nodes::run(agent)) },
    Duty { name: "shield",      applies: everywhere,   run: |agent| Box::pin(shield::run(agent)) },
    Duty { name: "renewal",     applies: everywhere,   run: |agent| Box::pin(renewal::run(agent)) },
    Duty { name: "configuration", applies: everywhere, run: |agent| Box::pin(configuration::run(agent)) },
    Duty { name: "report",      applies: everywhere,   run: |agent| Box::pin(report::run(agent)) },
    Duty { name: "pod-cidrs",   applies: by_address,   run: |agent| Box::pin(pod_cidrs::run(agent)) },
    Duty { name: "labels",      applies: on_masters,   run: |agent| Box::pin(labels::run(agent)) },
    Duty { name: "kubelet-certificates", applies: on_masters, run: |agent| Box::pin(kubelet_certificates::run(agent)) },
    Duty { name: "join-server", applies: on_masters,   run: |agent| Box::pin(join_server::run(agent)) },
    Duty { name: "tokens",      applies: on_masters,   run: |agent| Box::pin(tokens::run(agent)) },
    Duty { name: "backups",     applies: on_masters_that_stay,   run: |agent| Box::pin(backups::run(agent)) },
    Duty { name: "rotation",    applies: on_masters_that_stay,   run: |agent| Box::pin(rotation::run(agent)) },
    Duty { name: "learners",    applies: on_masters,   run: |agent| Box::pin(learners::run(agent)) },
    Duty { name: "upgrade-door", applies: on_nodes,    run: |agent| Box::pin(upgrade_door::run(agent)) },
    Duty { name: "upgrade-controller", applies: on_masters_that_stay, run: |agent| Box::pin(upgrade_controller::run(agent)) },
    Duty { name: "progress",    applies: on_bootstrap, run: |agent| Box::pin(progress::run(agent)) },
];

/// The duties of this node.
pub(crate) fn of(agent: &Agent) -> impl Iterator<Item = Duty> {
    ALL.iter().copied().filter(|duty| (duty.applies)(agent))
}

fn everywhere(_: &Agent) -> bool {
    true
}

fn on_masters(agent: &Agent) -> bool {
    agent.is_master()
}

/// The temporary bootstrap node has nothing to keep and no keys to follow with.
fn on_masters_that_stay(agent: &Agent) -> bool {
    agent.node.has(Role::Master)
}

/// The temporary bootstrap node ends before anything is done to a node in place.
fn on_nodes(agent: &Agent) -> bool {
    !on_bootstrap(agent)
}

fn on_bootstrap(agent: &Agent) -> bool {
    agent.node.has(Role::Bootstrap)
}

fn basic_add_on(agent: &Agent) -> bool {
    agent.cluster.networking().add_on == NetworkAddOn::Basic
}

fn by_address(agent: &Agent) -> bool {
    on_masters(agent) && basic_add_on(agent) && agent.cluster.networking().pod_cidr_of(agent.node.ip).is_some()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::{Scripted, agent, cluster_with};

    #[test]
    fn the_table_at_the_top_has_every_duty() {
        let rows = include_str!("lib.rs").lines().filter_map(|line| line.strip_prefix("//! | `")?.split('`').next());
        let rows: Vec<String> = rows.map(|name| name.replace('_', "-")).collect();
        assert_eq!(rows, ALL.iter().map(|duty| duty.name).collect::<Vec<_>>());
    }

    #[test]
    fn every_node_has_the_duties_of_what_it_is() {
        let names = |agent: &Agent| of(agent).map(|duty| duty.name).collect::<Vec<_>>().join(" ");
        let commands = Arc::new(Scripted::default());
        assert_eq!(
            names(&agent("worker-01", &commands)),
            "balancer nodes shield renewal configuration report upgrade-door"
        );
        let mut master = agent("master-01", &commands);
        assert_eq!(
            names(&master),
            "balancer nodes shield renewal configuration report pod-cidrs labels kubelet-certificates join-server tokens backups rotation learners upgrade-door upgrade-controller"
        );
        master.cluster = Arc::new(cluster_with("  networking: { add_on: none }"));
        assert_eq!(
            names(&master),
            "balancer shield renewal configuration report labels kubelet-certificates join-server tokens backups rotation learners upgrade-door upgrade-controller"
        );
    }
}
