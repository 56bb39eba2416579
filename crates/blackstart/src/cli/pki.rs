//! `blackstart pki …`.

use agent::rotation::Subject;
use clap::{Subcommand, ValueEnum};

/// Certificates, keys and kubeconfigs.
#[derive(Debug, Subcommand)]
pub enum PkiCommand {
    /// Create what is missing; existing CAs are kept
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

    /// Issue leaf certificates and kubeconfigs again; shows the plan first
    #[command(
        after_help = "CAs are never renewed here; see `pki rotate`.\n\nExamples:\n  blackstart pki renew              what has spent two thirds of its life\n  blackstart pki renew apiserver\n  blackstart pki renew --all --yes"
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

    /// Replace keys of the whole cluster, in stages and without an outage
    #[command(
        after_help = "Run it on any master. Every node first trusts old and new keys, then works with the new ones, then forgets the\nold ones. It can be stopped at any time: the same command, on any master, goes on.\n\nSubjects: ca (the three CAs and all certificates), service-account (tokens of pods), encryption (Secrets in\netcd), join (nodes' secrets, and backups without a key of their own), backup (backup.key).\n\nExamples:\n  blackstart pki rotate --all                    a copy of them may have leaked\n  blackstart pki rotate ca\n  blackstart pki rotate ca --stop-after trust    time to restart pods that read their CA only once\n  blackstart pki rotate service-account encryption --yes"
    )]
    Rotate {
        /// Whose keys
        #[arg(value_name = "SUBJECT", required_unless_present = "all", conflicts_with = "all")]
        subjects: Vec<RotationSubject>,
        /// All of them; bootstrap tokens are revoked, too
        #[arg(long)]
        all: bool,
        /// Stop when the whole cluster has reached this stage
        #[arg(long, value_name = "STAGE")]
        stop_after: Option<RotationStage>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

/// What a rotation replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RotationSubject {
    /// The three CAs, and with them every certificate
    Ca,
    /// The key that signs service account tokens
    ServiceAccount,
    /// The key that encrypts Secrets in etcd
    Encryption,
    /// The join key, and with it every node's secret
    Join,
    /// The key for which backups are made
    Backup,
}

impl From<RotationSubject> for Subject {
    fn from(subject: RotationSubject) -> Self {
        match subject {
            RotationSubject::Ca => Self::Ca,
            RotationSubject::ServiceAccount => Self::ServiceAccount,
            RotationSubject::Encryption => Self::Encryption,
            RotationSubject::Join => Self::Join,
            RotationSubject::Backup => Self::Backup,
        }
    }
}

/// Where a rotation can be halted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RotationStage {
    /// Old and new keys are trusted, the old ones are in use
    Trust,
    /// Old and new keys are trusted, the new ones are in use
    Sign,
}
