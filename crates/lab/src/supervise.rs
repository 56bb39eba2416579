//! The supervisor of one machine: mounts it, links it to the bridge, boots it, and boots it again after a reboot.
//!
//! It runs as a process of its own, in mount and network namespaces of its own, started by [`start`]. All that it mounts
//! and links goes away with the namespaces, so a `kill -9` of it and of the machine leaves neither mount nor interface.
//! A machine whose supervisor ends is switched off. At a reboot the supervisor starts over in new namespaces, as new as
//! those of the first boot: rules and links of the old system are gone, as they are on metal.

use std::{
    fs::{self, OpenOptions},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use host::{Disk, RealDisk};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::{Capabilities, Lab, LabError, LabName, Machine, base, ceph_layer, first_boot, network, run::run};

/// systemd-nspawn's exit code when the machine asked for a reboot.
const REBOOT: i32 = 133;

/// How long a supervisor may take until the machine has its first process.
const FIRST_PROCESS: Duration = Duration::from_mins(1);

/// The file descriptor of this computer's network namespace.
const HOST_NETWORK: u8 = 9;

/// Joins the control groups named before `--`, then becomes the command after it.
const JOIN: &str = r#"while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs"; shift; done; shift; exec "$@""#;

/// A command that runs inside the machine's control groups.
pub(crate) fn in_groups(dirs: &[PathBuf]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-ec", JOIN, "sh"]).args(dirs).arg("--");
    command
}

/// Starts the supervisor and lets it go: it outlives the command that started it. Returns when the machine has its first
/// process, or says why it does not get one.
pub(crate) async fn start(machine: &Machine<'_>) -> Result<(), LabError> {
    let doing = format!("boot {}", machine.record.name);
    let console = machine.dir().join("console.log");
    let log = OpenOptions::new().create(true).append(true).open(&console);
    let log = log.map_err(LabError::while_doing(format!("open {}", console.display())))?;
    let reported = log.metadata().map_or(0, |meta| meta.len());
    let errors = log.try_clone().map_err(LabError::while_doing(format!("open {}", console.display())))?;
    machine.groups.create()?;
    // The supervisor keeps a handle on this computer's network, to reach the bridge from its own, and none of what it was
    // called with: `flock FILE blackstart lab up` must not hold the lock as long as there are machines.
    let line = format!("exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- {HOST_NETWORK}</proc/self/ns/net; exec setsid \"$@\"");
    let mut supervisor = in_groups(&machine.groups.outside())
        .args(["sh", "-c", &line, "sh"])
        .args(in_new_namespaces(machine))
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(errors)
        .spawn()
        .map_err(LabError::while_doing(&*doing))?;
    let deadline = Instant::now() + FIRST_PROCESS;
    while machine.groups.leader().is_none() {
        if let Some(status) = supervisor.try_wait().map_err(LabError::while_doing(&*doing))? {
            if status.success() {
                return Ok(()); // another supervisor has the machine: of a run that was killed a moment ago
            }
            let output = fs::read_to_string(&console).unwrap_or_default();
            let output = output.get(usize::try_from(reported).unwrap_or(0)..).unwrap_or_default().trim();
            let output = output.lines().next().unwrap_or("its supervisor ended without an error").to_owned();
            return Err(LabError::System { doing, source: std::io::Error::other(output) });
        }
        if Instant::now() > deadline {
            let seen = first_boot::last_log_line(machine).map(|line| format!("; Ignition is at `{line}`"));
            let seen = format!("no process within {} s{}", FIRST_PROCESS.as_secs(), seen.unwrap_or_default());
            let source = std::io::Error::other(seen);
            return Err(LabError::System { doing, source });
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// The words of a command that supervises the machine in new namespaces.
fn in_new_namespaces(machine: &Machine<'_>) -> Vec<String> {
    let mut words = ["unshare", "--net", "--mount", "--propagation", "private", "--"].map(str::to_owned).to_vec();
    words.push(program(machine.lab).display().to_string());
    words.extend(["lab", "supervise", machine.lab.name.as_str(), &machine.record.name].map(str::to_owned));
    words
}

/// The copy of this program that supervises and that the machines have: a rebuild must not pull it away under them.
pub(crate) fn program(lab: &Lab) -> PathBuf {
    Lab::dir(&lab.name).join("blackstart")
}

/// Supervises a machine until it is off.
pub async fn supervise(name: &LabName, machine: &str) -> Result<(), LabError> {
    let lab = Lab::open(name)?;
    let capabilities = Capabilities::detect()?;
    let machine = Machine::new(&lab, machine, &capabilities)?;
    let lock = machine.dir().join("supervisor.lock");
    let held = RealDisk::new("/").try_lock(&lock);
    let Some(_guard) =
        held.map_err(|error| LabError::System { doing: format!("lock {}", lock.display()), source: error.source })?
    else {
        return Ok(()); // another supervisor has it
    };
    machine.groups.clear()?;
    mount(&machine).await?;
    link(&machine).await?;
    first_boot::set_up(&machine).await?;
    let ended = boot(&machine)?;
    if ended == Some(REBOOT) {
        return start_over(&machine).await;
    }
    if let Some(leader) = machine.groups.leader() {
        // systemd-nspawn was killed: a machine without a supervisor is not left running.
        let _ = kill(Pid::from_raw(leader), Signal::SIGKILL);
    }
    Ok(())
}

/// Becomes a new supervisor in new namespaces; returns only if that fails. What is mounted here would come along.
async fn start_over(machine: &Machine<'_>) -> Result<(), LabError> {
    run(&format!("umount --lazy {} /run", machine.dir().join("root").display())).await?;
    let words = in_new_namespaces(machine);
    let error = Command::new(&words[0]).args(&words[1..]).exec();
    Err(LabError::while_doing(format!("boot {} again", machine.record.name))(error))
}

/// The machine's root, and a `/run` of our own: what systemd-nspawn notes there about a machine outlives it, and has
/// the same name for machines of the same name in different labs.
async fn mount(machine: &Machine<'_>) -> Result<(), LabError> {
    run("mount -t tmpfs -o mode=755 tmpfs /run").await?;
    let dir = machine.dir();
    let layers: Vec<String> = lower_layers(machine).iter().map(|layer| layer.display().to_string()).collect();
    run(&format!(
        "mount -t overlay overlay -o lowerdir={},upperdir={},workdir={} {}",
        layers.join(":"),
        machine.upper().display(),
        dir.join("work").display(),
        dir.join("root").display(),
    ))
    .await
}

/// Components over Ceph over base: each is shared by all machines and never written to.
fn lower_layers(machine: &Machine<'_>) -> Vec<PathBuf> {
    let components = Lab::dir(&machine.lab.name).join("components");
    let mut layers = Vec::new();
    if components.exists() {
        layers.push(components);
    }
    if machine.record.ceph {
        layers.push(ceph_layer::dir());
    }
    layers.push(base::dir());
    layers
}

/// One end here as `eth0`, the other on the bridge of the computer.
async fn link(machine: &Machine<'_>) -> Result<(), LabError> {
    let outside = machine.lab.name.link(machine.record.index);
    let host = format!("/proc/{}/fd/{HOST_NETWORK}", std::process::id());
    let on_host = format!("nsenter --net={host} ip link");
    network::delete_link(&on_host, &outside).await?; // of a boot that ended a moment ago
    run(&format!("ip link add eth0 address {} type veth peer name {outside} netns {host}", machine.record.mac)).await?;
    run(&format!("{on_host} set {outside} master {} up", machine.lab.name.bridge())).await
}

/// Boots the machine and waits until it is off; its exit code, if it had one.
fn boot(machine: &Machine<'_>) -> Result<Option<i32>, LabError> {
    let dir = machine.dir();
    let bind = |from: PathBuf, to: &str| format!("--bind={}:{to}", from.display());
    let mut command = in_groups(&machine.groups.system());
    command
        .args(["setpriv", "--pdeathsig", "TERM", "systemd-nspawn"]) // a clean power-off, should we be killed
        .args(["--quiet", "--register=no", "--keep-unit", "--boot", "--link-journal=no", "--private-users=no"])
        .args(["--capability=all", "--system-call-filter=@known", "--resolv-conf=off", "--bind=/dev/kmsg"])
        .arg(format!("--directory={}", dir.join("root").display()))
        .arg(format!("--machine={}", machine.record.name))
        .arg(format!("--network-namespace-path=/proc/{}/ns/net", std::process::id()))
        // An overlay cannot hold the overlays of containers.
        .arg(bind(dir.join("containerd"), "/var/lib/containerd"))
        .arg(bind(dir.join("kubelet"), "/var/lib/kubelet"))
        .arg(format!("--bind-ro={}:/usr/local/bin/blackstart", program(machine.lab).display()))
        .stdin(Stdio::null());
    let status = command.status().map_err(LabError::while_doing(format!("boot {}", machine.record.name)))?;
    Ok(status.code())
}
