//! kube-proxy: services by nftables, on every node.

use serde_json::{Value, json};
use spec::{Node, ValidatedCluster, ports};

use crate::{
    Machine, address,
    paths::kubernetes,
    service::{RenderedFile, Service},
    unit::{Command, Unit},
    yaml,
};

const CONFIG: &str = "/var/lib/kube-proxy/config.yaml";

/// kube-proxy of this node.
pub fn kube_proxy(cluster: &ValidatedCluster, node: &Node, machine: &Machine) -> Service {
    let forwarding = if node.ip.is_ipv4() { "net.ipv4.ip_forward" } else { "net.ipv6.conf.all.forwarding" };
    Unit::new("kube-proxy.service", "Kubernetes service proxy")
        .unit("Documentation", "https://kubernetes.io/docs/")
        .follows("blackstart-agent.service")
        .follows_network()
        // A node port may lead to a pod elsewhere, also from a node that runs no pod, whose network add-on has not
        // asked for forwarding.
        .service("ExecStartPre", format!("sysctl -q -w {forwarding}=1"))
        .exec(&Command::new("kube-proxy").flag("config", CONFIG))
        .restarted("2s")
        .service("OOMScoreAdjust", -999)
        .into_service(vec![RenderedFile::private(CONFIG, yaml::document(&config(cluster, node, machine)))])
}

fn config(cluster: &ValidatedCluster, node: &Node, machine: &Machine) -> Value {
    let mut config = json!({
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "bindAddress": address::any(node.ip),
        "clientConnection": { "kubeconfig": kubernetes("kube-proxy.conf") },
        "clusterCIDR": cluster.networking().pod_cidr,
        "detectLocalMode": "ClusterCIDR",
        "enableProfiling": false,
        "healthzBindAddress": format!("127.0.0.1:{}", ports::KUBE_PROXY_HEALTH),
        "hostnameOverride": node.name,
        "metricsBindAddress": format!("127.0.0.1:{}", ports::KUBE_PROXY_METRICS),
        "mode": "nftables",
    });
    if !machine.may_size_conntrack {
        config["conntrack"] = json!({ "maxPerCore": 0, "min": 0 });
    }
    config
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{HOME, OTHER, cluster, lab, metal, node, whole};

    #[test]
    fn in_the_lab() {
        let cluster = cluster(HOME);
        insta::assert_snapshot!(whole(&kube_proxy(&cluster, node(&cluster, "worker-01"), &lab())));
    }

    #[test]
    fn on_metal_with_the_other_family() {
        let cluster = cluster(OTHER);
        insta::assert_snapshot!(whole(&kube_proxy(&cluster, node(&cluster, "m1"), &metal())));
    }
}
