//! The base image all machines share: Debian with systemd, made once and kept.
//!
//! It is made in a temporary directory and appears under its name when it is complete. The name carries a sum over
//! everything it is made from, so a change of the list below makes a new one. debootstrap runs in namespaces of its own
//! that end with us: a process that is killed while making an image leaves files, which the next one removes, but no process
//! that writes on and no mount.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use nix::sys::statvfs::statvfs;

use tokio::time::sleep;

use crate::{LabError, lock::Lock, run::run};

/// Where images are kept.
pub(crate) const HOME: &str = "/var/cache/blackstart/base";

const SUITE: &str = "bookworm";
const PACKAGES: &[&str] = &[
    "systemd",
    "systemd-sysv",
    "dbus",
    "libpam-systemd", // without the last one polkit and NetworkManager fail to set up
    "network-manager",
    "iproute2",
    "iputils-ping",
    "iptables",
    "nftables",
    "conntrack",
    "ethtool",
    "socat",
    "kmod",
    "procps",
    "util-linux",
    "e2fsprogs",
    "curl",
    "ca-certificates",
    "openssl",
];
/// Files that make a machine boot, stop and reboot quickly, and keep what a test wants to read.
const FILES: &[(&str, &str)] = &[
    ("etc/systemd/system.conf.d/lab.conf", "[Manager]\nDefaultTimeoutStopSec=5s\n"),
    ("etc/systemd/journald.conf.d/lab.conf", "[Journal]\nStorage=persistent\nSystemMaxUse=200M\n"),
    // The cluster's own network step takes over from here; until then the machine must reach its packages.
    ("etc/NetworkManager/conf.d/lab.conf", "[main]\nno-auto-default=*\n"),
    ("etc/machine-id", ""),
];
/// Services that only cost time in a machine without logins.
const MASKED: &[&str] =
    &["console-getty.service", "getty@.service", "apt-daily.timer", "apt-daily-upgrade.timer", "e2scrub_reap.service"];
/// Megabytes the image takes while it is being made.
const NEEDED_MB: u64 = 1500;

/// The directory of the image.
pub(crate) fn dir() -> PathBuf {
    let recipe = format!("{SUITE} {PACKAGES:?} {FILES:?} {MASKED:?}");
    Path::new(HOME).join(format!("{SUITE}-{:08x}", checksum(recipe.as_bytes())))
}

/// FNV-1a: the name only has to change with the recipe.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Makes the image.
pub(crate) async fn create() -> Result<(), LabError> {
    let dir = dir();
    let _making = only_maker(Path::new(HOME)).await?;
    if dir.exists() {
        return Ok(()); // another lab made it while we waited
    }
    let fresh = dir.with_extension("new");
    remove_tree(&fresh)?;
    check_space(Path::new(HOME), NEEDED_MB)?;
    run(&format!(
        "setpriv --pdeathsig KILL unshare --pid --mount --kill-child -- \
         debootstrap --variant=minbase --force-check-gpg --include={} {SUITE} {}",
        PACKAGES.join(","),
        fresh.display()
    ))
    .await?;
    for (path, text) in FILES {
        write(&fresh.join(path), text)?;
    }
    for unit in MASKED {
        mask(&fresh, &Path::new("/etc/systemd/system").join(unit))?;
    }
    // Else all machines would share one identity.
    remove_file(&fresh.join("var/lib/dbus/machine-id"))?;
    let archives = fresh.join("var/cache/apt/archives");
    for entry in fs::read_dir(&archives).into_iter().flatten().flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "deb") {
            remove_file(&entry.path())?;
        }
    }
    complete(&fresh, &dir).await
}

/// Waits until no other process makes something in a directory of images.
pub(crate) async fn only_maker(home: &Path) -> Result<Lock, LabError> {
    loop {
        match Lock::try_take(home)? {
            Some(lock) => return Ok(lock),
            // No deadline: the lock is the kernel's, so it is free as soon as the other one is done or dead.
            None => sleep(Duration::from_millis(200)).await,
        }
    }
}

/// Keeps a unit of an image from ever starting.
pub(crate) fn mask(image: &Path, unit: &Path) -> Result<(), LabError> {
    let link = image.join(unit.strip_prefix("/").unwrap_or(unit));
    std::os::unix::fs::symlink("/dev/null", &link).map_err(LabError::while_doing(format!("mask {}", unit.display())))
}

/// Gives an image its name: it is whole, and on the disk.
pub(crate) async fn complete(fresh: &Path, dir: &Path) -> Result<(), LabError> {
    run(&format!("sync -f {}", fresh.display())).await?;
    fs::rename(fresh, dir).map_err(LabError::while_doing(format!("rename {} to {}", fresh.display(), dir.display())))
}

/// Removes a directory with everything in it, if it is there.
pub(crate) fn remove_tree(dir: &Path) -> Result<(), LabError> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(LabError::while_doing(format!("remove {}", dir.display()))(error))
        }
        _ => Ok(()),
    }
}

/// Refuses to begin what would fill the disk.
pub(crate) fn check_space(path: &Path, needed: u64) -> Result<(), LabError> {
    let doing = format!("ask for the free space of {}", path.display());
    let found = statvfs(path).map_err(|error| LabError::System { doing, source: error.into() })?;
    let free = found.blocks_available() * found.fragment_size() / 1_000_000;
    if free < needed { Err(LabError::DiskSpace { path: path.to_path_buf(), free, needed }) } else { Ok(()) }
}

/// Writes a file of a machine that is not running.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), LabError> {
    let failed = || LabError::while_doing(format!("write {}", path.display()));
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).map_err(failed())?;
    }
    fs::write(path, text).map_err(failed())
}

/// Writes a file that only root may read.
pub(crate) fn write_secret(path: &Path, text: &str) -> Result<(), LabError> {
    write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
        .map_err(LabError::while_doing(format!("change the mode of {}", path.display())))
}

/// Removes a file, if it is there.
pub(crate) fn remove_file(path: &Path) -> Result<(), LabError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(LabError::while_doing(format!("remove {}", path.display()))(error))
        }
        _ => Ok(()),
    }
}
