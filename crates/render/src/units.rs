//! Our own units.
//!
//! ```text
//! cluster-detect      who is this machine, and what is its address?     once per boot, before the network is needed
//! cluster-bootstrap   what is missing for it to be a node?              once per boot, until it succeeds
//! blackstart-agent    API for this node, join service, renewal          always
//! bootkube            how far is the cluster?                           on the bootstrap node, until masters have taken over
//! ```

use crate::{
    service::{RenderedFile, Service},
    unit::{Command, Unit},
};

const BOOTKUBE_SCRIPT: &str = "/opt/openshift/bootkube.sh";

/// Everything of ours that systemd runs on a node of any kind.
pub const NAMES: &[&str] = &[
    "cluster-detect.service",
    "cluster-bootstrap.service",
    "blackstart-agent.service",
    "containerd.service",
    "etcd.service",
    "kube-apiserver.service",
    "kube-controller-manager.service",
    "kube-scheduler.service",
    "kubelet.service",
    "kube-proxy.service",
    "bootkube.service",
];

/// `cluster-detect.service`.
///
/// It is not started again when it fails: everything that needs the network would wait for it, on a machine that
/// an operator must be able to log in to. The bootstrap asks the same question again, and does go on asking.
pub fn detect() -> Service {
    Unit::new("cluster-detect.service", "Blackstart: identity and network of this node")
        .follows("NetworkManager.service")
        .unit("Before", "network-online.target")
        .service("Type", "oneshot")
        .service("RemainAfterExit", "yes")
        .exec(&Command::new("blackstart").word("node").word("detect"))
        .service("TimeoutStartSec", "2min")
        .into_service(Vec::new())
}

/// `cluster-bootstrap.service`.
///
/// It only wants `cluster-detect.service`: if that one failed, this one still starts, fails with the same reason and is
/// started again until the configuration is corrected.
pub fn bootstrap() -> Service {
    Unit::new("cluster-bootstrap.service", "Blackstart: make this machine a node of its cluster")
        .follows("cluster-detect.service")
        .follows("network-online.target")
        .unit("StartLimitIntervalSec", 0)
        .service("Type", "oneshot")
        .service("RemainAfterExit", "yes")
        .exec(&Command::new("blackstart").word("node").word("up"))
        // It waits for other machines, and says for whom.
        .service("TimeoutStartSec", "infinity")
        .service("Restart", "on-failure")
        .service("RestartSec", "10s")
        // What it ends with when it is asked to stop; that is no failure.
        .service("SuccessExitStatus", 130)
        .into_service(Vec::new())
}

/// `blackstart-agent.service`.
///
/// It answers strangers, so its memory has an end. A worker's agent takes 20 MB, a master's twice as much (backups pass
/// through it in pieces). At worst strangers add 68 MB, the balancer 16 MB, and each hostile node 4 MB until all places for
/// nodes are taken at 268 MB (`join/src/server/limits.rs`): less than 400 MB in all. What is above that is a mistake of ours,
/// and better ended and started again than paid by the whole machine. Because of that end the system may spare the agent
/// when it has no memory left: without it the node has no way to the API.
pub fn agent() -> Service {
    Unit::new("blackstart-agent.service", "Blackstart agent")
        .follows("cluster-detect.service")
        .service("Type", "notify")
        .exec(&Command::new("blackstart").word("agent"))
        .restarted("2s")
        .service("MemoryMax", "512M")
        .service("OOMScoreAdjust", -999)
        .into_service(Vec::new())
}

/// `bootkube.service`, on a bootstrap node: people know its name, its script and its messages from other installers.
///
/// It does nothing but follow what `cluster-bootstrap.service` does, so it may end and start at any time.
pub fn bootkube() -> Service {
    let script = "#!/bin/sh\nexec /usr/local/bin/blackstart bootstrap follow\n";
    Unit::new("bootkube.service", "Blackstart: progress of the bootstrap, until the masters have taken over")
        .follows("cluster-detect.service")
        .unit("StartLimitIntervalSec", 0)
        .service("ExecStart", BOOTKUBE_SCRIPT)
        .service("Restart", "on-failure")
        .service("RestartSec", "2s")
        .service("SuccessExitStatus", 130)
        .into_service(vec![RenderedFile { path: BOOTKUBE_SCRIPT.into(), mode: 0o755, text: script.to_owned() }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::whole;

    #[test]
    fn identity_and_network() {
        insta::assert_snapshot!(whole(&detect()));
    }

    #[test]
    fn becoming_a_node() {
        insta::assert_snapshot!(whole(&bootstrap()));
    }

    #[test]
    fn holding_the_cluster() {
        insta::assert_snapshot!(whole(&bootkube()));
    }

    #[test]
    fn what_keeps_running() {
        insta::assert_snapshot!(whole(&agent()));
    }
}
