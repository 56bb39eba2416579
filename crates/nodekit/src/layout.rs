//! Where things are on a machine.

use std::path::PathBuf;

/// The directories a playbook works in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// `cluster.yaml`, `nodes/`, `node-identity`, `current-node.yaml`.
    pub config_dir: PathBuf,
    /// Ledger, lock, and the small files that people and scripts read.
    pub state_dir: PathBuf,
    /// Certificates and kubeconfigs, as kubeadm lays them out.
    pub kubernetes_dir: PathBuf,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            config_dir: "/etc/cluster-config".into(),
            state_dir: "/var/lib/cluster-state".into(),
            kubernetes_dir: "/etc/kubernetes".into(),
        }
    }
}

impl Layout {
    /// Noted when this machine's member of etcd has started: a machine with the note and without data has lost them.
    pub fn etcd_member_id(&self) -> PathBuf {
        self.state_dir.join("etcd-member-id")
    }
}
