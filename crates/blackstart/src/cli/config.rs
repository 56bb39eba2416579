//! `blackstart config …`.

use std::path::PathBuf;

use clap::Subcommand;

/// Configuration directories for the nodes.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Make one directory per node, with its own join secret and the pin of the cluster's authority
    #[command(
        after_help = "Run it once, where the configuration is made, and put each directory on its node as /etc/cluster-config. The\nfirst master's directory holds the cluster's keys: keep a copy of it in a safe place. Sealing again keeps keys\nand secrets and adds what is new.\n\nExamples:\n  blackstart config seal /srv/cluster --out /srv/sealed\n  blackstart config seal /srv/cluster --out /srv/sealed --expires-in 30d"
    )]
    Seal {
        /// Directory with cluster.yaml and nodes/
        dir: PathBuf,
        /// Where the nodes' directories go
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// How long the nodes' secrets are good for joining, such as 12h or 30d [default: for ever]
        #[arg(long, value_name = "TIME")]
        expires_in: Option<String>,
    },
}
