//! `blackstart lab …`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
    /// Boot the machines of a lab and let them become a cluster; what is there already is left as it is
    #[command(
        after_help = "Examples:\n  blackstart lab up                         master-01, worker-01 and worker-02\n  blackstart lab up --masters 3 --workers 2 --name ha\n  blackstart lab up --ceph                  three machines, Kubernetes and Ceph\n  blackstart lab up --config examples/home\n  blackstart lab up --pivot                 a temporary bootstrap node, three masters, a worker\n  blackstart lab up --ignition --masters 1 --workers 1"
    )]
    Up {
        /// Which lab
        #[command(flatten)]
        lab: LabOption,
        /// How many masters [default: 1, or 3 with --ceph]
        #[arg(long, value_parser = clap::value_parser!(u8).range(1..=80), conflicts_with = "config")]
        masters: Option<u8>,
        /// How many workers [default: 2, or none with --ceph]
        #[arg(long, value_parser = clap::value_parser!(u8).range(0..=150), conflicts_with = "config")]
        workers: Option<u8>,
        /// Make the machines of this configuration directory instead
        #[arg(long, value_name = "DIR")]
        config: Option<PathBuf>,
        /// Only boot the machines, without making them a cluster
        #[arg(long)]
        machines_only: bool,
        /// Let the real Ignition set every machine up before its first boot, from the config that `blackstart ignition render`
        /// writes for it
        #[arg(long, conflicts_with = "machines_only")]
        ignition: bool,
        /// A temporary bootstrap node from which the masters take the cluster over; implies --ignition [masters: 3, workers: 1]
        #[arg(long, conflicts_with_all = ["config", "ceph"])]
        pivot: bool,
        /// A Ceph cluster, too: every master is a monitor, a manager and an OSD. With --config the roles in the file count,
        /// and their machines have Ceph installed from the beginning
        #[arg(long)]
        ceph: bool,
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
        /// Follow the log
        #[arg(short, long)]
        follow: bool,
        /// What the machine printed while booting; also when it is off
        #[arg(long)]
        console: bool,
    },

    /// Copy files into or out of a machine
    #[command(
        after_help = "Examples:\n  blackstart lab cp ./file worker-01:/root/\n  blackstart lab cp ./file worker-01:/root/other-name\n  blackstart lab cp worker-01:/var/log/syslog ."
    )]
    Cp {
        /// Which lab
        #[command(flatten)]
        lab: LabOption,
        /// A path, or MACHINE:PATH
        from: String,
        /// A directory to copy into, or the name that the copy gets; in a machine MACHINE:PATH
        to: String,
    },

    /// Reboot machines from inside and wait until they are up again
    #[command(after_help = "Example:\n  blackstart lab reboot worker-01 worker-02")]
    Reboot(Machines),

    /// Cut the power of machines: nothing is flushed, no service is stopped
    #[command(after_help = "Example:\n  blackstart lab kill master-01 && blackstart lab up")]
    Kill(Machines),

    /// Cut the power of machines and give them an empty disk; `lab up` boots them as new ones of the same name
    #[command(
        after_help = "Examples:\n  blackstart lab wipe master-01 --yes && blackstart lab up\n  blackstart lab wipe worker-01 --yes --ignition ign/pointers && blackstart lab up"
    )]
    Wipe {
        /// Which machines
        #[command(flatten)]
        machines: Machines,
        /// Let Ignition set them up at their next boot, each with DIR/NAME.ign
        #[arg(long, value_name = "DIR")]
        ignition: Option<PathBuf>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },

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
