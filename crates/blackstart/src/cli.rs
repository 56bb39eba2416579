//! What can be typed. The texts here are the manual: `--help`, man pages and completions come from them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

const EXIT_CODES: &str = "\
Exit codes:
  0    done, nothing to complain about
  1    problems were found, or something failed; the message says what and what to do
  2    the command line is wrong
  130  stopped by Ctrl-C or SIGTERM; run the same command again to go on

Every error has a stable code such as BS-SPEC-004: `blackstart explain BS-SPEC-004` tells more.";

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
    /// Directory with cluster.yaml and nodes/
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
    #[command(after_help = "Examples:\n  blackstart plan\n  blackstart plan examples/home --node master-01")]
    Plan {
        /// Directory with cluster.yaml [default: the configuration directory]
        dir: Option<PathBuf>,
        /// Plan for the node of this name instead of detecting which one this is
        #[arg(long, value_name = "NAME")]
        node: Option<String>,
    },

    /// This machine as a node of the cluster
    #[command(subcommand)]
    Node(NodeCommand),

    /// Certificates, keys and kubeconfigs
    #[command(subcommand)]
    Pki(PkiCommand),

    /// Real machines on this computer: boot them, break them, look at them
    #[command(subcommand)]
    Lab(LabCommand),

    /// The components of a cluster in one verified directory or archive
    #[command(subcommand)]
    Bundle(BundleCommand),

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
}

/// Which lab.
#[derive(Debug, Args)]
pub struct LabOption {
    /// The lab's name
    #[arg(long, default_value = "lab", value_name = "NAME")]
    pub name: String,
}

/// Real machines on this computer.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Make and boot the machines of a lab; what is there already is left as it is
    #[command(
        after_help = "Examples:\n  blackstart lab up                         master-01, worker-01 and worker-02\n  blackstart lab up --masters 3 --workers 2 --name ha\n  blackstart lab up --config examples/home"
    )]
    Up {
        /// Which lab
        #[command(flatten)]
        lab: LabOption,
        /// How many masters
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=80), conflicts_with = "config")]
        masters: u8,
        /// How many workers
        #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=150), conflicts_with = "config")]
        workers: u8,
        /// Make the machines of this configuration directory instead
        #[arg(long, value_name = "DIR")]
        config: Option<PathBuf>,
    },

    /// List the labs on this computer
    #[command(after_help = "Example:\n  blackstart lab list")]
    List,

    /// Show the machines of a lab
    #[command(
        after_help = "Examples:\n  blackstart lab status\n  blackstart lab status -o json | jq '.machines[].state'"
    )]
    Status {
        /// Which lab
        #[command(flatten)]
        lab: LabOption,
    },

    /// Run a command in a machine
    #[command(
        after_help = "Examples:\n  blackstart lab exec worker-01 systemctl --failed\n  blackstart lab exec master-01 -- ip -br address"
    )]
    Exec {
        /// Which lab
        #[command(flatten)]
        lab: LabOption,
        /// The machine
        machine: String,
        /// The command and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },

    /// Open a shell in a machine
    #[command(after_help = "Example:\n  blackstart lab shell master-01")]
    Shell {
        /// Which lab
        #[command(flatten)]
        lab: LabOption,
        /// The machine
        machine: String,
    },

    /// Show a machine's journal, or its console
    #[command(
        after_help = "Examples:\n  blackstart lab logs worker-01 --unit NetworkManager\n  blackstart lab logs worker-01 --console"
    )]
    Logs {
        /// Which lab
        #[command(flatten)]
        lab: LabOption,
        /// The machine
        machine: String,
        /// Only this unit
        #[arg(short, long, conflicts_with = "console")]
        unit: Option<String>,
        /// Go on as more is written
        #[arg(short, long)]
        follow: bool,
        /// What the machine printed while booting; also when it is off
        #[arg(long)]
        console: bool,
    },

    /// Copy files into or out of a machine
    #[command(
        after_help = "Examples:\n  blackstart lab cp ./file worker-01:/root/\n  blackstart lab cp worker-01:/var/log/syslog ."
    )]
    Cp {
        /// Which lab
        #[command(flatten)]
        lab: LabOption,
        /// A path, or MACHINE:PATH
        from: String,
        /// A directory, or MACHINE:DIRECTORY
        to: String,
    },

    /// Reboot machines from inside and wait until they are up again
    #[command(after_help = "Example:\n  blackstart lab reboot worker-01 worker-02")]
    Reboot(Machines),

    /// Cut the power of machines: nothing is flushed, nobody is told
    #[command(after_help = "Example:\n  blackstart lab kill master-01 && blackstart lab up")]
    Kill(Machines),

    /// Stop all processes of machines where they are
    #[command(after_help = "Example:\n  blackstart lab pause worker-01")]
    Pause(Machines),

    /// Let paused machines go on
    #[command(after_help = "Example:\n  blackstart lab resume worker-01")]
    Resume(Machines),

    /// Cut a machine off from others, or from everything
    #[command(
        after_help = "Examples:\n  blackstart lab cut master-01 worker-01 worker-02\n  blackstart lab cut worker-01          the cable is out"
    )]
    Cut {
        /// Which lab
        #[command(flatten)]
        lab: LabOption,
        /// The machine
        machine: String,
        /// What it is cut off from; nothing means everything
        others: Vec<String>,
    },

    /// Heal the cuts of a machine, or all of them
    #[command(after_help = "Example:\n  blackstart lab heal")]
    Heal {
        /// Which lab
        #[command(flatten)]
        lab: LabOption,
        /// The machine
        machine: Option<String>,
    },

    /// Switch all machines off, gracefully; `lab up` boots them again
    #[command(after_help = "Example:\n  blackstart lab down")]
    Down {
        /// Which lab
        #[command(flatten)]
        lab: LabOption,
    },

    /// Remove a lab with everything in it, whatever state it is in
    #[command(after_help = "Examples:\n  blackstart lab destroy\n  blackstart lab destroy --name ha --yes")]
    Destroy {
        /// Which lab
        #[command(flatten)]
        lab: LabOption,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },

    /// The process that keeps a machine running; started by `lab up`
    #[command(hide = true)]
    Supervise {
        /// The lab
        lab: String,
        /// The machine
        machine: String,
    },
}

/// Some machines of a lab.
#[derive(Debug, Args)]
pub struct Machines {
    /// Which lab
    #[command(flatten)]
    pub lab: LabOption,
    /// The machines
    #[arg(required = true)]
    pub machines: Vec<String>,
}

/// The components of a cluster.
#[derive(Debug, Subcommand)]
pub enum BundleCommand {
    /// Make a bundle: from a directory or archive, the publishers' releases, or Go modules
    #[command(
        after_help = "Sources are tried in this order unless --source names one. What was made once is kept in the user's cache\ndirectory; an interrupted build goes on with the component it was at.\n\nExamples:\n  blackstart bundle build ./bundle\n  blackstart bundle build ./bundle --from /media/usb/components\n  blackstart bundle build ./bundle --source go-modules --with kubeadm"
    )]
    Build {
        /// Where to make it
        dir: PathBuf,
        /// Take components from this directory or archive first
        #[arg(long, value_name = "PATH")]
        from: Option<PathBuf>,
        /// Only from this source
        #[arg(long, value_enum)]
        source: Option<BundleSource>,
        /// Add components that are not part of every bundle, such as kubeadm
        #[arg(long, value_name = "NAME")]
        with: Vec<String>,
    },

    /// Show what a bundle holds
    #[command(after_help = "Example:\n  blackstart bundle show ./bundle -o json | jq '.components[].version'")]
    Show {
        /// The bundle
        dir: PathBuf,
    },

    /// Check every file of a bundle against its manifest
    #[command(after_help = "Example:\n  blackstart bundle verify ./bundle")]
    Verify {
        /// The bundle
        dir: PathBuf,
    },

    /// Install a bundle on this machine beside older ones, and switch to it
    #[command(
        after_help = "No network is needed. An upgrade, and the way back, is the same command with another bundle.\n\nExamples:\n  blackstart bundle install ./bundle\n  blackstart bundle install ./bundle --root /mnt/image"
    )]
    Install {
        /// The bundle
        dir: PathBuf,
    },

    /// Pack a bundle into one file, for machines without a network
    #[command(after_help = "Example:\n  blackstart bundle pack ./bundle blackstart-1.36.3.tar.zst")]
    Pack {
        /// The bundle
        dir: PathBuf,
        /// The archive to write
        archive: PathBuf,
    },

    /// Unpack and verify an archive
    #[command(after_help = "Example:\n  blackstart bundle unpack blackstart-1.36.3.tar.zst ./bundle")]
    Unpack {
        /// The archive
        archive: PathBuf,
        /// Where to make the bundle
        dir: PathBuf,
    },
}

/// Where components come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BundleSource {
    /// The publishers' downloads
    Release,
    /// Compiled from Go modules
    GoModules,
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
