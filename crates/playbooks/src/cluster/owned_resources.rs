//! What each service makes while it runs, beyond its own files.
//!
//! Before a unit is installed for the first time, the machine is checked: a directory or table that is not there yet
//! will be the service's, and a setting is noted as it is. These are its *owned resources*; they go into the ledger as changes of the
//! step that installs the units, and a reset undoes them. What was there before us is not owned and stays.
//!
//! To add something that a service makes: its line here.

use std::path::Path;

use engine::{Planned, StepError};
use host::{Change, Host};

use crate::codes;
use nodekit::cleanup::{
    containers,
    nft::{self, Table},
    settings,
    tree::Own,
};

/// What a service makes.
struct OwnedResources {
    unit: &'static str,
    /// Directories that no other program uses.
    own: &'static [&'static str],
    /// Directories in which others may have something, too.
    shared: &'static [&'static str],
    /// nftables' tables in which others may have something, too.
    tables: &'static [Table],
    /// Settings of the kernel that it changes.
    settings: &'static [&'static str],
}

const OWNED: &[OwnedResources] = &[
    OwnedResources {
        unit: "blackstart-agent.service",
        own: &[],
        shared: &["/etc/cni/net.d"],
        tables: &[],
        settings: &[],
    },
    OwnedResources {
        unit: "containerd.service",
        own: &[containers::DATA, containers::RUN, "/opt/containerd", "/run/cni-ipam-state", "/run/nri"],
        shared: &["/etc/cni/net.d", "/var/lib/cni/results", "/run/netns"],
        tables: &[("ip", nft::HOST_PORTS), ("ip6", nft::HOST_PORTS)],
        settings: &[],
    },
    OwnedResources {
        unit: "kubelet.service",
        own: &["/var/lib/kubelet", "/var/log/pods", "/var/log/containers"],
        shared: &[],
        tables: &[
            ("ip", "filter"),
            ("ip", "mangle"),
            ("ip", "nat"),
            ("ip6", "filter"),
            ("ip6", "mangle"),
            ("ip6", "nat"),
        ],
        settings: &[
            "kernel.keys.root_maxbytes",
            "kernel.keys.root_maxkeys",
            "kernel.panic",
            "kernel.panic_on_oops",
            "vm.overcommit_memory",
            "vm.panic_on_oom",
        ],
    },
    OwnedResources {
        unit: "kube-proxy.service",
        own: &[],
        shared: &[],
        tables: &[],
        settings: &[
            "net.netfilter.nf_conntrack_max",
            "net.netfilter.nf_conntrack_tcp_timeout_close_wait",
            "net.netfilter.nf_conntrack_tcp_timeout_established",
        ],
    },
    OwnedResources { unit: "etcd.service", own: &["/var/lib/etcd"], shared: &[], tables: &[], settings: &[] },
    // Of a bootstrap node, where etcd and the API server are static pods.
    OwnedResources {
        unit: "bootkube.service",
        own: &["/var/lib/etcd", "/var/log/kubernetes", "/run/kubernetes"],
        shared: &[],
        tables: &[],
        settings: &[],
    },
    OwnedResources {
        unit: "kube-apiserver.service",
        own: &["/var/log/kubernetes", "/run/kubernetes"],
        shared: &[],
        tables: &[],
        settings: &[],
    },
];

/// What a unit will own. To be asked before the unit is installed.
pub(super) async fn owned(host: &Host, unit: &str) -> Result<Vec<Planned>, StepError> {
    let mut changes = Vec::new();
    let Some(resources) = OWNED.iter().find(|resources| resources.unit == unit) else { return Ok(changes) };
    let disk = &*host.disk;
    for path in resources.own {
        if let Some(own) = Own::claim(disk, Path::new(path))? {
            changes.push(Planned::claim(own.key(), format!("claim {path} for {unit}")));
        }
    }
    for path in resources.shared {
        if !disk.exists(Path::new(path))? {
            changes.push(Change::Directory { path: path.into(), mode: 0o755 }.into());
        }
    }
    for key in nft::claim(host, resources.tables).await? {
        changes.push(Planned::claim(key.clone(), format!("claim {key} for {unit}")));
    }
    for key in settings::remember(disk, resources.settings)? {
        changes.push(Planned::claim(key.clone(), format!("note {key}, which {unit} changes")));
    }
    Ok(changes)
}

/// What [`release`] does with an owned resource, for a dry run.
pub(super) fn shows(key: &str) -> Option<String> {
    if Own::from_key(key).is_some() {
        Some(format!("remove {key}"))
    } else if nft::is_key(key) {
        Some(format!("delete {key}, unless it is used elsewhere"))
    } else if settings::is_key(key) {
        Some(format!("restore {key}"))
    } else {
        None
    }
}

/// Undoes the ownership; false if the key is of something else. What lies in the directories of `except` stays.
pub(super) async fn release(host: &Host, key: &str, except: &[&Path]) -> Result<bool, StepError> {
    if let Some(own) = Own::from_key(key) {
        refuse_to_take_from_others(host, &own.path)?;
        own.remove(host, except).await?;
        return Ok(true);
    }
    if nft::is_key(key) {
        if host.is_live {
            nft::release(host, key).await?;
        }
        return Ok(true);
    }
    if settings::is_key(key) {
        settings::restore(host, key).await?;
        return Ok(true);
    }
    Ok(false)
}

/// Other users of the machine may have let our containerd run containers of their own.
fn refuse_to_take_from_others(host: &Host, path: &Path) -> Result<(), StepError> {
    if ![containers::DATA, containers::RUN].iter().any(|theirs| path == Path::new(theirs)) {
        return Ok(());
    }
    let others = containers::of_others(&*host.disk)?;
    if others.is_empty() {
        return Ok(());
    }
    let message =
        format!("{} holds containers that are not the cluster's: namespace {}", path.display(), others.join(", "));
    Err(StepError::new(codes::NOT_OURS, message))
}
