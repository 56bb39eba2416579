//! The kubelet. It reaches the API through the load balancer in the agent, gets its first client certificate from our
//! join service, and renews that one and its serving certificate through requests that the masters' agents approve.

use serde_json::{Value, json};
use spec::{Node, Role, ValidatedCluster, ports};

use crate::{
    Cgroup, Machine, address,
    paths::{CLUSTER_CA, CONTAINERD_SOCKET, VOLUME_PLUGINS, kubernetes},
    service::{RenderedFile, Service},
    static_pod,
    unit::{Command, Unit},
    yaml,
};

const CONFIG: &str = "/var/lib/kubelet/config.yaml";

/// After a crash of a machine that shares its kernel, groups of pods that no longer exist stay behind, and the kubelet
/// waits long for each of them. What still holds a process cannot be removed, so running pods are safe; and there is no
/// such directory where control groups are of version 2.
const REMOVE_STALE_GROUPS: &str =
    "-/bin/sh -c 'exec find /sys/fs/cgroup/*/kubepods -depth -type d -exec rmdir {} + 2>/dev/null'";

/// The kubelet of this node.
pub fn kubelet(cluster: &ValidatedCluster, node: &Node, machine: &Machine) -> Service {
    let command = Command::new("kubelet")
        .flag("config", CONFIG)
        .flag("kubeconfig", kubernetes("kubelet.conf"))
        .flag("hostname-override", &node.name)
        .flag("node-ip", node.ip);
    let unit = Unit::new("kubelet.service", "Kubernetes node agent")
        .unit("Documentation", "https://kubernetes.io/docs/")
        .follows("containerd.service")
        .follows("blackstart-agent.service")
        .follows_network();
    let unit = match machine.cgroup {
        Cgroup::V1 => unit.service("ExecStartPre", REMOVE_STALE_GROUPS),
        Cgroup::V2 => unit,
    };
    unit.exec(&command)
        .restarted("2s")
        // Mounts and programs that it started for pods outlive it.
        .service("KillMode", "process")
        .service("OOMScoreAdjust", -999)
        .into_service(vec![RenderedFile::private(CONFIG, yaml::document(&config(cluster, node, machine)))])
}

fn config(cluster: &ValidatedCluster, node: &Node, machine: &Machine) -> Value {
    let mut config = for_every_node(cluster);
    config["address"] = address::any(node.ip).into();
    config["cgroupDriver"] = match machine.cgroup {
        Cgroup::V1 => "cgroupfs",
        Cgroup::V2 => "systemd",
    }
    .into();
    config["resolvConf"] = machine.resolv_conf.to_string_lossy().into();
    if !machine.may_raise_limits {
        config["oomScoreAdj"] = 0.into();
    }
    if !machine.has_own_disk {
        // By default the kubelet ends pods and removes images when a share of the disk is left.
        config["evictionHard"] = json!({
            "memory.available": "100Mi", "nodefs.available": "500Mi", "nodefs.inodesFree": "1%", "imagefs.available": "500Mi",
        });
        config["imageGCHighThresholdPercent"] = 100.into();
    }
    if node.has(Role::Bootstrap) {
        config["staticPodPath"] = static_pod::MANIFESTS.into();
        // Its directory comes with the first manifest, and what was not there at the start is only looked for this often.
        config["fileCheckFrequency"] = "1s".into();
        config["registerWithTaints"] = json!([{ "key": "node-role.kubernetes.io/bootstrap", "effect": "NoSchedule" }]);
    }
    if node.roles.contains(&Role::Master) && !node.roles.contains(&Role::Worker) {
        config["registerWithTaints"] =
            json!([{ "key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule" }]);
    }
    config
}

/// What does not depend on the machine; also for nodes that `kubeadm join` brings in, which find out the rest.
pub(crate) fn for_every_node(cluster: &ValidatedCluster) -> Value {
    json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": { "enabled": false },
            "webhook": { "enabled": true },
            "x509": { "clientCAFile": CLUSTER_CA },
        },
        "authorization": { "mode": "Webhook" },
        "clusterDNS": [cluster.networking().dns_service_ip()],
        "clusterDomain": cluster.networking().domain,
        "containerRuntimeEndpoint": CONTAINERD_SOCKET,
        "enableDebugFlagsHandler": false,
        "enableProfilingHandler": false,
        // Old control groups and swap are for the preflight checks to evaluate, before anything runs. A node that has
        // been up must come back; its pods do not swap, whatever the machine does.
        "failCgroupV1": false,
        "failSwapOn": false,
        "memorySwap": { "swapBehavior": "NoSwap" },
        "healthzBindAddress": "127.0.0.1",
        "healthzPort": ports::KUBELET_HEALTH,
        "port": ports::KUBELET,
        "readOnlyPort": 0,
        "rotateCertificates": true,
        "serverTLSBootstrap": true,
        "streamingConnectionIdleTimeout": "1h0m0s",
        "tlsMinVersion": "VersionTLS12",
        "volumePluginDir": VOLUME_PLUGINS,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{HOME, OTHER, cluster, lab, metal, node, whole};

    #[test]
    fn a_master_in_the_lab() {
        let cluster = cluster(HOME);
        insta::assert_snapshot!(whole(&kubelet(&cluster, node(&cluster, "master-01"), &lab())));
    }

    #[test]
    fn a_worker_on_metal() {
        let cluster = cluster(HOME);
        insta::assert_snapshot!(whole(&kubelet(&cluster, node(&cluster, "worker-01"), &metal())));
    }

    #[test]
    fn only_a_master_that_is_no_worker_keeps_pods_away() {
        let (home, other) = (cluster(HOME), cluster(OTHER));
        for (cluster, name, expected) in
            [(&home, "master-01", true), (&home, "worker-01", false), (&other, "m1", false)]
        {
            let config = config(cluster, node(cluster, name), &metal());
            assert_eq!(config.get("registerWithTaints").is_some(), expected, "{name}");
        }
    }
}
