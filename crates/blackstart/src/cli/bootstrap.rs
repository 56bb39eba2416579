//! `blackstart bootstrap …`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// A cluster that begins on a temporary bootstrap node.
#[derive(Debug, Subcommand)]
pub enum BootstrapCommand {
    /// Show the thirteen milestones: which are reached, since when, what is waited for
    #[command(
        after_help = "Run it on the bootstrap node, on a master, or anywhere with --kubeconfig. The checklist is for the\nbootstrap node itself.\n\nExit codes: with --checklist 1 if something on it is not true.\n\nExamples:\n  blackstart bootstrap status\n  blackstart bootstrap status --checklist\n  blackstart bootstrap status -o json | jq '.milestones[] | select(.reached == null) | .title'"
    )]
    Status {
        /// Also check on this machine: static pods, etcd, API server, manifests
        #[arg(long)]
        checklist: bool,
        /// Where it runs
        #[command(flatten)]
        from: From,
    },

    /// Wait until a milestone is reached
    #[command(
        after_help = "It says what is waited for, goes on after the API was away for a moment, and may be interrupted at any\ntime.\n\nExit codes: 0 it is reached, 1 it is not in time.\n\nExamples:\n  blackstart bootstrap wait\n  blackstart bootstrap wait --for api --timeout 10m\n  blackstart bootstrap wait --kubeconfig ign/kubeconfigs/admin.kubeconfig"
    )]
    Wait {
        /// What to wait for
        #[arg(long = "for", value_enum, default_value_t, value_name = "WHAT")]
        what: WaitFor,
        /// Give up after this long, such as 30m [default: never]
        #[arg(long, value_name = "TIME")]
        timeout: Option<String>,
        /// Where it runs
        #[command(flatten)]
        from: From,
    },

    /// Print what `journalctl -u bootkube` shows; bootkube.service runs it
    #[command(after_help = "Example:\n  journalctl -u bootkube -f")]
    Follow,

    /// Take a dead bootstrap node out of the cluster, from a master
    #[command(
        after_help = "A bootstrap node that lives does this itself. For one that died after the masters got their votes in\netcd: its member, its Node and what it left in the API go, and the bootstrap is noted as complete. Power\nthe machine off first. Nothing is changed where etcd would lose its majority.\n\nExamples:\n  blackstart bootstrap remove\n  blackstart bootstrap remove --dry-run"
    )]
    Remove {
        /// Only show what would be done
        #[arg(long)]
        dry_run: bool,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

/// Where the cluster is asked from.
#[derive(Debug, Args)]
pub struct From {
    /// Ask the API with this kubeconfig instead of this machine
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
}

/// What can be waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum WaitFor {
    /// The API server answers
    Api,
    /// All masters are there
    Masters,
    /// Every master has a vote in etcd
    Etcd,
    /// The control plane is on the masters
    Pivot,
    /// The bootstrap node is not needed any more
    #[default]
    Complete,
}
