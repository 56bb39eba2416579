//! `blackstart node …`.

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
}
