//! `blackstart reprovision …`.

use std::path::PathBuf;

use clap::Subcommand;

/// Nodes worked on in place.
#[derive(Debug, Subcommand)]
pub enum ReprovisionCommand {
    /// What the host's units do on the node
    #[command(hide = true)]
    Node {
        /// The node's name
        #[arg(long, value_name = "NAME")]
        node: String,
        /// The kubelet's kubeconfig, where it is at none of the usual places
        #[arg(long, value_name = "FILE")]
        kubeconfig: Option<PathBuf>,
        /// Go on before the kubelet with what a reboot has interrupted
        #[arg(long)]
        boot: bool,
    },

    /// What a pod of the DaemonSet does: bring program and units to its node, remove its label when the node is armed
    #[command(hide = true)]
    Pod {
        /// The node it is on
        #[arg(long, value_name = "NAME", env = "NODE_NAME")]
        node: String,
    },

    /// What the pod of the Deployment does: slots, cordon, drain, gates, restore
    #[command(hide = true)]
    Controller {
        /// What this process is called in the Lease of the leader
        #[arg(long, value_name = "NAME", env = "POD_NAME")]
        identity: String,
        /// How many nodes that are no masters may be taken away at once: a number, or a percentage such as 10%
        #[arg(long, value_name = "LIMIT", env = "MAX_UNAVAILABLE", default_value = "1")]
        max_unavailable: String,
    },
}
