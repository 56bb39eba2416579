//! `blackstart pki …`.

use clap::{Subcommand, ValueEnum};

/// Certificates, keys and kubeconfigs.
#[derive(Debug, Subcommand)]
pub enum PkiCommand {
    /// Create what is missing; existing certificate authorities are kept
    #[command(after_help = "Example:\n  blackstart pki init --node master-01 --root /tmp/trial")]
    Init {
        /// The master to make them for, instead of the detected one
        #[arg(long, value_name = "NAME")]
        node: Option<String>,
    },

    /// List all certificates with subject, names, issuer and days left
    #[command(
        after_help = "Examples:\n  blackstart pki show\n  blackstart pki show -o json | jq '.certificates[] | select(.days_left < 30)'"
    )]
    Show,

    /// Issue leaf certificates and kubeconfigs anew; shows the plan first
    #[command(
        after_help = "Certificate authorities are never renewed here.\n\nExamples:\n  blackstart pki renew              what has spent two thirds of its life\n  blackstart pki renew apiserver\n  blackstart pki renew --all --yes"
    )]
    Renew {
        /// Only this one, by its name in `pki show`
        #[arg(conflicts_with = "all")]
        name: Option<String>,
        /// All of them, due or not
        #[arg(long)]
        all: bool,
        /// The master they are for, instead of the detected one
        #[arg(long, value_name = "NAME")]
        node: Option<String>,
        /// Show the plan and stop
        #[arg(long)]
        dry_run: bool,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },

    /// Replace the certificate authorities of the whole cluster, in stages and without an outage
    #[command(
        name = "rotate-ca",
        after_help = "Run it on any master. Every node first trusts old and new authorities, then gets certificates of the new ones,\nthen forgets the old ones. It can be stopped at any time: the same command, on any master, goes on.\n\nExamples:\n  blackstart pki rotate-ca\n  blackstart pki rotate-ca --stop-after trust    time to restart pods that read their authority only once\n  blackstart pki rotate-ca --yes                 goes on to the end"
    )]
    RotateCa {
        /// Stop when the whole cluster has reached this stage
        #[arg(long, value_name = "STAGE")]
        stop_after: Option<RotationStage>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

/// Where a rotation can be halted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RotationStage {
    /// Old and new authorities are trusted, the old ones sign
    Trust,
    /// Old and new authorities are trusted, the new ones sign
    Sign,
}
