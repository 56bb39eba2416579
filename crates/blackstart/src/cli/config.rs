//! `blackstart config …`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Configuration directories for the nodes.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Make one directory per node, with its own join secret and the pin of the cluster's CA
    #[command(
        after_help = "Run it once, where the configuration is made, and put each directory on its node as /etc/cluster-config. The\nfirst master's directory holds the cluster's keys: keep a safe copy of it. Sealing again keeps keys\nand good secrets and adds what is new.\n\nSecrets end after 30 days, or as cluster.bootstrap.secret_ttl says. Nodes that have joined go on for ever, and are given\na new one before theirs ends. A secret that --renew makes is newer: once it was used, older copies are worthless.\n\nExamples:\n  blackstart config seal /srv/cluster --out /srv/sealed\n  blackstart config seal /srv/cluster --out /srv/sealed --expires 12h\n  blackstart config seal /srv/cluster --out /srv/sealed --renew worker-01 --renew worker-02\n  blackstart config seal /srv/cluster --out /srv/sealed --all"
    )]
    Seal(SealOptions),

    /// Make every secret and certificate that a node got so far worthless for the join service; run on a master
    #[command(
        after_help = "Copies of its sealed directory join no more, tokens that are bound to it are deleted, and its agent is no longer\nheard. What this cannot do: the kubelet's certificate is good for the API until it ends or the CA is rotated. For a\nmachine that was stolen: `blackstart node remove NAME`, take it out of cluster.yaml, and `blackstart pki rotate --all`\nif it was a master. `blackstart config seal --renew NAME` makes a secret that is accepted again.\n\nExamples:\n  blackstart config revoke worker-01\n  blackstart config revoke worker-01 --secrets-only      a living node whose stick was lost\n  blackstart config revoke worker-01 --kubeconfig admin.conf"
    )]
    Revoke(RevokeOptions),
}

/// What is sealed, and how.
#[derive(Debug, Args)]
pub struct SealOptions {
    /// Directory with cluster.yaml and nodes/
    pub dir: PathBuf,
    /// Where the nodes' directories go
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// How long new secrets are good for joining, such as 12h or 30d, or `never` [default: as cluster.yaml says, 30d]
    #[arg(long, value_name = "TIME")]
    pub expires: Option<String>,
    /// Make a newer secret for this node; may be given several times
    #[arg(long, value_name = "NODE", conflicts_with = "all")]
    pub renew: Vec<String>,
    /// Make a newer secret for every node
    #[arg(long)]
    pub all: bool,
}

/// Who is revoked, and how far.
#[derive(Debug, Args)]
pub struct RevokeOptions {
    /// The node
    pub node: String,
    /// Leave the node's certificates: it is alive and stays, only its secrets are worthless
    #[arg(long)]
    pub secrets_only: bool,
    /// Use this administrator's kubeconfig, from anywhere, instead of this master's own
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}
