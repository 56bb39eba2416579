//! `blackstart ceph …`.

use clap::Subcommand;

/// Ceph.
#[derive(Debug, Subcommand)]
pub enum CephCommand {
    /// Show how Ceph is: health with every reason, monitors, managers, OSDs, versions
    #[command(
        after_help = "Run it on a node with the role ceph-mon, as root. Where no majority of the monitors answers, it says so\nwithin seconds, with what the monitor of this node says of itself.\n\nExit codes:\n  0  HEALTH_OK\n  1  Ceph works and has something to complain about\n  3  no majority of the monitors answers: nothing can be read or written\n\nExamples:\n  blackstart ceph status\n  blackstart ceph status -o json | jq -r '.health.checks[].message'"
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
