//! The scheduler: one on every master, of which one leads. Each talks to the API server of its own node.

use spec::{Node, ValidatedCluster, ports};

use crate::{
    paths::{CLUSTER_CA, KUBERNETES, kubernetes, pki},
    process::{Health, Process},
    service::Service,
    services::LEADER_RETRY,
    unit::Command,
};

/// Nothing in it depends on cluster or node; both are taken so that all processes of a master are made alike.
pub fn kube_scheduler_process(_cluster: &ValidatedCluster, _node: &Node) -> Process {
    let kubeconfig = kubernetes("scheduler.conf");
    let command = Command::new("kube-scheduler")
        .flag("kubeconfig", &kubeconfig)
        .flag("authentication-kubeconfig", &kubeconfig)
        .flag("authorization-kubeconfig", &kubeconfig)
        .flag("client-ca-file", CLUSTER_CA)
        .flag("requestheader-client-ca-file", pki("front-proxy-ca.crt"))
        .flag("requestheader-allowed-names", "front-proxy-client")
        .flag("bind-address", "127.0.0.1")
        .flag("secure-port", ports::SCHEDULER)
        .flag("tls-min-version", "VersionTLS12")
        .flag("leader-elect", true)
        .flag("leader-elect-retry-period", LEADER_RETRY)
        .flag("profiling", false);
    Process {
        name: "kube-scheduler",
        description: "Kubernetes scheduler",
        documentation: "https://kubernetes.io/docs/",
        command,
        files: Vec::new(),
        reads: vec![KUBERNETES],
        writes: Vec::new(),
        needs: Vec::new(),
        health: Health { scheme: "https", port: ports::SCHEDULER, live: "/livez", ready: "/readyz" },
        environment: Vec::new(),
    }
}

/// The scheduler of this master.
pub fn kube_scheduler(cluster: &ValidatedCluster, node: &Node) -> Service {
    let process = kube_scheduler_process(cluster, node);
    let unit = process.unit("kube-scheduler.service").after("kube-apiserver.service").follows_network();
    process.kept_running(unit.service("Type", "exec")).into_service(process.files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{HOME, cluster, node, whole};

    #[test]
    fn by_default() {
        let cluster = cluster(HOME);
        insta::assert_snapshot!(whole(&kube_scheduler(&cluster, node(&cluster, "master-01"))));
    }
}
