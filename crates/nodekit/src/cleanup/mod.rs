//! What services make while they run, and no ledger records: processes, mounts, tables, routes, directories.
//!
//! The step that lets a service run owns what comes of it, and undoes it with these. Each checks first and takes away
//! only what bears our mark: a name of ours, a directory of ours, containerd's namespace of Kubernetes. Each may be
//! called twice, and on a machine where nothing was ever started.
//!
//! | what | how it is known to be ours |
//! |---|---|
//! | [`containers`] | they are in containerd's namespace `k8s.io` |
//! | [`mounts`] | they are below a directory of ours |
//! | [`nft`] | tables by their name |
//! | [`routes`] | by their protocol |
//! | [`settings`] | by their names, with the values they had |
//! | [`chains`] | chains of iptables by the names that the kubelet gives them |
//! | [`groups`] | control groups by the name that the kubelet gives them |
//! | [`tree`] | directories that were not there, or empty, before us |

pub mod chains;
pub mod containers;
pub mod groups;
pub mod mounts;
pub mod nft;
pub mod routes;
pub mod settings;
pub mod tree;

use engine::StepError;
use host::{Cmd, Host};

/// Runs a command of the machine and gives what it prints.
async fn run(host: &Host, command: Cmd) -> Result<String, StepError> {
    let printed = host.commands.run(&command).await.map_err(|error| StepError::from_explained(&error))?;
    Ok(printed.stdout)
}
