//! `blackstart node …`.

use std::path::PathBuf;

use clap::Subcommand;

/// This machine as a node of the cluster.
#[derive(Debug, Subcommand)]
pub enum NodeCommand {
    /// Find out which node this machine is and note it in the configuration directory
    #[command(
        after_help = "Identity comes from the MAC addresses of all interfaces, and from DMI uuid and serial where the\nconfiguration lists them. Exactly one node must match.\n\nExamples:\n  blackstart node detect\n  blackstart node detect --node worker-02"
    )]
    Detect {
        /// Take this name instead of looking at the hardware
        #[arg(long, value_name = "NAME")]
        node: Option<String>,
    },

    /// Print this node's role in the bootstrap: master-first, master-additional or worker
    #[command(
        after_help = "Example:\n  [ \"$(blackstart node role)\" = master-first ] && echo \"this machine starts the cluster\""
    )]
    Role {
        /// Take this name instead of the detected one
        #[arg(long, value_name = "NAME")]
        node: Option<String>,
    },

    /// Make this machine a node of its cluster, or find that it is one; run again after any interruption
    #[command(
        after_help = "The first master by sorted name starts the cluster, every other node joins it. cluster-bootstrap.service runs\nthis at every boot.\n\nExamples:\n  blackstart node up\n  blackstart node up --skip disk-latency --skip clock\n  blackstart plan                           what it would do"
    )]
    Up {
        /// Take this name instead of the detected one
        #[arg(long, value_name = "NAME")]
        node: Option<String>,
        /// Leave out a preflight check; may be given several times
        #[arg(long, value_name = "CHECK")]
        skip: Vec<String>,
        /// Read a join token from this file (`-` for standard input) instead of using the sealed secret
        #[arg(long, value_name = "FILE")]
        token_file: Option<PathBuf>,
    },

    /// Install what makes this machine a node at its next boot: units, components and configuration
    #[command(
        after_help = "Examples:\n  blackstart node install --bundle /mnt/bundle --config /mnt/sealed/worker-01\n  blackstart node install --bundle bundle --config sealed/worker-01 --root /mnt/image"
    )]
    Install {
        /// Directory of a bundle (see `blackstart bundle`); left out where its components are installed already
        #[arg(long, value_name = "DIR")]
        bundle: Option<PathBuf>,
        /// The node's sealed directory (see `blackstart config seal`), or a plain one with cluster.yaml
        #[arg(long, value_name = "DIR")]
        config: Option<PathBuf>,
        /// Start the units now instead of at the next boot
        #[arg(long)]
        now: bool,
    },

    /// Look whether this machine can become a node, changing nothing
    #[command(
        after_help = "Examples:\n  blackstart node preflight\n  blackstart node preflight --list\n  blackstart node preflight --skip swap -o json"
    )]
    Preflight {
        /// Take this name instead of the detected one
        #[arg(long, value_name = "NAME")]
        node: Option<String>,
        /// Only list the checks
        #[arg(long)]
        list: bool,
        /// Leave out a check; may be given several times
        #[arg(long, value_name = "CHECK")]
        skip: Vec<String>,
    },
}
