//! What there is of a lab, found out by looking.

use std::{fs, net::IpAddr, time::Duration};

use host::{Cmd, Commands, RealCommands};
use nodekit::BOOT_ID;
use serde::Serialize;
use tokio::time::timeout;

use crate::{Capabilities, Lab, LabError, LabName, Machine, cuts, enter};

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
pub async fn status(lab: &Lab, capabilities: &Capabilities) -> Result<Vec<MachineStatus>, LabError> {
    let cuts = cuts::read(lab);
    let mut all = Vec::new();
    for record in &lab.machines {
        let machine = Machine::new(lab, &record.name, capabilities)?;
        let pid = machine.groups.leader();
        all.push(MachineStatus {
            name: record.name.clone(),
            ip: record.ip,
            mac: record.mac.clone(),
            state: machine.state().await,
            pid,
            memory_mb: pid.and_then(|_| machine.groups.memory()).map(|bytes| bytes / 1_000_000),
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
        if self.groups.processes().is_empty() {
            return MachineState::Off;
        }
        if self.groups.is_frozen() {
            return MachineState::Paused;
        }
        // The exit code repeats the word, so an error is an answer too.
        let output = self.ask(&["systemctl", "is-system-running"]).await.unwrap_or_else(|error| error);
        match output {
            _ if output.starts_with("running") => MachineState::Running,
            _ if output.ends_with("degraded") => MachineState::Degraded,
            _ if output.ends_with("stopping") => MachineState::Stopping,
            _ => MachineState::Starting,
        }
    }

    /// The units that have failed.
    pub(crate) async fn failed_units(&self) -> Vec<String> {
        let question = ["systemctl", "list-units", "--failed", "--plain", "--no-legend"];
        let output = self.ask(&question).await.unwrap_or_default();
        output.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
    }

    /// What a command in the machine prints, or why it does not. One that is stopped while it is asked never answers.
    pub(crate) async fn ask(&self, question: &[&str]) -> Result<String, String> {
        let leader = self.groups.leader().ok_or("it has no process 1 yet")?;
        let command = Cmd::new("nsenter").args(enter::arguments(leader)).args(question.iter().copied());
        let answer = timeout(Duration::from_secs(10), RealCommands.run(&command)).await;
        match answer {
            Ok(Ok(printed)) => Ok(printed.stdout),
            Ok(Err(error)) => Err(error.to_string()),
            Err(late) => Err(late.to_string()),
        }
    }

    /// The number of the machine's boot; a new one after every boot.
    pub(crate) fn boot_id(&self) -> Option<String> {
        let leader = self.groups.leader()?;
        let path = format!("/proc/{leader}/root{BOOT_ID}");
        fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
    }
}
