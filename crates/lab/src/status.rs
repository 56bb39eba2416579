//! What there is of a lab, found out by looking.

use std::{fs, net::IpAddr};

use host::{Cmd, Commands, RealCommands};
use serde::Serialize;

use crate::{Lab, LabError, LabName, Machine, Surroundings, cuts};

/// What a machine is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MachineState {
    /// It was never made.
    Missing,
    /// It is made and has no process.
    Off,
    /// It is on its way up.
    Starting,
    /// systemd says that everything is up.
    Running,
    /// It is up, and some unit has failed.
    Degraded,
    /// Its processes are stopped where they are.
    Paused,
    /// It is on its way down.
    Stopping,
}

impl MachineState {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Off => "off",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Degraded => "degraded",
            Self::Paused => "paused",
            Self::Stopping => "stopping",
        }
    }
}

/// What is known of a machine.
#[derive(Debug, Clone, Serialize)]
pub struct MachineStatus {
    /// Its name.
    pub name: String,
    /// Its address.
    pub ip: IpAddr,
    /// The address of its interface.
    pub mac: String,
    /// What it is doing.
    pub state: MachineState,
    /// Its process 1, seen from here.
    pub pid: Option<i32>,
    /// Memory it uses, in megabytes.
    pub memory_mb: Option<u64>,
    /// What it is cut off from.
    pub cuts: Vec<cuts::Cut>,
}

/// All labs of this computer.
pub fn list() -> Result<Vec<LabName>, LabError> {
    Lab::names()
}

/// All machines of a lab.
pub async fn status(lab: &Lab, surroundings: &Surroundings) -> Result<Vec<MachineStatus>, LabError> {
    let cuts = cuts::read(lab);
    let mut all = Vec::new();
    for record in &lab.machines {
        let machine = Machine::new(lab, &record.name, surroundings)?;
        all.push(MachineStatus {
            name: record.name.clone(),
            ip: record.ip,
            mac: record.mac.clone(),
            state: machine.state().await,
            pid: machine.groups.leader(),
            memory_mb: machine.groups.memory().map(|bytes| bytes / 1_000_000),
            cuts: cuts.iter().filter(|cut| cuts::concerns(cut, &record.name)).cloned().collect(),
        });
    }
    Ok(all)
}

impl Machine<'_> {
    /// What the machine is doing now.
    pub async fn state(&self) -> MachineState {
        if !self.is_created() {
            return MachineState::Missing;
        }
        let Some(leader) = self.groups.leader() else { return MachineState::Off };
        if self.groups.is_frozen() {
            return MachineState::Paused;
        }
        // The exit code repeats the word, so an error is an answer too.
        let command = Cmd::new("nsenter").args(namespaces(leader)).args(["systemctl", "is-system-running"]);
        let said = match RealCommands.run(&command).await {
            Ok(printed) => printed.stdout,
            Err(error) => error.to_string(),
        };
        match said {
            _ if said.starts_with("running") => MachineState::Running,
            _ if said.ends_with("degraded") => MachineState::Degraded,
            _ if said.ends_with("stopping") => MachineState::Stopping,
            _ => MachineState::Starting,
        }
    }

    /// The number of the machine's boot; a new one after every boot.
    pub(crate) fn boot_id(&self) -> Option<String> {
        let leader = self.groups.leader()?;
        let path = format!("/proc/{leader}/root/proc/sys/kernel/random/boot_id");
        fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
    }
}

/// The arguments by which `nsenter` goes into a machine.
pub(crate) fn namespaces(leader: i32) -> Vec<String> {
    let mut arguments = vec!["--target".to_owned(), leader.to_string()];
    arguments.extend(["--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--"].map(str::to_owned));
    arguments
}
