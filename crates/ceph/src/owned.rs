//! Files that Ceph's daemons must be able to read: they run as a user of their own.

use std::path::{Path, PathBuf};

use host::{Cmd, CommandError, Host};

/// User and group of the daemons.
const OWNER: &str = "ceph:ceph";

/// Those of the paths that belong to another user.
pub async fn foreign(host: &Host, paths: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let mut foreign = Vec::new();
    if host.is_live {
        for path in paths {
            let command = Cmd::new("stat").args(["--format", "%U:%G"]).arg(path);
            if run(host, &command).await?.trim() != OWNER {
                foreign.push(path.clone());
            }
        }
    }
    Ok(foreign)
}

/// Gives a path to the daemons, with all that is below it.
pub async fn give(host: &Host, path: &Path) -> Result<(), CommandError> {
    run(host, &Cmd::new("chown").args(["--recursive", OWNER]).arg(path)).await.map(drop)
}

/// Runs a command as the daemons' user would.
pub fn as_ceph(program: &str) -> Cmd {
    Cmd::new("runuser").args(["-u", "ceph", "--", program])
}

/// Runs a command to its end.
pub async fn run(host: &Host, command: &Cmd) -> Result<String, CommandError> {
    host.commands.run(command).await.map(|printed| printed.stdout)
}
