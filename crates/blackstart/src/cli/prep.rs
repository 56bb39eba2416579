//! `blackstart prep …`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Nodes made ready for what runs on them.
#[derive(Debug, Subcommand)]
pub enum PrepCommand {
    /// Make this machine ready for volumes by iSCSI, as Longhorn needs them
    #[command(
        after_help = "Examples:\n  blackstart prep iscsi\n  blackstart prep iscsi --with-nfs\n  blackstart prep iscsi --packages /mnt/usb/debs      without a mirror"
    )]
    Iscsi {
        /// What both have in common.
        #[command(flatten)]
        options: PrepOptions,
        /// Install the client of NFS version 4, which Longhorn needs for volumes that several nodes write to
        #[arg(long)]
        with_nfs: bool,
    },

    /// Make this machine ready for transcoding by an Intel GPU
    #[command(
        after_help = "A machine without an Intel GPU is left as it is, and that is no error.\n\nExamples:\n  blackstart prep gpu\n  blackstart prep gpu --add-non-free"
    )]
    Gpu {
        /// What both have in common.
        #[command(flatten)]
        options: PrepOptions,
        /// Install everything on a machine without an Intel GPU too
        #[arg(long)]
        even_without_gpu: bool,
        /// Add the component of the distribution that holds the drivers, where it is not enabled; `prep undo` removes it
        #[arg(long)]
        add_non_free: bool,
    },

    /// Show how far every node of the cluster is, one row per node
    #[command(
        after_help = "Exit codes: 0 all nodes are fine, 1 some are not.\n\nExamples:\n  blackstart prep status\n  blackstart prep status --kubeconfig ~/.kube/config\n  blackstart prep status -o json | jq -r '.nodes[] | select(.iscsi.state != \"ready\") | .name'"
    )]
    Status {
        /// How to reach the cluster [default: the KUBECONFIG variable, else ~/.kube/config, else this node's own]
        #[arg(long, value_name = "FILE")]
        kubeconfig: Option<PathBuf>,
    },

    /// Remove what was installed on this machine
    #[command(after_help = "Examples:\n  blackstart prep undo iscsi --dry-run\n  blackstart prep undo gpu --yes")]
    Undo {
        /// What to undo
        #[arg(value_enum)]
        prep: PrepName,
        /// Only show what would be done
        #[arg(long)]
        dry_run: bool,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },

    /// Write the image that the DaemonSets run: this program and nothing else
    #[command(
        after_help = "Examples:\n  blackstart prep image --to blackstart.tar\n  ctr -n k8s.io images import blackstart.tar                     on a node\n  skopeo copy oci-archive:blackstart.tar docker://registry.example/blackstart:0.1.0"
    )]
    Image {
        /// The archive
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },

    /// What a pod of the DaemonSet does: start the preparation on its node, follow it, report to the cluster
    #[command(hide = true)]
    Pod {
        /// What the node is prepared for
        #[arg(value_enum)]
        prep: PrepName,
    },
}

/// What can be prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PrepName {
    /// Volumes by iSCSI
    Iscsi,
    /// Transcoding by an Intel GPU
    Gpu,
}

/// Options of every preparation.
#[derive(Debug, Args)]
pub struct PrepOptions {
    /// Take packages from this directory instead of a mirror
    #[arg(long, value_name = "DIR")]
    pub packages: Option<PathBuf>,
    /// Only show what would be done
    #[arg(long)]
    pub dry_run: bool,
}
