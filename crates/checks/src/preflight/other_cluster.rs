//! Nothing on the machine belongs to another cluster: turning a working node of one into a node of another destroys it.

use std::{collections::BTreeSet, net::Ipv4Addr, path::Path};

use host::{Disk, HostError};
use pki::{EntryKind, Existing};
use serde::Deserialize;
use spec::{San, ValidatedCluster};

use super::{Check, Context, problem};
use crate::{Checking, Finding, codes};

/// See [`super`].
pub(super) const CHECK: Check =
    Check::new("other-cluster", "the machine is not part of another cluster", &[codes::OTHER_CLUSTER], check)
        .first_time();

const KUBECONFIGS: [&str; 4] = ["admin.conf", "kubelet.conf", "controller-manager.conf", "scheduler.conf"];

/// What other ways to make a node leave behind.
const SIGNS: &[(&str, &str)] = &[
    (etcd::DATA, "data of an etcd that is not ours"),
    ("/etc/kubernetes/manifests/kube-apiserver.yaml", "a control plane of kubeadm"),
    ("/etc/kubernetes/bootstrap-kubelet.conf", "a node of kubeadm that was joining"),
    ("/etc/rancher/k3s", "k3s"),
    ("/var/lib/rancher/k3s", "k3s"),
    ("/etc/rancher/rke2", "RKE2"),
    ("/var/lib/rancher/rke2", "RKE2"),
    ("/var/lib/k0s", "k0s"),
    ("/var/snap/microk8s", "MicroK8s"),
];

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let disk = &*context.host.disk;
        let mut signs = signs(disk)?;
        let existing = Existing::read(disk, &context.layout.kubernetes_dir)?;
        for entry in pki::inventory(&existing, context.host.clock.now()) {
            if entry.kind == EntryKind::Ca
                && let Some(facts) = entry.certificate
                && let Some(other) = marked(&facts.subject).filter(|name| *name != context.cluster.name())
            {
                signs.push(format!("{} is the CA of cluster `{other}`", entry.path.display()));
            }
        }
        let own = own_hosts(&context.cluster);
        for name in KUBECONFIGS {
            let path = context.layout.kubernetes_dir.join(name);
            let text = context.text(&path)?.unwrap_or_default();
            let strange = servers(&text).into_iter().filter(|url| host_of(url).is_some_and(|host| !own.contains(host)));
            signs.extend(strange.map(|url| format!("{} leads to {url}", path.display())));
        }
        Ok(evaluate(&signs))
    })
}

fn evaluate(signs: &[String]) -> Vec<Finding> {
    if signs.is_empty() { Vec::new() } else { problem(codes::OTHER_CLUSTER, signs.join("; ")) }
}

fn signs(disk: &dyn Disk) -> Result<Vec<String>, HostError> {
    let mut found = Vec::new();
    for (path, whose) in SIGNS {
        let is_ours = *path == etcd::DATA && has_decided(disk)?;
        if !is_ours && disk.exists(Path::new(path))? {
            found.push(format!("{path} is there: {whose}"));
        }
    }
    Ok(found)
}

/// Whether our decision lies beside etcd's data: a restored backup leaves both on a machine that was nothing before.
fn has_decided(disk: &dyn Disk) -> Result<bool, HostError> {
    let text = disk.read_optional(Path::new(etcd::INITIAL))?.unwrap_or_default();
    Ok(etcd::Initial::parse(&String::from_utf8_lossy(&text)).is_some())
}

/// The cluster that a CA of ours names in its subject; others name none.
fn marked(subject: &str) -> Option<&str> {
    subject.split(", ").find_map(|part| part.strip_prefix("OU=blackstart:"))
}

/// Every host under which this cluster's API can be reached.
fn own_hosts(cluster: &ValidatedCluster) -> BTreeSet<String> {
    let mut own = BTreeSet::from([Ipv4Addr::LOCALHOST.to_string(), "::1".to_owned(), "localhost".to_owned()]);
    for master in cluster.masters() {
        own.extend([master.ip.to_string(), master.name.clone(), master.hostname.clone()]);
    }
    own.extend(cluster.api().extra_sans.iter().chain(cluster.api().endpoint.iter().map(|at| &at.host)).map(show));
    own
}

fn show(san: &San) -> String {
    match san {
        San::Dns(name) => name.clone(),
        San::Ip(ip) => ip.to_string(),
    }
}

/// The servers in a kubeconfig; none in what is no kubeconfig, which the PKI will report.
fn servers(kubeconfig: &str) -> Vec<String> {
    #[derive(Deserialize)]
    struct File {
        clusters: Vec<Entry>,
    }
    #[derive(Deserialize)]
    struct Entry {
        cluster: Cluster,
    }
    #[derive(Deserialize)]
    struct Cluster {
        server: String,
    }
    let file: Result<File, _> = serde_saphyr::from_str(kubeconfig);
    file.map(|file| file.clusters.into_iter().map(|entry| entry.cluster.server).collect()).unwrap_or_default()
}

/// `https://[fd00::1]:6443/path` is at `fd00::1`.
fn host_of(url: &str) -> Option<&str> {
    let ca = url.split_once("://")?.1.split('/').next()?;
    match ca.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => ca.split(':').next(),
    }
}

#[cfg(test)]
mod tests {
    use host::RealDisk;

    use super::{super::reported, *};

    #[test]
    fn a_host_in_a_url() {
        for (url, host) in [
            ("https://10.0.0.1:6443", Some("10.0.0.1")),
            ("https://api.example.org", Some("api.example.org")),
            ("https://[fd00::1]:6443/x", Some("fd00::1")),
            ("nonsense", None),
        ] {
            assert_eq!(host_of(url), host, "{url}");
        }
    }

    #[test]
    fn the_servers_of_a_kubeconfig() {
        let text = "apiVersion: v1\nclusters:\n- name: a\n  cluster: { server: 'https://10.9.9.9:6443' }\nusers: []\n";
        assert_eq!(servers(text), ["https://10.9.9.9:6443"]);
        assert!(servers("a: [").is_empty() && servers("").is_empty());
    }

    #[test]
    fn our_hosts_are_those_of_the_masters_and_what_stands_before_them() {
        let text = "cluster: { name: home, api: { endpoint: 'api.home:6443', extra_sans: [192.168.1.5] } }\n\
                    nodes: [{ name: m, ip: 192.168.1.10, roles: [master] }, { name: w, ip: 192.168.1.11, roles: [worker] }]";
        let own = own_hosts(&spec::check_text(text).cluster.unwrap());
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        insta::assert_snapshot!(own.join(" "), @"127.0.0.1 192.168.1.10 192.168.1.5 ::1 api.home localhost m");
    }

    #[test]
    fn the_mark_of_a_ca() {
        assert_eq!(marked("OU=blackstart:lab, CN=kubernetes-ca"), Some("lab"));
        assert_eq!(marked("CN=kubernetes"), None);
    }

    #[test]
    fn what_others_left_is_named() {
        let root = tempfile::tempdir().unwrap();
        let disk = RealDisk::new(root.path());
        assert_eq!(evaluate(&signs(&disk).unwrap()), Vec::new());
        for dir in ["var/lib/etcd/member", "var/lib/rancher/k3s"] {
            std::fs::create_dir_all(root.path().join(dir)).unwrap();
        }
        insta::assert_snapshot!(reported([evaluate(&signs(&disk).unwrap())]));

        std::fs::remove_dir_all(root.path().join("var/lib/rancher")).unwrap();
        let decision = etcd::Initial::bootstrapping([("m", Ipv4Addr::LOCALHOST.into(), "aa")]);
        std::fs::write(root.path().join("var/lib/etcd/initial.env"), decision.text()).unwrap();
        assert_eq!(evaluate(&signs(&disk).unwrap()), Vec::new(), "what a backup brought back is ours");
    }
}
