//! Where things are on a node that is prepared.

use std::path::{Path, PathBuf};

use crate::Prep;

/// Ledger, lock and report of one preparation.
pub fn state_dir(prep: Prep) -> PathBuf {
    Path::new("/var/lib/node-bootstrap").join(prep.name())
}

/// What the last run found.
pub fn report(prep: Prep) -> PathBuf {
    state_dir(prep).join("report.json")
}

/// The script that the documents name; it calls the installed program.
pub fn script(prep: Prep) -> PathBuf {
    PathBuf::from(format!("/usr/local/bin/{prep}-bootstrap.sh"))
}

/// The program as the pod brings it to the host.
pub fn program(prep: Prep) -> PathBuf {
    Path::new("/opt/node-bootstrap").join(prep.name()).join("blackstart")
}

/// Options for the program, as the `ConfigMap` has them; the script reads them, so that a run by hand is the same run.
pub fn options(prep: Prep) -> PathBuf {
    program(prep).with_file_name("options")
}

/// What the documents of the GPU preparation call its marker: what was verified, and when.
pub const GPU_MARKER: &str = "/var/lib/gpu-bootstrap.done";

/// The unit of the host that does the work.
pub fn unit(prep: Prep) -> String {
    format!("node-bootstrap-{prep}.service")
}
