//! The whole PKI of a control plane, as a table. This file is the only place that knows what exists.
//!
//! Layout, names, subjects and usages are those of kubeadm 1.36, so that its tools and habits keep working. To add a
//! certificate: one row in [`LEAVES`]. It is then made, checked, listed and renewed like all others.
//!
//! Which API server a kubeconfig names is a column, [`Server`]:
//! - controller-manager and scheduler talk to the API server of their own node. If that one dies, leader election moves
//!   the work elsewhere, and during an upgrade no client is newer than its server.
//! - kubelet and kube-proxy go through the load balancer in the node's agent, on masters as on workers: the node lives on
//!   when its own API server does not.
//! - super-admin is the way in when everything else is broken, so it must not depend on a load balancer either.
//! - admin goes to the cluster's endpoint, so that its copy works on an operator's own computer; where none is
//!   configured, to this node.

use Server::{Balancer, Endpoint, OwnNode};
use Usage::{Both, Client, Serve};

const TEN_YEARS: i64 = 3650;
const ONE_YEAR: i64 = 365;

/// The directories below the root that hold secrets.
pub const DIRECTORIES: &[&str] = &["pki", "pki/etcd"];

/// Signs service account tokens.
pub const SERVICE_ACCOUNT: KeyRow = KeyRow { name: "sa", key: "pki/sa.key", public: "pki/sa.pub" };

/// The CAs.
pub const CAS: &[&CaRow] = &[&CLUSTER, &PROXY, &ETCD];

/// Signs the API server and everything that talks to it.
pub const CLUSTER: CaRow = ca("ca", "pki/ca", "kubernetes", TEN_YEARS);

/// Signs the API server towards extension API servers.
pub const PROXY: CaRow = ca("front-proxy-ca", "pki/front-proxy-ca", "front-proxy-ca", TEN_YEARS);

/// Signs etcd's members and clients.
pub const ETCD: CaRow = ca("etcd-ca", "pki/etcd/ca", "etcd-ca", TEN_YEARS);

/// The one certificate with which the controller manager signs, a copy from [`CLUSTER`]'s file: while CAs are
/// rotated that one holds two, and the controller manager refuses to choose.
pub const SIGNER: &str = "pki/ca-signer.crt";

/// Everything they sign. The API server's kubelet client has no group, as since kubeadm 1.36: its user is bound to
/// `system:kubelet-api-admin` instead.
#[rustfmt::skip]
pub const LEAVES: &[Leaf] = &[
    // name, signed by, file, common name, good for, names, lifetime
    pair("apiserver",                &CLUSTER, "pki/apiserver",                "kube-apiserver",                Serve,  Names::ApiServer,  ONE_YEAR),
    pair("apiserver-kubelet-client", &CLUSTER, "pki/apiserver-kubelet-client", "kube-apiserver-kubelet-client", Client, Names::None,       ONE_YEAR),
    pair("apiserver-etcd-client",    &ETCD,    "pki/apiserver-etcd-client",    "kube-apiserver-etcd-client",    Client, Names::None,       ONE_YEAR),
    pair("front-proxy-client",       &PROXY,   "pki/front-proxy-client",       "front-proxy-client",            Client, Names::None,       ONE_YEAR),
    pair("etcd-server",              &ETCD,    "pki/etcd/server",              "{node}",                        Both,   Names::EtcdMember, ONE_YEAR),
    pair("etcd-peer",                &ETCD,    "pki/etcd/peer",                "{node}",                        Both,   Names::EtcdMember, ONE_YEAR),
    pair("etcd-healthcheck-client",  &ETCD,    "pki/etcd/healthcheck-client",  "kube-etcd-healthcheck-client",  Client, Names::None,       ONE_YEAR),
    // name and file, user, group, server, lifetime
    kubeconfig("admin.conf",              "kubernetes-admin",               Some("kubeadm:cluster-admins"), Endpoint, ONE_YEAR),
    kubeconfig("super-admin.conf",        "kubernetes-super-admin",         Some("system:masters"),         OwnNode,  ONE_YEAR),
    kubeconfig("controller-manager.conf", "system:kube-controller-manager", None,                           OwnNode,  ONE_YEAR),
    kubeconfig("scheduler.conf",          "system:kube-scheduler",          None,                           OwnNode,  ONE_YEAR),
    kubeconfig("kubelet.conf",            "system:node:{node}",             Some("system:nodes"),           Balancer, ONE_YEAR),
    kubeconfig("kube-proxy.conf",         "system:kube-proxy",              None,                           Balancer, ONE_YEAR),
];

/// A CA: one row of [`CAS`].
#[derive(Debug, Clone, Copy)]
pub struct CaRow {
    /// Its name on the command line.
    pub name: &'static str,
    /// Path below the root, without `.crt` and `.key`.
    pub stem: &'static str,
    /// Subject: common name. The cluster's name goes into the organisational unit.
    pub common_name: &'static str,
    /// Lifetime.
    pub days: i64,
}

/// What a certificate is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// A server shows it.
    Serve,
    /// A client shows it.
    Client,
    /// etcd's members show the same one in both directions.
    Both,
}

/// Where the names and addresses in a certificate come from; see [`crate::Input::names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Every way to reach the API server.
    ApiServer,
    /// Every way to reach this etcd member.
    EtcdMember,
    /// None: a client certificate.
    None,
}

/// Which API server a kubeconfig names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// The one on this node.
    OwnNode,
    /// The cluster's endpoint if it has one, else this node's.
    Endpoint,
    /// Any healthy one, through the load balancer on this node.
    Balancer,
}

/// Where a certificate is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// In `<stem>.crt`, with its key in `<stem>.key`.
    Pair {
        /// Path below the root, without ending.
        stem: &'static str,
    },
    /// Inside a kubeconfig, key and all.
    Kubeconfig {
        /// Path below the root.
        path: &'static str,
        /// The API server it names.
        server: Server,
    },
}

/// A certificate signed by one of our CAs: one row of [`LEAVES`].
#[derive(Debug, Clone, Copy)]
pub struct Leaf {
    /// Its name on the command line.
    pub name: &'static str,
    /// Where it is kept.
    pub kept: Kept,
    /// Who signs it.
    pub ca: &'static CaRow,
    /// Subject: common name; `{node}` stands for the node's name.
    pub common_name: &'static str,
    /// Subject: organisation, which Kubernetes reads as the group.
    pub organization: Option<&'static str>,
    /// What it is good for.
    pub usage: Usage,
    /// Where its names and addresses come from.
    pub names: Names,
    /// Lifetime; cut short where the CA's own ends earlier.
    pub days: i64,
}

/// A key pair without certificate.
#[derive(Debug, Clone, Copy)]
pub struct KeyRow {
    /// Its name on the command line.
    pub name: &'static str,
    /// Private key, path below the root.
    pub key: &'static str,
    /// Public key, path below the root.
    pub public: &'static str,
}

const fn ca(name: &'static str, stem: &'static str, common_name: &'static str, days: i64) -> CaRow {
    CaRow { name, stem, common_name, days }
}

const fn pair(
    name: &'static str,
    ca: &'static CaRow,
    stem: &'static str,
    common_name: &'static str,
    usage: Usage,
    names: Names,
    days: i64,
) -> Leaf {
    Leaf { name, kept: Kept::Pair { stem }, ca, common_name, organization: None, usage, names, days }
}

const fn kubeconfig(
    path: &'static str,
    common_name: &'static str,
    organization: Option<&'static str>,
    server: Server,
    days: i64,
) -> Leaf {
    let kept = Kept::Kubeconfig { path, server };
    Leaf { name: path, kept, ca: &CLUSTER, common_name, organization, usage: Client, names: Names::None, days }
}

impl CaRow {
    /// Its certificate, path below the root.
    pub fn certificate(&self) -> String {
        format!("{}.crt", self.stem)
    }

    /// Its key, path below the root.
    pub fn key(&self) -> String {
        format!("{}.key", self.stem)
    }
}

impl Leaf {
    /// The file that holds the certificate, path below the root.
    pub fn certificate(&self) -> String {
        match self.kept {
            Kept::Pair { stem } => format!("{stem}.crt"),
            Kept::Kubeconfig { path, .. } => path.to_owned(),
        }
    }

    /// The common name on this node.
    pub fn common_name(&self, node: &str) -> String {
        self.common_name.replace("{node}", node)
    }
}

/// The files that all masters share, path below the root.
pub fn shared_files() -> Vec<String> {
    let cas = CAS.iter().flat_map(|row| [row.key(), row.certificate()]);
    cas.chain([SERVICE_ACCOUNT.key.to_owned(), SERVICE_ACCOUNT.public.to_owned()]).collect()
}

/// Every file of the PKI, path below the root.
pub fn files() -> Vec<String> {
    let leaves = LEAVES.iter().flat_map(|leaf| match leaf.kept {
        Kept::Pair { stem } => vec![format!("{stem}.key"), format!("{stem}.crt")],
        Kept::Kubeconfig { path, .. } => vec![path.to_owned()],
    });
    shared_files().into_iter().chain([SIGNER.to_owned()]).chain(leaves).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_layout_is_kubeadms() {
        insta::assert_snapshot!(files().join("\n"));
    }

    #[test]
    fn no_name_and_no_file_is_used_twice() {
        let names: Vec<&str> = CAS.iter().map(|row| row.name).chain(LEAVES.iter().map(|leaf| leaf.name)).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert_eq!(files().iter().collect::<BTreeSet<_>>().len(), files().len());
    }

    #[test]
    fn every_file_lies_in_a_directory_that_is_made() {
        for file in files() {
            let directory = file.rsplit_once('/').map(|(directory, _)| directory);
            assert!(directory.is_none_or(|directory| DIRECTORIES.contains(&directory)), "{file}");
        }
    }
}
