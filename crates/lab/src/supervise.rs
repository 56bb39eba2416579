//! The supervisor of one machine: mounts it, links it to the bridge, boots it, and boots it again after a reboot.
//!
//! It runs as a process of its own, in mount and network namespaces of its own, started by [`start`]. All that it mounts
//! and links goes away with the namespaces, so a `kill -9` of it and of the machine leaves neither mount nor interface.

use std::{
    fs::{self, OpenOptions},
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use host::{Disk, RealDisk};

use crate::{Lab, LabError, LabName, Machine, Surroundings, base, run::run};

/// systemd-nspawn's exit code when the machine asked for a reboot.
const REBOOT: i32 = 133;

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
    let told = log.metadata().map_or(0, |meta| meta.len());
    let errors = log.try_clone().map_err(LabError::while_doing(format!("open {}", console.display())))?;
    // The supervisor keeps a handle on this computer's network, to reach the bridge from its own.
    let line = format!(
        "exec {HOST_NETWORK}</proc/self/ns/net; exec setsid unshare --net --mount --propagation private \"$@\""
    );
    let mut supervisor = Command::new("sh")
        .args(["-c", &line, "sh"])
        .arg(program(machine.lab))
        .args(["lab", "supervise", machine.lab.name.as_str(), &machine.record.name])
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(errors)
        .spawn()
        .map_err(LabError::while_doing(&*doing))?;
    while machine.groups.leader().is_none() {
        if supervisor.try_wait().map_err(LabError::while_doing(&*doing))?.is_some() {
            let said = fs::read_to_string(&console).unwrap_or_default();
            let said = said.get(usize::try_from(told).unwrap_or(0)..).unwrap_or_default().trim();
            let said = said.lines().next().unwrap_or("its supervisor ended without a word").to_owned();
            return Err(LabError::System { doing, source: std::io::Error::other(said) });
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// The copy of this program that supervises and that the machines have: a rebuild must not pull it away under them.
pub(crate) fn program(lab: &Lab) -> PathBuf {
    Lab::dir(&lab.name).join("blackstart")
}

/// Whether a supervisor holds the machine.
pub(crate) fn is_supervised(machine: &Machine<'_>) -> bool {
    let lock = machine.dir().join("supervisor.lock");
    lock.exists() && matches!(RealDisk::new("/").try_lock(&lock), Ok(None))
}

/// Supervises a machine until it is off.
pub async fn supervise(name: &LabName, machine: &str) -> Result<(), LabError> {
    let lab = Lab::open(name)?;
    let surroundings = Surroundings::look()?;
    let machine = Machine::new(&lab, machine, &surroundings)?;
    let lock = machine.dir().join("supervisor.lock");
    let held = RealDisk::new("/").try_lock(&lock);
    let Some(guard) =
        held.map_err(|error| LabError::System { doing: format!("lock {}", lock.display()), source: error.source })?
    else {
        return Ok(()); // another supervisor has it
    };
    let _ = guard.note(&std::process::id().to_string());

    mount(&machine).await?;
    link(&machine).await?;
    machine.groups.create()?;
    loop {
        let status = boot(&machine)?;
        if status != Some(REBOOT) {
            return Ok(());
        }
        // What the old system had set up on the link is not there after a real reboot.
        run("ip addr flush dev eth0").await?;
        run("ip link set eth0 down").await?;
    }
}

async fn mount(machine: &Machine<'_>) -> Result<(), LabError> {
    let dir = machine.dir();
    let layers: Vec<String> = lower_layers(machine.lab).iter().map(|layer| layer.display().to_string()).collect();
    run(&format!(
        "mount -t overlay overlay -o lowerdir={},upperdir={},workdir={} {}",
        layers.join(":"),
        machine.upper().display(),
        dir.join("work").display(),
        dir.join("root").display(),
    ))
    .await
}

/// Components over base: each is shared by all machines and never written to.
fn lower_layers(lab: &Lab) -> Vec<PathBuf> {
    let components = Lab::dir(&lab.name).join("components");
    let mut layers = Vec::new();
    if components.exists() {
        layers.push(components);
    }
    layers.push(base::dir());
    layers
}

/// One end here as `eth0`, the other on the bridge of the computer.
async fn link(machine: &Machine<'_>) -> Result<(), LabError> {
    let outside = machine.lab.name.link(machine.record.index);
    let host = format!("/proc/{}/fd/{HOST_NETWORK}", std::process::id());
    let on_host = format!("nsenter --net={host} ip link");
    if run(&format!("{on_host} show dev {outside}")).await.is_ok() {
        run(&format!("{on_host} delete {outside}")).await?; // of a machine that was killed a moment ago
    }
    run(&format!("ip link add eth0 address {} type veth peer name {outside} netns {host}", machine.record.mac)).await?;
    run(&format!("{on_host} set {outside} master {} up", machine.lab.name.bridge())).await
}

/// Boots the machine and waits until it is off; its exit code, if it had one.
fn boot(machine: &Machine<'_>) -> Result<Option<i32>, LabError> {
    let dir = machine.dir();
    let bind = |from: PathBuf, to: &str| format!("--bind={}:{to}", from.display());
    let mut command = in_groups(&machine.groups.join_dirs()?);
    command
        .arg("systemd-nspawn")
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
