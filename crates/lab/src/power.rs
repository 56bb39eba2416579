//! Things done to machines: commands, reboot, power loss, pause, power-off.

use std::{
    fs,
    path::Path,
    process::{Command, ExitStatus},
    time::{Duration, Instant},
};

use nix::libc;
use tokio::time::sleep;

use crate::{LabError, Machine, MachineState, base, enter, supervise::in_groups};

/// How often a machine's state is looked at.
const POLL: Duration = Duration::from_millis(100);

/// How long a machine may take to come up or go down.
const DEADLINE: Duration = Duration::from_secs(90);

/// A command for a machine, with our own standard input and output.
pub struct Exec<'a> {
    /// The words of the command; none means a login shell.
    pub command: &'a [String],
    /// The user's terminal type, so that editors and pagers work.
    pub term: Option<String>,
}

/// Runs a command inside a machine and waits for its end. One that ends with the machine is an error.
pub fn exec(machine: &Machine<'_>, exec: &Exec<'_>) -> Result<ExitStatus, LabError> {
    let leader = leader(machine)?;
    let mut command = entering(machine, leader);
    command.arg("env").args(["-i", "HOME=/root", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]);
    command.arg(format!("TERM={}", exec.term.as_deref().unwrap_or("dumb")));
    if exec.command.is_empty() {
        command.args(["bash", "--login"]);
    } else {
        command.args(exec.command);
    }
    let doing = format!("run a command in {}", machine.record.name);
    finish(machine, leader, command.status().map_err(LabError::while_doing(doing))?)
}

/// Shows the machine's journal, or with `console` what it printed on its console.
pub fn logs(machine: &Machine<'_>, unit: Option<&str>, follow: bool, console: bool) -> Result<ExitStatus, LabError> {
    let failed = LabError::while_doing(format!("show the log of {}", machine.record.name));
    if console {
        let mut command = Command::new("tail");
        command.arg(if follow { "-F" } else { "-n+1" }).arg(machine.dir().join("console.log"));
        return command.status().map_err(failed);
    }
    let leader = leader(machine)?;
    let mut command = entering(machine, leader);
    command.args(["journalctl", "--no-pager"]);
    if let Some(unit) = unit {
        command.args(["--unit", unit]);
    }
    if follow {
        command.arg("--follow");
    }
    finish(machine, leader, command.status().map_err(failed)?)
}

/// Goes into a machine that runs; what it starts belongs to the machine and dies with it.
pub fn inside(machine: &Machine<'_>) -> Result<Command, LabError> {
    Ok(entering(machine, leader(machine)?))
}

fn entering(machine: &Machine<'_>, leader: i32) -> Command {
    let mut command = in_groups(&machine.groups.outside());
    command.arg("nsenter").args(enter::arguments(leader));
    command
}

/// How a command in a machine ended, if it was not the machine that did.
fn finish(machine: &Machine<'_>, leader: i32, status: ExitStatus) -> Result<ExitStatus, LabError> {
    if enter::ended_with(leader, status) {
        return Err(LabError::WentDown(machine.record.name.clone()));
    }
    Ok(status)
}

fn leader(machine: &Machine<'_>) -> Result<i32, LabError> {
    let not_running = |state: MachineState| LabError::NotRunning {
        machine: machine.record.name.clone(),
        state: state.word().to_owned(),
    };
    if machine.groups.is_frozen() {
        return Err(not_running(MachineState::Paused));
    }
    machine.groups.leader().ok_or_else(|| not_running(MachineState::Off))
}

/// Reboots a machine from inside and waits until it is up again.
pub async fn reboot(machine: &Machine<'_>) -> Result<(), LabError> {
    let before = machine.boot_id();
    // The command may be ended by the reboot it asked for.
    let status = inside(machine)?.args(["systemctl", "reboot"]).status();
    status.map_err(LabError::while_doing(format!("reboot {}", machine.record.name)))?;
    wait(machine, "come back", || machine.boot_id().is_some_and(|now| Some(now) != before)).await?;
    wait_until(machine, MachineState::Running).await
}

/// Cuts the power: nothing is flushed, no unit is stopped.
pub fn kill(machine: &Machine<'_>) -> Result<(), LabError> {
    machine.groups.kill()
}

/// Cuts the power and takes the disk out: the next `lab up` makes the machine again, from its sealed directory.
pub fn wipe(machine: &Machine<'_>) -> Result<(), LabError> {
    machine.groups.kill()?;
    base::remove_file(&machine.lab.given_config(&machine.record.name))?;
    machine.forget()
}

/// The same, and gives the machine a config by which Ignition sets it up at its next boot, which is its first.
pub fn wipe_for_ignition(machine: &Machine<'_>, config: &Path) -> Result<(), LabError> {
    let unreadable = |source| LabError::NoConfig { path: config.to_path_buf(), source };
    let text = fs::read_to_string(config).map_err(unreadable)?;
    wipe(machine)?;
    base::write_secret(&machine.lab.given_config(&machine.record.name), &text)
}

/// Stops all processes where they are, and waits until they are: one that is writing to a disk stops when it has written.
pub async fn pause(machine: &Machine<'_>) -> Result<(), LabError> {
    leader(machine)?;
    machine.groups.freeze(true)?;
    wait(machine, "stand still", || machine.groups.is_frozen()).await
}

/// Lets the processes go on.
pub fn resume(machine: &Machine<'_>) -> Result<(), LabError> {
    machine.groups.freeze(false)
}

/// Switches a machine off, gracefully, and waits until it is.
pub async fn down(machine: &Machine<'_>) -> Result<(), LabError> {
    machine.groups.freeze(false)?;
    let deadline = Instant::now() + DEADLINE;
    let mut reported: Option<Instant> = None;
    while !machine.groups.processes().is_empty() {
        give_up_after(machine, deadline, "be off").await?;
        // A system that has just been started does not hear it the first time.
        if reported.is_none_or(|at| at.elapsed() > Duration::from_secs(2))
            && let Some(leader) = machine.groups.leader()
        {
            power_off(leader)?;
            reported = Some(Instant::now());
        }
        sleep(POLL).await;
    }
    Ok(())
}

/// systemd powers off at this signal.
fn power_off(leader: i32) -> Result<(), LabError> {
    let signal = libc::SIGRTMIN() + 4;
    let status = Command::new("kill").args([format!("-{signal}"), leader.to_string()]).status();
    status.map(drop).map_err(LabError::while_doing("run kill"))
}

/// Waits until a machine is in a state.
pub(crate) async fn wait_until(machine: &Machine<'_>, state: MachineState) -> Result<(), LabError> {
    let deadline = Instant::now() + DEADLINE;
    while machine.state().await != state {
        give_up_after(machine, deadline, &format!("be {}", state.word())).await?;
        sleep(POLL).await;
    }
    Ok(())
}

async fn wait(machine: &Machine<'_>, what: &str, mut done: impl FnMut() -> bool) -> Result<(), LabError> {
    let deadline = Instant::now() + DEADLINE;
    while !done() {
        give_up_after(machine, deadline, what).await?;
        sleep(POLL).await;
    }
    Ok(())
}

async fn give_up_after(machine: &Machine<'_>, deadline: Instant, what: &str) -> Result<(), LabError> {
    if Instant::now() < deadline {
        return Ok(());
    }
    let mut seen = machine.state().await.word().to_owned();
    for unit in machine.failed_units().await {
        seen = format!("{seen}, {unit} failed");
    }
    let (limit, console) = (DEADLINE.as_secs(), machine.dir().join("console.log"));
    let source = std::io::Error::other(format!("not within {limit} s: it is {seen}; see {}", console.display()));
    Err(LabError::System { doing: format!("wait for {} to {what}", machine.record.name), source })
}
