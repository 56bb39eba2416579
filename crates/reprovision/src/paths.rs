//! Where things are on a node that is worked on.

use std::path::{Path, PathBuf};

/// Note, ledger, report, Secret and payload of the run: 0700.
pub const STATE_DIR: &str = "/var/lib/blackstart-reprovision";
/// This program, as the pod brings it.
pub const PROGRAM: &str = "/opt/blackstart-reprovision/blackstart";
/// Follows orders while the kubelet runs.
pub const UNIT: &str = "blackstart-reprovision.service";
/// Goes on before the kubelet with what a reboot has interrupted.
pub const BOOT_UNIT: &str = "blackstart-reprovision-boot.service";
/// Where units are.
pub const UNITS: &str = "/etc/systemd/system";

/// A file of the state directory.
pub fn state(name: &str) -> PathBuf {
    Path::new(STATE_DIR).join(name)
}

/// How far the node is, in its own words: what it goes on from after a crash.
pub fn note() -> PathBuf {
    state("note.json")
}

/// What was reported to the cluster last, or will be once it can be.
pub fn report() -> PathBuf {
    state("report.json")
}

/// The Secret of the run: 0600, removed at its end.
pub fn secret() -> PathBuf {
    state("secret.json")
}

/// What was fetched for the run: 0700, removed at its end.
pub fn payload() -> PathBuf {
    state("payload")
}

/// What a way back needs: files as they were.
pub fn kept() -> PathBuf {
    state("kept")
}
