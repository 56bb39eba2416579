//! `blackstart etcd …`.

use std::path::PathBuf;

use clap::Subcommand;

/// The cluster's database.
#[derive(Debug, Subcommand)]
pub enum EtcdCommand {
    /// Show every member: who leads, who answers, what is wrong; works while members are down
    #[command(
        after_help = "Run it on a master, as root. All masters are queried at once, and every other member\nthat they report.\n\nExit codes:\n  0  every member is healthy\n  1  a member is unreachable, missing or unhealthy; etcd works\n  3  no quorum: nothing can be written\n\nExamples:\n  blackstart etcd status\n  blackstart etcd status -o json | jq '.members[] | select(.health != \"healthy\") | .name'"
    )]
    Status,

    /// List the members as the majority sees them
    #[command(
        after_help = "Run it on a master, as root. Without a majority there is no such list, and `blackstart etcd status`\nshows which are missing.\n\nExamples:\n  blackstart etcd members\n  blackstart etcd members -o json | jq -r '.members[].name'"
    )]
    Members,

    /// Write everything in etcd into a file, and check it
    #[command(
        after_help = "A snapshot is not encrypted, and Secrets in it are only as safe as the key in encryption.yaml. It\nholds neither that key nor the certificates: `blackstart backup create` makes what a cluster can be\nrestored from.\n\nExample:\n  blackstart etcd snapshot /root/before-the-upgrade.db"
    )]
    Snapshot {
        /// Where to; it must not exist
        file: PathBuf,
    },

    /// Restore this master's etcd, with one member, from a snapshot
    #[command(
        after_help = "For a master that still has its certificates and keys; `blackstart backup restore` brings those,\ntoo. etcd and the API server must be stopped. The old data is kept beside the new, under a name that\nis printed. The other masters' etcd is no member any more: reset them before they start again.\n\nExamples:\n  systemctl stop kube-apiserver etcd\n  blackstart etcd restore /root/before-the-upgrade.db\n  blackstart node up"
    )]
    Restore {
        /// A file of `blackstart etcd snapshot` or `etcdctl snapshot save`
        file: PathBuf,
        /// Take this name instead of the detected one
        #[arg(long, value_name = "NAME")]
        node: Option<String>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}
