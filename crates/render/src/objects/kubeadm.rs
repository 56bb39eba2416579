//! What a stock `kubeadm join` looks for: how to reach the cluster, how it is configured, and the rights to read that.
//!
//! Names, keys and formats are kubeadm's. Its bindings that let the controller manager approve whatever a token asks for
//! are left out on purpose: the masters' agents approve, and only what fits cluster.yaml. What a token is good for is bound
//! only where machines that are not in cluster.yaml may join: all others join through the join service.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use spec::{UnlistedNodes, ValidatedCluster};

use super::{
    BOOTSTRAPPERS,
    role::{cluster_binding, cluster_role, group, may_read, user},
};
use crate::{services::kubelet_for_every_node, yaml};

const NODES: &str = "system:nodes";

/// All that this cluster is to have. `ca_pem` is the cluster's CA, `server_url` what a new machine reaches the API by.
pub fn kubeadm(cluster: &ValidatedCluster, ca_pem: &str, server_url: &str) -> Vec<Value> {
    let mut objects = vec![
        configuration("kube-public", "cluster-info", "kubeconfig", &cluster_info(ca_pem, server_url)),
        configuration(
            "kube-system",
            "kubeadm-config",
            "ClusterConfiguration",
            &cluster_configuration(cluster, server_url),
        ),
        configuration("kube-system", "kubelet-config", "kubelet", &kubelet_for_every_node(cluster)),
    ];
    let is_open = is_open(cluster);
    let mut readers = vec![group(NODES)];
    readers.extend(is_open.then(|| group(BOOTSTRAPPERS)));
    objects.extend(may_read("kubeadm:nodes-kubeadm-config", "kube-system", "kubeadm-config", &readers));
    objects.extend(may_read("kubeadm:kubelet-config", "kube-system", "kubelet-config", &readers));
    if is_open {
        objects.extend(rights_of_tokens());
    }
    objects
}

/// What an earlier run may have made for this cluster, and it is no longer to have.
pub fn kubeadm_unwanted(cluster: &ValidatedCluster) -> Vec<Value> {
    if is_open(cluster) { Vec::new() } else { rights_of_tokens() }
}

fn is_open(cluster: &ValidatedCluster) -> bool {
    cluster.bootstrap().unlisted_nodes == UnlistedNodes::Allow
}

/// What a client with a token may do, and what an anonymous one may read before that.
fn rights_of_tokens() -> Vec<Value> {
    // It asks whether a node of its name is there already.
    let get_nodes = json!([{ "apiGroups": [""], "resources": ["nodes"], "verbs": ["get"] }]);
    let anybody = [user("system:anonymous")];
    let mut objects = vec![
        cluster_role("kubeadm:get-nodes", &get_nodes),
        cluster_binding("kubeadm:get-nodes", "kubeadm:get-nodes", &[group(BOOTSTRAPPERS)]),
        cluster_binding("kubeadm:kubelet-bootstrap", "system:node-bootstrapper", &[group(BOOTSTRAPPERS)]),
    ];
    objects.extend(may_read("kubeadm:bootstrap-signer-clusterinfo", "kube-public", "cluster-info", &anybody));
    objects
}

fn configuration(namespace: &str, name: &str, key: &str, value: &Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": name, "namespace": namespace },
        "data": { key: yaml::document(value) },
    })
}

/// A kubeconfig without a user; its only cluster has no name.
fn cluster_info(ca_pem: &str, server_url: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{
            "name": "",
            "cluster": { "certificate-authority-data": BASE64_STANDARD.encode(ca_pem), "server": server_url },
        }],
        "contexts": null,
        "current-context": "",
        "users": null,
    })
}

fn cluster_configuration(cluster: &ValidatedCluster, server_url: &str) -> Value {
    let networking = cluster.networking();
    json!({
        "apiVersion": "kubeadm.k8s.io/v1beta4",
        "kind": "ClusterConfiguration",
        "certificatesDir": "/etc/kubernetes/pki",
        "clusterName": cluster.name(),
        "controlPlaneEndpoint": server_url.strip_prefix("https://").unwrap_or(server_url),
        "dns": { "disabled": true },
        "encryptionAlgorithm": "ECDSA-P256",
        "etcd": { "local": { "dataDir": "/var/lib/etcd" } },
        "kubernetesVersion": format!("v{}", cluster.kubernetes_version()),
        "networking": {
            "dnsDomain": networking.domain,
            "podSubnet": networking.pod_cidr,
            "serviceSubnet": networking.service_cidr,
        },
        "proxy": { "disabled": true },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{HOME, OTHER, cluster, manifest};

    const CA: &str = "-----BEGIN CERTIFICATE-----\nc2FtcGxl\n-----END CERTIFICATE-----\n";

    #[test]
    fn all_of_it() {
        insta::assert_snapshot!(manifest(&kubeadm(&cluster(HOME), CA, "https://192.168.1.10:6443")));
    }

    #[test]
    fn a_token_is_good_for_something_only_where_unlisted_nodes_may_join() {
        let names = |objects: &[Value]| {
            let name = |object: &Value| format!("{} {}", object["kind"], object["metadata"]["name"]).replace('"', "");
            objects.iter().map(name).collect::<Vec<_>>().join("\n")
        };
        let url = "https://192.168.1.10:6443";
        let (closed, open) = (cluster(HOME), cluster(OTHER));
        assert!(!manifest(&kubeadm(&closed, CA, url)).contains(BOOTSTRAPPERS));
        assert!(!manifest(&kubeadm(&closed, CA, url)).contains("system:anonymous"));
        assert!(kubeadm_unwanted(&open).is_empty());
        let made = kubeadm(&open, CA, url);
        assert!(
            kubeadm_unwanted(&closed).iter().all(|object| made.contains(object)),
            "what one makes the other removes"
        );
        insta::assert_snapshot!(names(&kubeadm_unwanted(&closed)), @r"
        ClusterRole kubeadm:get-nodes
        ClusterRoleBinding kubeadm:get-nodes
        ClusterRoleBinding kubeadm:kubelet-bootstrap
        Role kubeadm:bootstrap-signer-clusterinfo
        RoleBinding kubeadm:bootstrap-signer-clusterinfo
        ");
        insta::assert_snapshot!("open", manifest(&made));
    }

    #[test]
    fn another_domain_and_an_endpoint() {
        let configuration = cluster_configuration(&cluster(OTHER), "https://api.other.example:443");
        insta::assert_snapshot!(yaml::document(&configuration));
    }

    #[test]
    fn only_our_agents_approve() {
        let text = manifest(&kubeadm(&cluster(HOME), CA, "https://192.168.1.10:6443"));
        for approver in ["autoapprove", "nodeclient"] {
            assert!(!text.contains(approver), "{approver}");
        }
    }
}
