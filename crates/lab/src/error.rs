//! What can go wrong with the lab.

use std::{io, path::PathBuf};

use engine::StepError;
use explain::{Code, Explain};
use host::CommandError;
use ipnet::{IpNet, Ipv4Net};

use crate::codes;

/// Something went wrong with the lab.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// Not a name.
    #[error("invalid lab name `{0}`")]
    Name(String),
    /// No such lab.
    #[error("there is no lab `{0}` on this computer")]
    UnknownLab(String),
    /// No such machine.
    #[error("lab `{lab}` has no machine `{machine}`; it has {known}")]
    UnknownMachine {
        /// The lab.
        lab: String,
        /// The name that was asked for.
        machine: String,
        /// The names that there are.
        known: String,
    },
    /// The machine must run for this.
    #[error("machine `{machine}` is {state}")]
    NotRunning {
        /// The machine.
        machine: String,
        /// What it is instead.
        state: String,
    },
    /// The machine ended, and a command in it with it.
    #[error("machine `{0}` went down while the command ran")]
    WentDown(String),
    /// Root is needed.
    #[error("this needs root, and runs as user {0}")]
    NotRoot(u32),
    /// Packages are missing and cannot be installed here.
    #[error("not installed: {0}")]
    NoPackages(String),
    /// Another command works on it.
    #[error("another command is working on lab `{0}`")]
    Busy(String),
    /// Its making was interrupted at the very beginning.
    #[error("lab `{0}` was begun and never finished")]
    Unfinished(String),
    /// The network that the configuration asks for is in use.
    #[error("the network {wanted} is in use here: {by}")]
    SubnetTaken {
        /// What `node_cidr` says.
        wanted: Ipv4Net,
        /// A network of this computer or of another lab.
        by: IpNet,
    },
    /// Lab networks are IPv4.
    #[error("the lab cannot make the network {0}: it is not IPv4")]
    NotIpv4(IpNet),
    /// All subnets are taken.
    #[error("all networks from 10.88.0.0/24 to 10.88.255.0/24 are in use")]
    NoSubnet,
    /// Too little space.
    #[error("{path} has {free} MB free; {needed} MB are needed")]
    DiskSpace {
        /// Where.
        path: PathBuf,
        /// Megabytes there are.
        free: u64,
        /// Megabytes there should be.
        needed: u64,
    },
    /// Something is left after a destroy.
    #[error("left of lab `{lab}`: {what}")]
    Left {
        /// The lab.
        lab: String,
        /// What is left, and why.
        what: String,
    },
    /// The record is damaged.
    #[error("cannot read {}", .path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// cluster.yaml has errors.
    #[error("{0} has errors")]
    Config(PathBuf),
    /// Ignition could not set a machine up.
    #[error("Ignition's stage `{stage}` failed for {machine}: {why} (see {})", .log.display())]
    Ignition {
        /// The machine.
        machine: String,
        /// Which of its stages.
        stage: String,
        /// What it printed.
        why: String,
        /// All that it printed.
        log: PathBuf,
    },
    /// There is no such config.
    #[error("cannot read the Ignition config {}", .path.display())]
    NoConfig {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A system call failed.
    #[error("cannot {doing}")]
    System {
        /// What was being done, to what.
        doing: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A command failed.
    #[error(transparent)]
    Command(#[from] CommandError),
}

impl LabError {
    /// For `map_err`: says what was being done.
    pub(crate) fn while_doing(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { doing: doing.into(), source }
    }
}

impl Explain for LabError {
    fn code(&self) -> Code {
        match self {
            Self::Name(_) => codes::NAME,
            Self::UnknownLab(_) => codes::UNKNOWN_LAB,
            Self::UnknownMachine { .. } => codes::UNKNOWN_MACHINE,
            Self::NotRunning { .. } => codes::NOT_RUNNING,
            Self::WentDown(_) => codes::WENT_DOWN,
            Self::NotRoot(_) => codes::NOT_ROOT,
            Self::NoPackages(_) => codes::NO_PACKAGES,
            Self::Busy(_) => codes::BUSY,
            Self::Unfinished(_) => codes::UNFINISHED,
            Self::SubnetTaken { .. } => codes::SUBNET_TAKEN,
            Self::NotIpv4(_) => codes::NOT_IPV4,
            Self::NoSubnet => codes::NO_SUBNET,
            Self::DiskSpace { .. } => codes::DISK_SPACE,
            Self::Left { .. } => codes::LEFT,
            Self::Record { .. } => codes::RECORD,
            Self::Config(_) => codes::CONFIG,
            Self::Ignition { .. } => codes::IGNITION,
            Self::NoConfig { .. } => codes::NO_CONFIG,
            Self::System { .. } => codes::SYSTEM,
            Self::Command(error) => error.code(),
        }
    }
}

impl From<LabError> for StepError {
    fn from(error: LabError) -> Self {
        Self::from_explained(&error)
    }
}
