//! What can be typed, one file per group of commands. The texts are the manual: `--help`, man pages and completions come
//! from them.

mod backup;
mod bootstrap;
mod bundle;
mod ceph;
pub mod complete;
mod config;
mod etcd;
mod ignition;
mod lab;
mod node;
mod pki;
mod prep;
mod reprovision;
mod token;

use std::path::PathBuf;

pub use backup::{BackupCommand, KeyOptions};
pub use bootstrap::{BootstrapCommand, From as BootstrapFrom, WaitFor};
pub use bundle::{BundleCommand, BundleSource};
pub use ceph::CephCommand;
pub use config::{ConfigCommand, RevokeOptions, SealOptions};
pub use etcd::EtcdCommand;
pub use ignition::{IgnitionCommand, RenderOptions, ServeOptions};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
pub use lab::{LabCommand, LabOption, Machines};
pub use node::{NodeCommand, RemoveOptions, ResetOptions, UpOptions};
pub use pki::{PkiCommand, RotationStage, RotationSubject};
pub use prep::{PrepCommand, PrepName, PrepOptions};
pub use reprovision::{DriverName, ReprovisionCommand};
pub use token::TokenCommand;

const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    problems were found, or something failed; the message has the cause and the fix
  2    the command line is wrong
  130  stopped by Ctrl-C or SIGTERM; run the same command again to continue

Every error has a stable code such as BS-SPEC-004; `blackstart explain BS-SPEC-004` for details.";

/// Bare machines in, a working Kubernetes (+ Ceph) cluster out.
#[derive(Debug, Parser)]
#[command(name = "blackstart", version, after_long_help = EXIT_CODES, arg_required_else_help = true)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
pub struct Global {
    /// Directory with cluster.yaml and nodes/; an absolute one lies below --root
    #[arg(long, global = true, env = "CONFIG_DIR", value_name = "DIR", default_value = "/etc/cluster-config")]
    pub config_dir: PathBuf,

    /// Take DIR for the machine's `/`: an image being built, or a trial
    #[arg(long, global = true, value_name = "DIR", default_value = "/")]
    pub root: PathBuf,

    /// How to print results
    #[arg(short, long, global = true, value_enum, default_value_t, value_name = "FORM")]
    pub output: Form,

    /// Whether to use colours; `auto` respects `NO_COLOR` and pipes
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Color,
}

/// How to print results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Form {
    /// For people
    #[default]
    Text,
    /// For scripts; running steps print one event per line
    Json,
    /// A picture that a browser opens; only of `node timeline`
    Svg,
}

/// Whether to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check cluster.yaml and nodes/*.yaml: every problem at once, with line, column and a hint
    #[command(
        after_help = "Examples:\n  blackstart check examples/home\n  blackstart check -o json | jq '.problems[].code'"
    )]
    Check {
        /// Directory with cluster.yaml [default: the configuration directory]
        dir: Option<PathBuf>,
    },

    /// Show what would be done on this node, changing nothing
    #[command(
        after_help = "Examples:\n  blackstart plan\n  blackstart plan examples/home --node master-01\n  blackstart plan --verbose"
    )]
    Plan {
        /// Directory with cluster.yaml [default: the configuration directory]
        dir: Option<PathBuf>,
        /// Plan for the node of this name instead of detecting which one this is
        #[arg(long, value_name = "NAME")]
        node: Option<String>,
        /// Show every file, every resource that a reset will undo, and the order of the steps
        #[arg(short, long)]
        verbose: bool,
    },

    /// This machine as a node of the cluster
    #[command(subcommand)]
    Node(NodeCommand),

    /// Configuration directories for the nodes
    #[command(subcommand)]
    Config(ConfigCommand),

    /// Ignition configs for machines that are set up at their first boot
    #[command(subcommand)]
    Ignition(IgnitionCommand),

    /// Tokens by which machines join
    #[command(subcommand)]
    Token(TokenCommand),

    /// Certificates, keys and kubeconfigs
    #[command(subcommand)]
    Pki(PkiCommand),

    /// etcd: members, snapshots, restore
    #[command(subcommand)]
    Etcd(EtcdCommand),

    /// A temporary bootstrap node: how far it is, wait for it, remove a dead one
    #[command(subcommand)]
    Bootstrap(BootstrapCommand),

    /// Ceph: its status, and the Secret for ceph-csi
    #[command(subcommand)]
    Ceph(CephCommand),

    /// Nodes made ready for what runs on them: iSCSI for Longhorn, Intel GPUs for transcoding
    #[command(subcommand)]
    Prep(PrepCommand),

    /// Nodes worked on in place: started, followed, aborted
    #[command(subcommand)]
    Reprovision(ReprovisionCommand),

    /// Everything a cluster cannot be without, in one encrypted file
    #[command(subcommand)]
    Backup(BackupCommand),

    /// Real machines on this computer: boot them, break them, inspect them
    #[command(subcommand)]
    Lab(LabCommand),

    /// The components of a cluster in one verified directory or archive
    #[command(subcommand)]
    Bundle(BundleCommand),

    /// Show all nodes live: what each is doing, what it waits for and for how long, its last error
    #[command(
        after_help = "On a node, the masters are asked with the node's own certificate. A node that has gone quiet is shown with the\ntime since when.\n\nExamples:\n  blackstart watch\n  blackstart watch --lab lab                from the computer that runs a lab\n  blackstart watch --once -o json | jq '.nodes[] | select(.state != \"ready\") | .name'"
    )]
    Watch(WatchOptions),

    /// Find out why this node does not work: code, evidence, fix
    #[command(
        after_help = "Exit codes: 0 nothing is wrong, 1 something is.\n\nExamples:\n  blackstart diagnose\n  blackstart diagnose --list\n  blackstart diagnose -o json | jq -r '.findings[].code'"
    )]
    Diagnose {
        /// Take this name instead of the detected one
        #[arg(long, value_name = "NAME")]
        node: Option<String>,
        /// Only list the checks
        #[arg(long)]
        list: bool,
    },

    /// Write everything that helps to understand a node into one archive, without secrets
    #[command(
        after_help = "Ledger, runs, logs, configuration, network, etcd and API health; index.json in the archive says what is there, how it was\ncollected and what is missing. Private keys, tokens and Secrets are never in it: files that hold them are not taken, and\neverything else is searched for their values.\n\nExamples:\n  blackstart gather\n  blackstart gather --to /dev/shm/           where the disk is full\n  blackstart gather --to - | ssh me@desk 'cat > node.tar.gz'\n  blackstart gather --lab lab               all machines of a lab"
    )]
    Gather {
        /// A file or directory to write the archive to, `-` for standard output [default: the current directory]
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
        /// All machines of this lab instead of this machine
        #[arg(long, value_name = "LAB")]
        lab: Option<String>,
    },

    /// Keep this node a node: API load balancer, join service, routes, renewal; blackstart-agent.service runs it
    #[command(after_help = "Example:\n  systemctl status blackstart-agent")]
    Agent {
        /// Take this name instead of the detected one
        #[arg(long, value_name = "NAME")]
        node: Option<String>,
    },

    /// Keep what `kubectl get co` shows as the cluster is; the Deployment cluster-version-operator runs it
    #[command(hide = true)]
    Operator {
        /// How many masters the cluster is to have
        #[arg(long, value_name = "NUMBER")]
        masters: usize,
        /// A master whose host name is not its node's name: Leases have the former
        #[arg(long = "host", value_name = "HOSTNAME=NODE", value_parser = named_host)]
        hosts: Vec<(String, String)>,
    },

    /// Print the JSON Schema of the configuration files, for editors and validators
    #[command(
        after_help = "Examples:\n  blackstart schema > cluster.schema.json\n  blackstart schema node > node.schema.json\n\nThen put this line at the top of cluster.yaml:\n  # yaml-language-server: $schema=cluster.schema.json"
    )]
    Schema {
        /// Which file
        #[arg(value_enum, default_value_t)]
        file: SchemaFile,
    },

    /// Explain an error code, or list them all
    #[command(after_help = "Examples:\n  blackstart explain BS-SPEC-004\n  blackstart explain")]
    Explain {
        /// The code, such as BS-SPEC-004
        code: Option<String>,
    },

    /// Print the completion script for a shell
    #[command(after_help = "Example:\n  blackstart completions bash > /etc/bash_completion.d/blackstart")]
    Completions {
        /// Which shell
        shell: Shell,
    },

    /// Write the man pages into a directory
    #[command(after_help = "Example:\n  blackstart man /usr/local/share/man/man1")]
    Man {
        /// Where to
        dir: PathBuf,
    },
}

/// What to watch, and how.
#[derive(Debug, Args)]
pub struct WatchOptions {
    /// The machines of this lab, from the computer that runs it
    #[arg(long, value_name = "LAB")]
    pub lab: Option<String>,
    /// Print once and exit; the default where stdout is not a terminal
    #[arg(long)]
    pub once: bool,
}

/// Which configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SchemaFile {
    /// cluster.yaml
    #[default]
    Cluster,
    /// nodes/NAME.yaml
    Node,
}

/// `HOSTNAME=NODE`.
fn named_host(text: &str) -> Result<(String, String), String> {
    let (host, node) = text.split_once('=').ok_or("it must be HOSTNAME=NODE")?;
    Ok((host.to_owned(), node.to_owned()))
}
