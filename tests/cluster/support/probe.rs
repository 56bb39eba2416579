//! A pod on every machine that answers who it is and who asks, from an image that needs no registry.

use std::fs;

use super::{Cluster, cluster::text, eventually, run};

const IMAGE: &str = include_str!("probe-image.sh");
const MANIFEST: &str = include_str!("probe.yaml");

/// The port of every node behind which the probes are.
pub(crate) const NODE_PORT: u16 = 30080;

/// One of the pods.
#[derive(Debug, Clone)]
pub(crate) struct Probe {
    pub(crate) name: String,
    pub(crate) ip: String,
    pub(crate) node: String,
}

impl Probe {
    /// Starts one on every machine.
    pub(crate) fn start(cluster: &Cluster) {
        let dir = tempfile::tempdir().unwrap();
        let archive = dir.path().join("probe.tar").display().to_string();
        run("sh", &["-euc", IMAGE, "sh", &archive]).ok();
        for machine in Cluster::MACHINES {
            cluster.lab.run("cp", &[&archive, &format!("{machine}:/root")]).ok();
            cluster.sh(machine, "ctr -n k8s.io images import --local /root/probe.tar");
        }
        fs::remove_file(&archive).unwrap();
        cluster.apply(MANIFEST);
        cluster.kubectl(&["rollout", "status", "daemonset/probe", "--timeout=3m"]);
    }

    /// All of them that run, in the order of their nodes.
    pub(crate) fn all(cluster: &Cluster) -> Vec<Self> {
        let pods = cluster.get(&["pods", "-l", "app=probe", "--field-selector", "status.phase=Running"]);
        let mut all: Vec<Self> = pods
            .iter()
            .filter(|pod| pod["status"]["podIP"].is_string())
            .map(|pod| Self {
                name: text(&pod["metadata"]["name"]),
                ip: text(&pod["status"]["podIP"]),
                node: text(&pod["spec"]["nodeName"]),
            })
            .collect();
        all.sort_by(|one, other| one.node.cmp(&other.node));
        all
    }

    /// The one on a machine.
    pub(crate) fn on(cluster: &Cluster, machine: &str) -> Self {
        let all = Self::all(cluster);
        all.iter().find(|probe| probe.node == machine).unwrap_or_else(|| panic!("{machine} in {all:?}")).clone()
    }

    /// What a line of shell in the pod prints.
    #[track_caller]
    pub(crate) fn sh(&self, cluster: &Cluster, line: &str) -> String {
        cluster.kubectl(&["exec", &self.name, "--", "sh", "-c", line])
    }

    /// What a probe answers to this one, asked at an address or name.
    #[track_caller]
    pub(crate) fn ask(&self, cluster: &Cluster, at: &str) -> String {
        self.sh(cluster, &Self::question(at))
    }

    /// The same, or nothing.
    pub(crate) fn try_ask(&self, cluster: &Cluster, at: &str) -> String {
        cluster.try_kubectl(&["exec", &self.name, "--", "sh", "-c", &Self::question(at)]).out
    }

    fn question(at: &str) -> String {
        format!("timeout 10 wget -qO- http://{at}/cgi-bin/who")
    }

    /// Asks until every one of them has answered.
    #[track_caller]
    pub(crate) fn assert_all_answer(cluster: &Cluster, what: &str, ask: impl Fn() -> String) {
        let mut silent: Vec<String> = Self::all(cluster).into_iter().map(|probe| probe.name).collect();
        eventually(&format!("every probe answers {what}"), || {
            let answer = ask();
            silent.retain(|name| !answer.contains(name.as_str()));
            silent.is_empty()
        });
    }
}
