//! `blackstart node …`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// This machine as a node of the cluster.
#[derive(Debug, Subcommand)]
pub enum NodeCommand {
    /// Detect which node this machine is and write it to the configuration directory
    #[command(
        after_help = "Identity comes from the MAC addresses of all interfaces, and from DMI uuid and serial where the\nconfiguration lists them. Exactly one node must match.\n\nExamples:\n  blackstart node detect\n  blackstart node detect --node worker-02"
    )]
    Detect {
        /// Take this name instead of detecting it from the hardware
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

    /// Make this machine a node of its cluster; idempotent, run again after any interruption
    #[command(
        after_help = "The first master by sorted name starts the cluster, every other node joins it. It never starts a second one: it\nasks the other masters first, and waits while the answer is inconclusive. cluster-bootstrap.service runs this at every boot.\n\nExamples:\n  blackstart node up\n  blackstart node up --skip disk-latency --skip clock\n  blackstart node up --list-steps\n  blackstart node up --only kubelet         repair one part of a node\n  blackstart plan                           what it would do"
    )]
    Up(UpOptions),

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

    /// Check whether this machine can become a node, changing nothing
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

    /// Show this node's status: role, state, units, certificates, last error
    #[command(
        after_help = "Exit codes: 0 the node is Ready, 1 something is wrong, 3 `node up` is still running, 4 it never ran.\n\nExamples:\n  blackstart node status\n  blackstart node status -o json | jq -r .state"
    )]
    Status {
        /// Take this name instead of the detected one
        #[arg(long, value_name = "NAME")]
        node: Option<String>,
    },

    /// Show when each step of a run began, how long it took and what it waited for
    #[command(
        after_help = "Bars are drawn over time: full blocks are work, light ones are waiting, a digit is the begin of another\nattempt. The last 20 runs of `node up`, `node detect` and `node reset` are kept.\n\nExamples:\n  blackstart node timeline\n  blackstart node timeline --list\n  blackstart node timeline -o svg > timeline.svg\n  blackstart node timeline -o json | jq '.steps[] | select(.attempts | length > 1) | .id'"
    )]
    Timeline {
        /// Which run [default: the last one]
        run: Option<String>,
        /// List the runs that are kept
        #[arg(long, conflicts_with = "run")]
        list: bool,
    },

    /// Undo everything that was done on this machine, newest first; what others made stays
    #[command(
        after_help = "Everything that `node up` and `node detect` did here goes: the Node object, units, containers, network, certificates,\ndata and files; on the only master the cluster goes with it. What `node install` put here stays, so that a reboot or\n`node up` tries again; with --uninstall that goes, too. Pods are not moved first: `kubectl drain` does that. It works\nwithout cluster.yaml and without an API that answers.\n\nExit codes: 0 nothing of ours is left here but what was to be kept, 1 something is, with the reason; run the\ncommand again to go on.\n\nExamples:\n  blackstart node reset --dry-run\n  blackstart node reset\n  blackstart node reset --yes && blackstart node up\n  blackstart node reset --uninstall      nothing of ours is left"
    )]
    Reset(ResetOptions),

    /// Take another node out of the cluster: its pods, its etcd member, its Node; run on a master
    #[command(
        after_help = "The node may be there, or gone for good. Pods are evicted as their budgets allow; those of DaemonSets stay and go with\nthe node. A master is only taken out if etcd keeps a majority without it. Nothing is changed if one of the steps\nwould refuse, and nothing is done on the machine itself: run `blackstart node reset` there.\n\nExamples:\n  blackstart node remove worker-03 --dry-run\n  blackstart node remove worker-03\n  blackstart node remove master-03 --force --yes      a machine that never comes back"
    )]
    Remove(RemoveOptions),

    /// Let the cluster's keys go to one more machine of this name, which takes a master's place; run on a master
    #[command(
        after_help = "The cluster's keys go to a master once. A machine with an empty disk, or another machine, under the same name is\nrefused (BS-JOIN-061) until this was typed; then it goes on by itself. `node remove` and `node reset` do the same.\n\nExample:\n  blackstart node rearm master-02"
    )]
    Rearm {
        /// The master
        name: String,
    },
}

/// How a machine becomes a node.
#[derive(Debug, Args)]
pub struct UpOptions {
    /// Take this name instead of the detected one
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// Leave out a preflight check; may be given several times
    #[arg(long, value_name = "CHECK")]
    pub skip: Vec<String>,
    /// Read a join token from this file (`-` for standard input) instead of using the sealed secret
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// On the first master: start a cluster although other masters cannot be asked whether there is one
    #[arg(long)]
    pub force_new_cluster: bool,
    /// Only list this node's steps, with what each comes after
    #[arg(long)]
    pub list_steps: bool,
    /// Run this step alone; what comes before it must have been verified. May be given several times
    #[arg(long, value_name = "STEP")]
    pub only: Vec<String>,
    /// Leave out a step that no other comes after; may be given several times
    #[arg(long, value_name = "STEP", conflicts_with = "only")]
    pub skip_step: Vec<String>,
}

/// What a reset leaves, and whether it asks.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own on the command line")]
pub struct ResetOptions {
    /// Take this name instead of the detected one
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// Keep certificates, keys and kubeconfigs, so that the node comes back with them
    #[arg(long)]
    pub keep_pki: bool,
    /// Remove what `node install` put here, too: program, components, configuration and our own units
    #[arg(long)]
    pub uninstall: bool,
    /// Only show what would be undone
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

/// Which node goes, and how gently.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own on the command line")]
pub struct RemoveOptions {
    /// The node
    pub name: String,
    /// How long budgets and pods that end slowly are waited for
    #[arg(long, value_name = "TIME", default_value = "2m")]
    pub drain_timeout: String,
    /// Leave its pods where they are; they go with the node
    #[arg(long, conflicts_with = "force")]
    pub no_drain: bool,
    /// Force-delete pods when the node is unreachable
    #[arg(long)]
    pub force: bool,
    /// Only show what would be done
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}
