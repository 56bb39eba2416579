//! What is watched, and from where: the cluster of this node, or that of a lab on this computer.

use std::{net::SocketAddr, path::Path, sync::Arc};

use host::{Disk, Host, RealDisk};
use join::{Trust, seal::Sealed};
use lab::{Capabilities, Lab, LabName, OutsideStatus};
use nodekit::{
    Layout,
    milestones::{self, Progress},
    run_record::{RunRecord, RunSummary},
};
use spec::{Role, ValidatedCluster, ports};

use super::{
    asking::{Access, Asked},
    facts::{Facts, Known, Seen},
    published::Published,
};
use crate::{
    Failure, codes,
    context::{Context, Ended},
};

/// The kubeconfig whose certificate may ask how all nodes are. Masters have it; workers do not see each other.
const KUBECONFIG: &str = "admin.conf";
/// Whom a worker that has joined believes.
const CA: &str = "pki/ca.crt";

/// A cluster, and whatever of it can be seen from here.
pub(super) struct Source {
    cluster: Arc<ValidatedCluster>,
    scope: Scope,
    access: Arc<Access>,
}

enum Scope {
    /// This machine is one of its nodes.
    Node { host: Host, layout: Layout, name: String },
    /// Its machines are processes of this computer.
    Lab { lab: Lab, capabilities: Capabilities },
}

impl Source {
    /// The cluster of this node.
    pub(super) fn node(context: &Context) -> Result<Self, Ended> {
        if !context.host.disk.exists(&context.layout.config_dir)? {
            return Err(no_node(&context.layout.config_dir).into());
        }
        let cluster = context.cluster(None)?;
        let name = context.node(&cluster, None)?.name.clone();
        let (disk, layout) = (context.host.disk.clone(), context.layout.clone());
        for path in [KUBECONFIG, CA] {
            // A user who may not read them gets an error now, and not an empty picture.
            disk.read_optional(&layout.kubernetes_dir.join(path))?;
        }
        let token = cluster.bootstrap().token.clone();
        let (kubernetes_dir, config_dir) = (layout.kubernetes_dir.clone(), layout.config_dir.clone());
        let (trusting, joined) = (disk.clone(), kubernetes_dir.join(CA));
        let access = Access {
            kubeconfig: Box::new(move || kubeconfig(&*disk, &kubernetes_dir)),
            trust: Box::new(move || match (trusting.read_optional(&joined), Sealed::read(&*trusting, &config_dir)) {
                (Ok(Some(ca)), _) => Some(Trust::Ca(String::from_utf8_lossy(&ca).into_owned())),
                (_, Ok(Some(sealed))) => Some(Trust::Ca(sealed.ca_pem)),
                (_, Ok(None)) => token.clone().map(Trust::Token),
                (_, Err(_)) => None, // a damaged directory is for `node up` to report
            }),
        };
        let scope = Scope::Node { host: context.host.clone(), layout, name };
        Ok(Self { cluster, scope, access: Arc::new(access) })
    }

    /// The cluster of a lab.
    pub(super) fn lab(context: &Context, name: &LabName) -> Result<Self, Ended> {
        lab::check_root()?;
        let lab = Lab::open(name)?;
        let cluster = context.cluster(Some(&lab.config_dir()))?;
        let capabilities = Capabilities::detect()?;
        let scope = Scope::Lab { lab: lab.clone(), capabilities };
        let capabilities = Capabilities::detect()?;
        let access = Access {
            kubeconfig: Box::new(move || {
                let machines = lab::outside_status(&lab, &capabilities).unwrap_or_default();
                let kubernetes_dir = Layout::default().kubernetes_dir;
                machines.iter().find_map(|machine| kubeconfig(&RealDisk::new(&machine.root), &kubernetes_dir))
            }),
            trust: Box::new(|| None),
        };
        Ok(Self { cluster, scope, access: Arc::new(access) })
    }

    /// Whom to ask.
    pub(super) fn masters(&self) -> impl Iterator<Item = Asked> {
        self.cluster.masters().map(|master| self.asked(master))
    }

    /// The bootstrap node, which most nodes report to as long as it is there.
    pub(super) fn bootstrap(&self) -> Option<Asked> {
        self.cluster.bootstrap_node().map(|bootstrap| self.asked(bootstrap))
    }

    fn asked(&self, node: &spec::Node) -> Asked {
        Asked::new(&node.name, SocketAddr::new(node.ip, ports::JOIN), &self.access)
    }

    /// Where to read the milestones of a bootstrap node that is gone. A lab's own machines have them.
    pub(super) fn published(&self) -> Option<Published> {
        let bootstrap = self.cluster.bootstrap_node()?;
        match &self.scope {
            Scope::Node { name, .. } if *name != bootstrap.name => Some(Published::new(&self.access)),
            Scope::Node { .. } | Scope::Lab { .. } => None,
        }
    }

    /// What is known before anything was asked or looked at.
    pub(super) fn facts(&self) -> Facts {
        let known = |node: &spec::Node| Known { name: node.name.clone(), role: role(node) };
        Facts {
            cluster: self.cluster.name().to_owned(),
            nodes: self.cluster.nodes().iter().map(known).collect(),
            bootstrap: self.cluster.bootstrap_node().map(known),
            ..Facts::default()
        }
    }

    /// Looks at the machines that can be seen from here.
    pub(super) fn check(&self, facts: &mut Facts) -> Result<(), Ended> {
        match &self.scope {
            Scope::Node { host, layout, name } => {
                let seen = self.seen(name, &*host.disk, &layout.state_dir);
                facts.machines.insert(name.clone(), seen);
            }
            Scope::Lab { lab, capabilities } => {
                let machines = lab::outside_status(lab, capabilities)?;
                let seen = |OutsideStatus { name, power, cut_off_from, root }| {
                    let seen = self.seen(&name, &RealDisk::new(root), &Layout::default().state_dir);
                    (name, Seen { power: Some(power), cut_off_from, ..seen })
                };
                facts.machines = machines.into_iter().map(seen).collect();
            }
        }
        Ok(())
    }

    fn seen(&self, name: &str, disk: &dyn Disk, state_dir: &Path) -> Seen {
        let is_bootstrap = self.cluster.bootstrap_node().is_some_and(|bootstrap| bootstrap.name == name);
        let milestones = if is_bootstrap { recorded(disk, state_dir) } else { Vec::new() };
        Seen { run: RunSummary::of_machine(disk, state_dir), milestones, ..Seen::default() }
    }
}

/// For a user who is not on a node, most often on the computer that runs a lab.
fn no_node(config_dir: &Path) -> Failure {
    let message = format!("this machine is not a node: {} does not exist", config_dir.display());
    let failure = Failure::new(codes::NO_NODE, message);
    match lab::list().unwrap_or_default().as_slice() {
        [] => failure,
        labs => {
            let names: Vec<String> = labs.iter().map(|name| format!("`blackstart watch --lab {name}`")).collect();
            failure.with_hint(format!("for the labs on this computer: {}", names.join(", ")))
        }
    }
}

/// Records that cannot be read just now are read the next time.
fn recorded(disk: &dyn Disk, state_dir: &Path) -> Vec<Progress> {
    milestones::progress(&RunRecord::all(disk, state_dir).unwrap_or_default())
}

fn role(node: &spec::Node) -> Role {
    [Role::Bootstrap, Role::Master].into_iter().find(|role| node.has(*role)).unwrap_or(Role::Worker)
}

fn kubeconfig(disk: &dyn Disk, kubernetes_dir: &Path) -> Option<String> {
    let text = disk.read_optional(&kubernetes_dir.join(KUBECONFIG)).ok()??;
    Some(String::from_utf8_lossy(&text).into_owned())
}
