//! The programs the lab needs on this computer.

use std::path::Path;

use crate::{LabError, run::run};

/// Program and the Debian package that has it.
const NEEDED: &[(&str, &str)] = &[
    ("systemd-nspawn", "systemd-container"),
    ("debootstrap", "debootstrap"),
    ("nft", "nftables"),
    ("ip", "iproute2"),
    ("mount", "mount"),
    ("nsenter", "util-linux"),
    ("tar", "tar"),
];

/// The packages that are missing.
pub(crate) fn missing() -> Vec<&'static str> {
    NEEDED.iter().filter(|(program, _)| !is_there(program)).map(|(_, package)| *package).collect()
}

fn is_there(program: &str) -> bool {
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        .iter()
        .any(|dir| Path::new(dir).join(program).exists())
}

/// Installs packages where that can be done, or says exactly what is missing.
pub(crate) async fn install(packages: &[&str]) -> Result<(), LabError> {
    let packages = packages.join(" ");
    if !is_there("apt-get") {
        return Err(LabError::NoPackages(packages));
    }
    run("apt-get update -q").await?;
    run(&format!("env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends {packages}")).await
}

/// Machines need mounts, namespaces and a bridge.
pub fn check_root() -> Result<(), LabError> {
    let user = nix::unistd::geteuid();
    if user.is_root() { Ok(()) } else { Err(LabError::NotRoot(user.as_raw())) }
}
