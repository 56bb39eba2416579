//! The programs the lab needs on this computer.

use std::path::Path;

use crate::{LabError, run::run};

/// Where programs are, whatever `PATH` says: root's is often short.
const PLACES: &[&str] = &["usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin", "sbin", "bin"];

/// Program and the Debian package that has it.
const NEEDED: &[(&str, &str)] = &[
    ("systemd-nspawn", "systemd-container"),
    ("debootstrap", "debootstrap"),
    ("nft", "nftables"),
    ("ip", "iproute2"),
    ("mount", "mount"),
    ("nsenter", "util-linux"),
    ("setpriv", "util-linux"),
    ("unshare", "util-linux"),
    ("kill", "procps"),
    ("tar", "tar"),
    // For the first boot by Ignition.
    ("useradd", "passwd"),
    ("systemctl", "systemd"),
];

/// The packages that are missing.
pub(crate) fn missing() -> Vec<&'static str> {
    missing_below(Path::new("/"))
}

fn missing_below(root: &Path) -> Vec<&'static str> {
    let mut packages: Vec<&str> =
        NEEDED.iter().filter(|(program, _)| !is_there(root, program)).map(|(_, package)| *package).collect();
    packages.dedup();
    packages
}

fn is_there(root: &Path, program: &str) -> bool {
    PLACES.iter().any(|dir| root.join(dir).join(program).exists())
}

/// Installs packages where that can be done, or says exactly what is missing.
pub(crate) async fn install(packages: &[&str]) -> Result<(), LabError> {
    let packages = packages.join(" ");
    if !is_there(Path::new("/"), "apt-get") {
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_missing_package_is_named_once() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(
            missing_below(root.path()),
            [
                "systemd-container",
                "debootstrap",
                "nftables",
                "iproute2",
                "mount",
                "util-linux",
                "procps",
                "tar",
                "passwd",
                "systemd"
            ]
        );
        let install = |program: &str, dir: &str| {
            fs::create_dir_all(root.path().join(dir)).unwrap();
            fs::write(root.path().join(dir).join(program), "").unwrap();
        };
        for (program, dir) in [("systemd-nspawn", "usr/bin"), ("nft", "usr/sbin"), ("nsenter", "usr/local/bin")] {
            install(program, dir);
        }
        // One program of util-linux is not all of them.
        assert_eq!(
            missing_below(root.path()),
            ["debootstrap", "iproute2", "mount", "util-linux", "procps", "tar", "passwd", "systemd"]
        );
        for (program, _) in NEEDED {
            install(program, "bin");
        }
        assert_eq!(missing_below(root.path()), [""; 0]);
    }
}
