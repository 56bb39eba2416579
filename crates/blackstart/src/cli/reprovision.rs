//! `blackstart reprovision …`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

/// By what the work on a node is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DriverName {
    /// An Ignition payload, by the machine-config-daemon
    Rhcos,
    /// A payload of bash and Ansible
    Rhel,
}

/// Nodes worked on in place.
#[derive(Debug, Subcommand)]
pub enum ReprovisionCommand {
    /// Give a node its Secret and label it: the controller does the rest
    #[command(
        after_help = "The directory has one file per key, as `kubectl create secret generic --from-file=DIR` reads it:\n  rhcos  ignition-url, ignition-token, ca.crt\n  rhel   bootstrap-url, bootstrap-token, worker-id, cluster-id, region, ca.crt, registry\n  both   progress-url, progress-token, progress-ca.crt, pull-secret, expires, sha256\nNothing is changed on the node before all its checks are met and its pods have left it.\n\nExamples:\n  blackstart reprovision start worker-01 --secret ./worker-01/\n  blackstart reprovision start worker-01                       with the Secret that is there"
    )]
    Start {
        /// The node
        node: String,
        /// A directory with a file for each key of the node's Secret
        #[arg(long, value_name = "DIR")]
        secret: Option<PathBuf>,
        /// How to reach the cluster [default: the KUBECONFIG variable, else ~/.kube/config, else this node's own]
        #[arg(long, value_name = "FILE")]
        kubeconfig: Option<PathBuf>,
    },

    /// Show how far the nodes are, and what each waits for
    #[command(
        after_help = "Exit codes: 0 all are done, or there are none; 1 one is on its way; 3 one was refused; 4 one went back; 5 one is\nstuck. Of several the highest.\n\nExamples:\n  blackstart reprovision status\n  until blackstart reprovision status worker-01 >/dev/null || [ $? -ge 3 ]; do sleep 5; done\n  blackstart reprovision status worker-01 -o json | jq -r '.[0].status.phase'"
    )]
    Status {
        /// Only this node
        node: Option<String>,
        /// How to reach the cluster [default: the KUBECONFIG variable, else ~/.kube/config, else this node's own]
        #[arg(long, value_name = "FILE")]
        kubeconfig: Option<PathBuf>,
    },

    /// Stop the work on a node that has not begun to change itself
    #[command(
        after_help = "A node that has begun goes on, and goes back by itself if it fails.\n\nExamples:\n  blackstart reprovision abort worker-01"
    )]
    Abort {
        /// The node
        node: String,
        /// How to reach the cluster [default: the KUBECONFIG variable, else ~/.kube/config, else this node's own]
        #[arg(long, value_name = "FILE")]
        kubeconfig: Option<PathBuf>,
    },

    /// Check on a node whether the work could be done, with the files of a Secret; nothing is changed
    #[command(
        after_help = "Run it on the node, as root. All checks of a run are made, and the payload is fetched into a directory of its own, which is\nremoved afterwards. It needs no cluster.\n\nExit codes: 0 nothing is in the way, 1 it could not be checked, 3 the node would be refused.\n\nExamples:\n  blackstart reprovision preflight --driver rhel --secret ./worker-01/\n  blackstart reprovision preflight --driver rhcos --secret ./worker-01/ -o json | jq -r '.problems[].code'"
    )]
    Preflight {
        /// What the work is done by
        #[arg(long, value_enum, value_name = "NAME")]
        driver: DriverName,
        /// A directory with a file for each key of the node's Secret
        #[arg(long, value_name = "DIR")]
        secret: PathBuf,
    },

    /// Print the manifests: kinds, rights, policies, DaemonSet and controller
    #[command(
        after_help = "With --agents nothing of it is a pod: the masters' agents do the controller's work, and each node's agent that of the DaemonSet.\n\nExamples:\n  blackstart reprovision manifests | kubectl apply --server-side -f -\n  blackstart reprovision manifests --agents | kubectl apply --server-side -f -    on a cluster made by Blackstart"
    )]
    Manifests {
        /// For a cluster made by Blackstart: kinds and rights only, for its agents
        #[arg(long)]
        agents: bool,
    },

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
