//! The controller manager: one on every master, of which one leads. Each talks to the API server of its own node.

use spec::{NetworkAddOn, Node, ValidatedCluster, ports};

use crate::{
    paths::{CLUSTER_CA, KUBERNETES, VOLUME_PLUGINS, kubernetes, pki},
    process::{Health, Process},
    service::Service,
    services::LEADER_RETRY,
    unit::Command,
};

/// Which controllers run, beside those that always do.
const CONTROLLERS: &[&str] = &[
    "*",
    // Signs `cluster-info` with every token, for `kubeadm join`.
    "bootstrap-signer-controller",
    // Our agent removes expired tokens, later: until then a token that expired can be distinguished from one that never was.
    "-token-cleaner-controller",
    // Our agent alone approves: it knows which machines belong to the cluster.
    "-certificatesigningrequest-approving-controller",
];

/// What it runs, reads and answers.
pub fn kube_controller_manager_process(cluster: &ValidatedCluster, node: &Node) -> Process {
    let networking = cluster.networking();
    // With our own add-on a node's address decides which pods are its own, wherever it can.
    let by_address = networking.add_on == NetworkAddOn::Basic && networking.pod_cidr_of(node.ip).is_some();
    let allocates = !by_address;
    let kubeconfig = kubernetes("controller-manager.conf");
    let node_prefix = if node.ip.is_ipv4() { "node-cidr-mask-size-ipv4" } else { "node-cidr-mask-size-ipv6" };
    let command = Command::new("kube-controller-manager")
        .flag("kubeconfig", &kubeconfig)
        .flag("authentication-kubeconfig", &kubeconfig)
        .flag("authorization-kubeconfig", &kubeconfig)
        .flag("client-ca-file", CLUSTER_CA)
        .flag("requestheader-client-ca-file", pki("front-proxy-ca.crt"))
        .flag("requestheader-allowed-names", "front-proxy-client")
        .flag("bind-address", "127.0.0.1")
        .flag("secure-port", ports::CONTROLLER_MANAGER)
        .flag("tls-min-version", "VersionTLS12")
        .flag("leader-elect", true)
        .flag("leader-elect-retry-period", LEADER_RETRY)
        // Each controller asks for an account of its own when it starts. With the default of 20 a second they are not
        // at work before five seconds have passed, and no node is ready before that.
        .flag("kube-api-qps", 200)
        .flag("kube-api-burst", 400)
        .flag("controllers", CONTROLLERS.join(","))
        .flag("use-service-account-credentials", true)
        .flag("service-account-private-key-file", pki("sa.key"))
        .flag("root-ca-file", CLUSTER_CA)
        // People's certificates, which an administrator approves by hand. Where one signer has files of its own, those
        // without any do not run: kubelets' certificates are our agent's to sign, and none of unknown purpose are needed.
        .flag("cluster-signing-kube-apiserver-client-cert-file", pki("ca-signer.crt"))
        .flag("cluster-signing-kube-apiserver-client-key-file", pki("ca.key"))
        .flag("cluster-name", cluster.name())
        .flag("allocate-node-cidrs", allocates)
        .flag("cluster-cidr", networking.pod_cidr)
        .flag(node_prefix, networking.pod_prefix_per_node)
        .flag("service-cluster-ip-range", networking.service_cidr)
        .flag("flex-volume-plugin-dir", VOLUME_PLUGINS)
        .flag("profiling", false);
    Process {
        name: "kube-controller-manager",
        description: "Kubernetes controller manager",
        documentation: "https://kubernetes.io/docs/",
        command,
        files: Vec::new(),
        reads: vec![KUBERNETES],
        writes: vec![VOLUME_PLUGINS],
        needs: Vec::new(),
        health: Health { scheme: "https", port: ports::CONTROLLER_MANAGER, live: "/healthz", ready: "/healthz" },
        environment: Vec::new(),
    }
}

/// The controller manager of this master.
pub fn kube_controller_manager(cluster: &ValidatedCluster, node: &Node) -> Service {
    let process = kube_controller_manager_process(cluster, node);
    let unit = process.unit("kube-controller-manager.service").after("kube-apiserver.service").follows_network();
    process.kept_running(unit.service("Type", "exec")).into_service(process.files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{HOME, OTHER, cluster, node, whole};

    #[test]
    fn by_default() {
        let cluster = cluster(HOME);
        insta::assert_snapshot!(whole(&kube_controller_manager(&cluster, node(&cluster, "master-01"))));
    }

    /// A request is read by its approver. A second reader that signs could see another one in it.
    #[test]
    fn it_signs_for_no_kubelet() {
        let cluster = cluster(HOME);
        let unit = kube_controller_manager(&cluster, node(&cluster, "master-01")).unit;
        let signers: Vec<&str> =
            unit.lines().filter(|line| line.contains("--cluster-signing-")).map(str::trim).collect();
        assert!(signers.iter().all(|line| line.contains("--cluster-signing-kube-apiserver-client-")), "{signers:?}");
    }

    #[test]
    fn another_family() {
        let cluster = cluster(OTHER);
        insta::assert_snapshot!(kube_controller_manager(&cluster, node(&cluster, "m1")).unit);
    }
}
