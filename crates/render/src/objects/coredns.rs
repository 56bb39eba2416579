//! CoreDNS, the cluster's DNS: two pods, on different nodes where there are two, and the service `kube-dns`.

use std::net::IpAddr;

use serde_json::{Value, json};
use spec::ValidatedCluster;

use super::role::{cluster_binding, cluster_role, service_account};

const NAMESPACE: &str = "kube-system";
const NAME: &str = "coredns";
const ROLE: &str = "system:coredns";
const NONROOT: u32 = 65532;
const DNS_PORT: u16 = 53;
const METRICS_PORT: u16 = 9153;

/// Who is asked for names outside the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upstream<'a> {
    /// These name servers.
    Servers(&'a [IpAddr]),
    /// Those of the node that a pod is on.
    OfNode,
    /// None: there is no name server. CoreDNS does not start with a list of none.
    None,
}

/// Everything it consists of, with this image.
pub fn coredns(cluster: &ValidatedCluster, image: &str, upstream: Upstream<'_>) -> Vec<Value> {
    let corefile = corefile(&cluster.networking().domain, upstream);
    vec![
        json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata(NAME) }),
        cluster_role(
            ROLE,
            &json!([
                { "apiGroups": [""], "resources": ["services", "pods", "namespaces"], "verbs": ["list", "watch"] },
                { "apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"] },
            ]),
        ),
        cluster_binding(ROLE, ROLE, &[service_account(NAMESPACE, NAME)]),
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(NAME), "data": { "Corefile": corefile } }),
        service(cluster),
        deployment(image),
    ]
}

fn metadata(name: &str) -> Value {
    json!({ "name": name, "namespace": NAMESPACE, "labels": labels() })
}

/// As everywhere else, so that tools find it.
fn labels() -> Value {
    json!({ "k8s-app": "kube-dns" })
}

fn corefile(domain: &str, upstream: Upstream<'_>) -> String {
    let to = match upstream {
        Upstream::Servers(servers) => servers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        Upstream::OfNode => "/etc/resolv.conf".to_owned(),
        Upstream::None => String::new(),
    };
    let forward = if to.is_empty() {
        String::new()
    } else {
        format!("    forward . {to} {{\n        max_concurrent 1000\n    }}\n")
    };
    format!(
        "\
.:{DNS_PORT} {{
    errors
    health {{
        lameduck 5s
    }}
    ready
    kubernetes {domain} in-addr.arpa ip6.arpa {{
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }}
    prometheus :{METRICS_PORT}
{forward}    cache 30 {{
        disable success {domain}
        disable denial {domain}
    }}
    loop
    reload
    loadbalance
}}
"
    )
}

fn service(cluster: &ValidatedCluster) -> Value {
    let port = |name: &str, port: u16, protocol: &str| json!({ "name": name, "port": port, "protocol": protocol, "targetPort": name });
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata("kube-dns"),
        "spec": {
            "clusterIP": cluster.networking().dns_service_ip(),
            "selector": labels(),
            "ports": [
                port("dns", DNS_PORT, "UDP"),
                port("dns-tcp", DNS_PORT, "TCP"),
                port("metrics", METRICS_PORT, "TCP"),
            ],
        },
    })
}

fn deployment(image: &str) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(NAME),
        "spec": {
            "replicas": 2,
            "selector": { "matchLabels": labels() },
            "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": 1 } },
            "template": { "metadata": { "labels": labels() }, "spec": pod(image) },
        },
    })
}

fn pod(image: &str) -> Value {
    json!({
        "priorityClassName": "system-cluster-critical",
        "serviceAccountName": NAME,
        // It asks the node's name servers, not itself.
        "dnsPolicy": "Default",
        "nodeSelector": { "kubernetes.io/os": "linux" },
        "tolerations": [
            { "key": "CriticalAddonsOnly", "operator": "Exists" },
            { "key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule" },
            // Kubernetes gives pods five minutes; without DNS nothing in the cluster finds anything for so long.
            { "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30 },
            { "key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30 },
        ],
        // Spread, but rather both on one node than one of them nowhere.
        "topologySpreadConstraints": [{
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": { "matchLabels": labels() },
        }],
        "securityContext": {
            "runAsNonRoot": true,
            "runAsUser": NONROOT,
            "runAsGroup": NONROOT,
            "seccompProfile": { "type": "RuntimeDefault" },
            // Port 53 without being root and without a capability.
            "sysctls": [{ "name": "net.ipv4.ip_unprivileged_port_start", "value": "0" }],
        },
        "containers": [container(image)],
        "volumes": [{ "name": "config", "configMap": { "name": NAME, "items": [{ "key": "Corefile", "path": "Corefile" }] } }],
    })
}

fn container(image: &str) -> Value {
    let port =
        |name: &str, port: u16, protocol: &str| json!({ "name": name, "containerPort": port, "protocol": protocol });
    json!({
        "name": NAME,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": ["-conf", "/etc/coredns/Corefile"],
        "ports": [
            port("dns", DNS_PORT, "UDP"),
            port("dns-tcp", DNS_PORT, "TCP"),
            port("metrics", METRICS_PORT, "TCP"),
            port("health", 8080, "TCP"),
            port("ready", 8181, "TCP"),
        ],
        "livenessProbe": {
            "httpGet": { "path": "/health", "port": "health" },
            "initialDelaySeconds": 60, "timeoutSeconds": 5, "failureThreshold": 5,
        },
        "readinessProbe": { "httpGet": { "path": "/ready", "port": "ready" }, "periodSeconds": 2 },
        "resources": { "limits": { "memory": "170Mi" }, "requests": { "cpu": "100m", "memory": "70Mi" } },
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": { "drop": ["ALL"] },
            "readOnlyRootFilesystem": true,
        },
        "volumeMounts": [{ "name": "config", "mountPath": "/etc/coredns", "readOnly": true }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{HOME, cluster, manifest};

    #[test]
    fn all_of_it() {
        let objects = coredns(&cluster(HOME), "blackstart.local/coredns:1.15.0", Upstream::OfNode);
        insta::assert_snapshot!(manifest(&objects));
    }

    #[test]
    fn names_outside_are_forwarded_where_there_is_a_name_server() {
        let servers = ["192.168.1.1", "fd00::1"].map(|server| server.parse().unwrap());
        for (upstream, expected) in [
            (Upstream::Servers(&servers), Some("    forward . 192.168.1.1 fd00::1 {")),
            (Upstream::OfNode, Some("    forward . /etc/resolv.conf {")),
            (Upstream::None, None),
            (Upstream::Servers(&[]), None),
        ] {
            let text = corefile("cluster.local", upstream);
            assert_eq!(text.lines().find(|line| line.contains("forward")), expected);
            assert_eq!(text.matches('{').count(), text.matches('}').count(), "{text}");
        }
    }
}
