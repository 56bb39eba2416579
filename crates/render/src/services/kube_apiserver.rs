//! The API server: one on every master, each with the etcd member of its own node.

mod audit;
mod authentication;

use spec::{Node, ValidatedCluster, ports};

use crate::{
    address,
    paths::{CLUSTER_CA, KUBERNETES, LOGS, kubernetes, pki},
    process::{Health, Process},
    service::{RenderedFile, Service},
    unit::Command,
};

/// Who issues service account tokens, as they say themselves.
pub fn service_account_issuer(cluster: &ValidatedCluster) -> String {
    format!("https://kubernetes.default.svc.{}", cluster.networking().domain)
}

/// What it runs, reads and answers.
pub fn kube_apiserver_process(cluster: &ValidatedCluster, node: &Node) -> Process {
    let authentication = kubernetes("authentication.yaml");
    let audit_policy = kubernetes("audit-policy.yaml");
    let networking = cluster.networking();
    let several = cluster.control_plane().count() > 1;
    let command = Command::new("kube-apiserver")
        .flag("advertise-address", node.ip)
        .flag("bind-address", address::any(node.ip))
        .flag("secure-port", cluster.api().port)
        .flag("tls-cert-file", pki("apiserver.crt"))
        .flag("tls-private-key-file", pki("apiserver.key"))
        .flag("tls-min-version", "VersionTLS12")
        .flag("client-ca-file", CLUSTER_CA)
        .flag("authentication-config", &authentication)
        .flag("enable-bootstrap-token-auth", true)
        .flag("authorization-mode", "Node,RBAC")
        .flag("enable-admission-plugins", "NodeRestriction")
        .flag("allow-privileged", true)
        .flag("etcd-servers", format!("https://127.0.0.1:{}", ports::ETCD_CLIENT))
        .flag("etcd-cafile", pki("etcd/ca.crt"))
        .flag("etcd-certfile", pki("apiserver-etcd-client.crt"))
        .flag("etcd-keyfile", pki("apiserver-etcd-client.key"))
        .flag("encryption-provider-config", kubernetes("encryption.yaml"))
        .flag("kubelet-certificate-authority", CLUSTER_CA)
        .flag("kubelet-client-certificate", pki("apiserver-kubelet-client.crt"))
        .flag("kubelet-client-key", pki("apiserver-kubelet-client.key"))
        .flag("kubelet-preferred-address-types", "InternalIP,ExternalIP,Hostname")
        .flag("service-account-issuer", service_account_issuer(cluster))
        .flag("service-account-key-file", pki("sa.pub"))
        .flag("service-account-signing-key-file", pki("sa.key"))
        .flag("service-cluster-ip-range", networking.service_cidr)
        .flag("proxy-client-cert-file", pki("front-proxy-client.crt"))
        .flag("proxy-client-key-file", pki("front-proxy-client.key"))
        .flag("requestheader-client-ca-file", pki("front-proxy-ca.crt"))
        .flag("requestheader-allowed-names", "front-proxy-client")
        .flag("requestheader-username-headers", "X-Remote-User")
        .flag("requestheader-group-headers", "X-Remote-Group")
        .flag("requestheader-extra-headers-prefix", "X-Remote-Extra-")
        .flag("audit-policy-file", &audit_policy)
        .flag("audit-log-path", format!("{LOGS}/audit.log"))
        .flag("audit-log-maxsize", 100)
        .flag("audit-log-maxbackup", 10)
        .flag("audit-log-maxage", 30)
        // With it a stop is announced: balancers see that it is not ready, and go elsewhere before it refuses them.
        .flags(several.then_some(("shutdown-delay-duration", "3s")))
        // Without it a stop waits a whole minute for watches, which never end by themselves.
        .flag("shutdown-watch-termination-grace-period", "5s")
        .flag("profiling", false);
    let files = vec![
        RenderedFile::private(authentication, authentication::config(cluster.bootstrap().unlisted_nodes)),
        RenderedFile::private(audit_policy, audit::policy()),
    ];
    Process {
        name: "kube-apiserver",
        description: "Kubernetes API server",
        documentation: "https://kubernetes.io/docs/",
        command,
        files,
        reads: vec![KUBERNETES],
        writes: vec![LOGS],
        needs: Vec::new(),
        health: Health { scheme: "https", port: cluster.api().port, live: "/livez", ready: "/readyz" },
        environment: Vec::new(),
    }
}

/// The API server of this master.
pub fn kube_apiserver(cluster: &ValidatedCluster, node: &Node) -> Service {
    let process = kube_apiserver_process(cluster, node);
    let unit = process
        .unit("kube-apiserver.service")
        // This orders how they stop: without etcd it waits long to sign off there. They start side by side all the
        // same, because etcd counts as started at once, and the API server waits for its member by itself.
        .follows("etcd.service")
        .follows_network()
        .service("Type", "exec")
        .service("TimeoutStopSec", "15s")
        .service("LogsDirectory", "kubernetes")
        .service("LogsDirectoryMode", "0700");
    process.kept_running(unit).into_service(process.files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{HOME, OTHER, cluster, node, whole};

    #[test]
    fn by_default() {
        let cluster = cluster(HOME);
        insta::assert_snapshot!(whole(&kube_apiserver(&cluster, node(&cluster, "master-01"))));
    }

    #[test]
    fn another_family_port_and_domain() {
        let cluster = cluster(OTHER);
        insta::assert_snapshot!(kube_apiserver(&cluster, node(&cluster, "m2")).unit);
    }
}
