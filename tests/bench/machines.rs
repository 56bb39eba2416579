//! The machines of a run: made again, and gone with it.

use std::{
    fs::{self, File},
    io::{Seek, Write},
    net::IpAddr,
    path::Path,
    process::{Command, Stdio},
};

use lab::{Lab, LabName};

use crate::running::Running;

pub(crate) const MASTER: &str = "master-01";
pub(crate) const WORKER: &str = "worker-01";

/// The program under test; it is in the machines too, because the lab puts itself there.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_blackstart");

const NAME: &str = "cbench";

/// Machines that have booted.
pub(crate) struct Machines {
    lab: Lab,
}

impl Machines {
    /// Boots them; what a killed run left behind is removed before.
    pub(crate) fn boot(masters: u8, workers: u8) -> Self {
        let name: LabName = NAME.parse().unwrap();
        run(&name, "destroy", &["--yes"], Stdio::null());
        let (masters, workers) = (masters.to_string(), workers.to_string());
        run(&name, "up", &["--machines-only", "--masters", &masters, "--workers", &workers], Stdio::null());
        Self { lab: Lab::open(&name).unwrap() }
    }

    /// The same, as this configuration describes them.
    pub(crate) fn boot_as(config: &Path) -> Self {
        let name: LabName = NAME.parse().unwrap();
        run(&name, "destroy", &["--yes"], Stdio::null());
        run(&name, "up", &["--machines-only", "--config", &config.display().to_string()], Stdio::null());
        Self { lab: Lab::open(&name).unwrap() }
    }

    /// All of them.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.lab.machines.iter().map(|machine| machine.name.as_str()).collect()
    }

    /// Those that run a control plane, the first one first.
    pub(crate) fn masters(&self) -> Vec<&str> {
        self.names().into_iter().filter(|name| name.starts_with("master")).collect()
    }

    /// The others.
    pub(crate) fn workers(&self) -> Vec<&str> {
        self.names().into_iter().filter(|name| !name.starts_with("master")).collect()
    }

    /// The directory with their cluster.yaml.
    pub(crate) fn config_dir(&self) -> String {
        Lab::dir(&self.lab.name).join("config").display().to_string()
    }

    pub(crate) fn address(&self, machine: &str) -> IpAddr {
        self.lab.machine(machine).unwrap().ip
    }

    /// A file that a machine has written, read without asking the machine: it shall not be disturbed.
    pub(crate) fn read(&self, machine: &str, path: &str) -> String {
        let path = self.lab.machine_dir(machine).join("upper").join(path.trim_start_matches('/'));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// What a line of shell prints in a machine.
    pub(crate) fn sh(&self, machine: &str, line: &str) -> String {
        self.run("exec", &[machine, "--", "sh", "-ec", line])
    }

    /// The same with a file as its input.
    pub(crate) fn sh_with(&self, machine: &str, line: &str, input: File) -> String {
        run(&self.lab.name, "exec", &[machine, "--", "sh", "-ec", line], input.into())
    }

    /// Writes a file in a machine.
    pub(crate) fn write(&self, machine: &str, path: &str, text: &str) {
        let mut input = tempfile::tempfile().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        input.rewind().unwrap();
        let dir = Path::new(path).parent().unwrap().display();
        self.sh_with(machine, &format!("mkdir -p {dir}; cat > {path}"), input);
    }

    /// Copies a directory of this computer into a directory of a machine.
    pub(crate) fn copy(&self, dir: &Path, machine: &str, to: &str) {
        self.run("cp", &[&dir.display().to_string(), &format!("{machine}:{to}")]);
    }

    /// Cuts a machine's power.
    pub(crate) fn kill(&self, machine: &str) {
        self.run("kill", &[machine]);
    }

    /// Reboots a machine and waits until it is up again.
    pub(crate) fn reboot(&self, machine: &str) {
        self.run("reboot", &[machine]);
    }

    /// Starts a command in a machine: from here on time counts.
    pub(crate) fn start(&self, machine: &str, command: &[&str]) -> Running {
        Running::start(in_lab(&self.lab.name, "exec").args([machine, "--"]).args(command))
    }

    fn run(&self, command: &str, arguments: &[&str]) -> String {
        run(&self.lab.name, command, arguments, Stdio::null())
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        self.run("destroy", &["--yes"]);
    }
}

/// A sub-command for a lab.
fn in_lab(lab: &LabName, sub_command: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["lab", sub_command, "--name", lab.as_str()]);
    command
}

fn run(lab: &LabName, command: &str, arguments: &[&str], input: Stdio) -> String {
    let output = in_lab(lab, command).args(arguments).stdin(input).output().unwrap();
    assert!(output.status.success(), "{command} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
