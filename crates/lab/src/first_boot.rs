//! The first boot of a machine that is set up by Ignition: the real program works on the machine's root before its first process
//! starts, as it does from an initrd on metal.
//!
//! The config waits in the machine's directory and is removed when all of it is done; until then every boot begins with it.
//! Ignition that was killed runs again over its own files; what it had under a temporary name, which may be a secret, is removed first.

use std::{
    fs::{self, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use bundle::Component;
use tokio::process::Command;

use crate::{LabError, Machine, run::run};

/// Where the programs are kept; all labs share them.
pub(crate) const HOME: &str = "/var/cache/blackstart/ignition";
/// The row of the table of components, which has the version.
pub(crate) const COMPONENT: &str = "ignition";

/// Where Ignition finds the machine's root. The lab's own directories are closed to all but root, and SSH keys are written by the user
/// that they are for.
const ROOT: &str = "/run/sysroot";
const OFFLINE: &str = "fetch-offline";
const FETCH: &str = "fetch";
const FILES: &str = "files";
/// Written by the first stage if the config is elsewhere.
const NEEDS_NETWORK: &str = "/run/ignition/neednet";
/// Ignition's own note that it has done everything.
const RESULT: &str = "etc/.ignition-result.json";
/// What Ignition says about units. It enables none itself: it counts on a first boot that presets every unit of the system.
const PRESETS: &str = "etc/systemd/system-preset/20-ignition.preset";

/// Whether the programs of the wanted version are there.
pub(crate) fn is_there() -> bool {
    let held = bundle::Manifest::read(Path::new(HOME)).ok();
    let held = held.as_ref().and_then(|manifest| manifest.component(COMPONENT));
    held.is_some_and(|entry| Component::named(COMPONENT).is_ok_and(|wanted| wanted.version == entry.version))
}

/// What Ignition printed.
pub(crate) fn log(machine: &Machine<'_>) -> PathBuf {
    machine.dir().join("ignition.log")
}

/// If it is at work.
pub(crate) fn last_log_line(machine: &Machine<'_>) -> Option<String> {
    let text = machine.pending_config().exists().then(|| fs::read_to_string(log(machine)).ok()).flatten()?;
    text.lines().rfind(|line| !line.trim().is_empty()).map(|line| explain::plain(line).into_owned())
}

/// Sets the machine up, if it has to be; its root is mounted and its link made.
pub(crate) async fn set_up(machine: &Machine<'_>) -> Result<(), LabError> {
    let config = machine.pending_config();
    if !config.exists() {
        return Ok(());
    }
    let root = Path::new(ROOT);
    let failed = |doing: &str| LabError::while_doing(format!("{doing} of {}", machine.record.name));
    fs::create_dir_all(root).map_err(failed("make a directory for the root"))?;
    run(&format!("mount --bind {} {ROOT}", machine.dir().join("root").display())).await?;
    // Ignition reads the one before, and half of one stops it.
    match fs::remove_file(root.join(RESULT)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed("remove the result")(error)),
        _ => {}
    }
    for left in left_behind(&machine.upper()).map_err(failed("look for what a killed run left"))? {
        fs::remove_file(root.join(left)).map_err(failed("remove what a killed run left"))?;
    }
    fs::create_dir_all("/run/ignition").map_err(failed("make a directory for the first boot"))?;
    stage(machine, OFFLINE).await?;
    if Path::new(NEEDS_NETWORK).exists() {
        network_up(machine).await?;
        stage(machine, FETCH).await?;
        run("ip addr flush dev eth0").await?;
        run("ip link set eth0 down").await?; // the machine finds it as new as it was
    }
    stage(machine, FILES).await?;
    fs::metadata(root.join(RESULT)).map_err(failed("find Ignition's result on the disk"))?;
    let presets = match fs::read_to_string(root.join(PRESETS)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed("read the presets")(error)),
    };
    for unit in units(&presets) {
        run(&format!("systemctl --quiet --root={ROOT} preset {unit}")).await?;
    }
    run(&format!("umount {ROOT}")).await?;
    fs::remove_file(&config).map_err(failed("remove the config"))
}

/// One stage, to its end. It ends with this process.
async fn stage(machine: &Machine<'_>, stage: &str) -> Result<(), LabError> {
    let doing = || LabError::while_doing(format!("run Ignition's stage `{stage}` for {}", machine.record.name));
    let path = log(machine);
    let log = OpenOptions::new().create(true).append(true).mode(0o600).open(&path).map_err(doing())?;
    let status = Command::new("setpriv")
        .args(["--pdeathsig", "KILL"])
        .arg(Path::new(HOME).join("bin/ignition"))
        .args(["--platform", "file", "--log-to-stdout", "--stage", stage, "--root", ROOT])
        .env("IGNITION_CONFIG_FILE", machine.pending_config())
        .stdin(std::process::Stdio::null())
        .stdout(log)
        // When a stage fails, Ignition prints the whole config there, with all secrets.
        .stderr(std::process::Stdio::null())
        .status()
        .await
        .map_err(doing())?;
    if status.success() {
        return Ok(());
    }
    let text = fs::read_to_string(&path).unwrap_or_default();
    Err(LabError::Ignition {
        machine: machine.record.name.clone(),
        stage: stage.to_owned(),
        why: cause(&text),
        log: path,
    })
}

/// As an initrd has it, until the config is there.
async fn network_up(machine: &Machine<'_>) -> Result<(), LabError> {
    run(&format!("ip addr add {}/{} dev eth0", machine.record.ip, machine.lab.subnet.prefix_len())).await?;
    run("ip link set eth0 up").await?;
    match machine.lab.gateway {
        Some(gateway) => run(&format!("ip route add default via {gateway}")).await,
        None => Ok(()),
    }
}

/// The units that presets name, each once: a second run adds the same lines again.
fn units(presets: &str) -> Vec<&str> {
    let named = |line: &&str| !line.starts_with('#');
    let mut units: Vec<&str> =
        presets.lines().filter(named).filter_map(|line| line.split_whitespace().nth(1)).collect();
    units.sort_unstable();
    units.dedup();
    units
}

/// Files below a directory that have the name of a file in the making: `tmp` and a number.
fn left_behind(upper: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut dirs = vec![upper.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir)? {
            let (entry, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
            let kind = fs::symlink_metadata(&entry)?.file_type();
            let number = name.to_str().and_then(|name| name.strip_prefix("tmp")).unwrap_or_default();
            if kind.is_dir() {
                dirs.push(entry);
            } else if kind.is_file() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
                found.extend(entry.strip_prefix(upper).map(Path::to_path_buf));
            }
        }
    }
    Ok(found)
}

/// The last line of a log that says what failed; never more than a line.
fn cause(log: &str) -> String {
    let says = |line: &&str| line.contains("CRITICAL") || line.contains("failed");
    let line = log.lines().rfind(says).or_else(|| log.lines().last()).unwrap_or("it printed nothing");
    explain::plain(line).chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_is_preset_once() {
        let text = "enable b.service\nenable a.service\n# enable c.service\n\nenable b.service\ndisable d.service\n";
        assert_eq!(units(text), ["a.service", "b.service", "d.service"]);
        assert_eq!(units(""), [""; 0]);
    }

    #[test]
    fn only_files_in_the_making_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("etc/tmp5")).unwrap();
        for name in ["etc/tmp12", "etc/tmp", "etc/tmp1a", "etc/tmp5/tmp7", "etc/hostname"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let mut found = left_behind(dir.path()).unwrap();
        found.sort();
        assert_eq!(found, [Path::new("etc/tmp12"), Path::new("etc/tmp5/tmp7")]);
    }

    #[test]
    fn the_cause_is_one_line() {
        let log = "INFO     : Stage: fetch\nCRITICAL : failed to fetch config: unsupported version\nINFO     : bye\n";
        assert_eq!(cause(log), "CRITICAL : failed to fetch config: unsupported version");
        assert_eq!(cause(""), "it printed nothing");
    }
}
