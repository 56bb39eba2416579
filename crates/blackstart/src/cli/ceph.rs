//! `blackstart ceph …`.

use clap::Subcommand;

/// Ceph.
#[derive(Debug, Subcommand)]
pub enum CephCommand {
    /// Show Ceph's status: health with every reason, monitors, managers, OSDs, versions
    #[command(
        after_help = "Run it on a node with the role ceph-mon, as root. Without a monitor quorum it says so within\nseconds, with the state of this node's monitor.\n\nExit codes:\n  0  HEALTH_OK\n  1  HEALTH_WARN or HEALTH_ERR; Ceph works\n  3  no monitor quorum: nothing can be read or written\n\nExamples:\n  blackstart ceph status\n  blackstart ceph status -o json | jq -r '.health.checks[].message'"
    )]
    Status,

    /// Print a Secret with which ceph-csi gives pods block devices
    #[command(
        after_help = "Run it on a node with the role ceph-mon, as root. The key is that of client.csi-rbd, which can do nothing\nbut use block devices; it is made when it is first asked for, and the same ever after.\n\nExamples:\n  blackstart ceph csi-secret --pool kubernetes | kubectl apply -f -\n  blackstart ceph csi-secret -o json | jq -r .stringData.clusterID"
    )]
    CsiSecret {
        /// The only pool it may use; all pools if none is named
        #[arg(long, value_name = "POOL")]
        pool: Option<String>,
        /// The Secret's namespace
        #[arg(long, value_name = "NAME", default_value = "default")]
        namespace: String,
        /// The Secret's name
        #[arg(long, value_name = "NAME", default_value = "csi-rbd-secret")]
        name: String,
    },
}
