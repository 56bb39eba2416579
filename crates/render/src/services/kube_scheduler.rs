//! The scheduler: one on every master, of which one leads. Each talks to the API server of its own node.

use spec::{Node, ValidatedCluster, ports};

use crate::{
    paths::{CLUSTER_CA, kubernetes, pki},
    service::Service,
    services::LEADER_RETRY,
    unit::{Command, Unit},
};

/// The scheduler of this master. Nothing in it depends on cluster or node; both are taken so that all services of a
/// master are made alike.
pub fn kube_scheduler(_cluster: &ValidatedCluster, _node: &Node) -> Service {
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
    Unit::new("kube-scheduler.service", "Kubernetes scheduler")
        .unit("Documentation", "https://kubernetes.io/docs/")
        .after("kube-apiserver.service")
        .follows_network()
        .service("Type", "exec")
        .exec(command)
        .restarted("2s")
        .service("OOMScoreAdjust", -997)
        .confined()
        .into_service(Vec::new())
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
