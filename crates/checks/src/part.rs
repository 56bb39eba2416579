//! The parts of a node, and which of them cannot work without which.

use serde::Serialize;

/// A part of a node that works or does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Disk, clock, kernel, components.
    Machine,
    /// Addresses, names, the way to other nodes.
    Network,
    /// What runs containers.
    Containerd,
    /// What runs the control plane of a bootstrap node: containerd and the kubelet.
    StaticPods,
    /// This master's etcd.
    Etcd,
    /// This master's API server.
    ApiServer,
    /// Controller manager and scheduler.
    Controllers,
    /// Balancer, join service, routes.
    Agent,
    /// How this node got or gets into the cluster.
    Joining,
    /// The API as this node reaches it.
    Api,
    /// What runs pods.
    Kubelet,
    /// The network of pods.
    PodNetwork,
    /// The Node object and its conditions.
    Node,
    /// What gives services their addresses.
    KubeProxy,
    /// The cluster's name service.
    ClusterDns,
    /// Pods.
    Workloads,
    /// Monitors, managers and OSDs.
    Ceph,
}

impl Part {
    /// What this part directly needs in order to work.
    fn needs(self) -> &'static [Part] {
        match self {
            Self::Machine => &[],
            Self::Network | Self::Containerd | Self::StaticPods => &[Self::Machine],
            // On a master etcd is a unit, and nothing is ever found in static pods.
            Self::Etcd => &[Self::Network, Self::StaticPods],
            Self::Agent | Self::Ceph => &[Self::Network],
            Self::ApiServer => &[Self::Etcd],
            Self::Controllers => &[Self::ApiServer],
            Self::Joining => &[Self::Agent],
            Self::Api => &[Self::ApiServer, Self::Agent, Self::Joining],
            Self::Kubelet => &[Self::Containerd, Self::Api],
            Self::PodNetwork | Self::KubeProxy => &[Self::Api],
            Self::Node => &[Self::Kubelet, Self::PodNetwork],
            Self::ClusterDns => &[Self::Node, Self::KubeProxy, Self::Controllers],
            Self::Workloads => &[Self::ClusterDns],
        }
    }

    /// Whether this part can be broken because `other` is.
    pub fn needs_somehow(self, other: Self) -> bool {
        self.needs().iter().any(|needed| *needed == other || needed.needs_somehow(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_stands_on_the_machine_and_nothing_on_itself() {
        let all = [
            Part::Network,
            Part::Containerd,
            Part::StaticPods,
            Part::Etcd,
            Part::ApiServer,
            Part::Controllers,
            Part::Agent,
            Part::Joining,
            Part::Api,
            Part::Kubelet,
            Part::PodNetwork,
            Part::Node,
            Part::KubeProxy,
            Part::ClusterDns,
            Part::Workloads,
            Part::Ceph,
        ];
        for part in all {
            assert!(part.needs_somehow(Part::Machine), "{part:?}");
            assert!(!part.needs_somehow(part), "{part:?}");
        }
        assert!(Part::Node.needs_somehow(Part::Etcd));
        assert!(!Part::Etcd.needs_somehow(Part::Kubelet) && !Part::Etcd.needs_somehow(Part::Containerd));
    }
}
