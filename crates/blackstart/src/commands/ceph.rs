//! `blackstart ceph`: one file per command.

mod csi_secret;
mod status;

use std::path::Path;

use ceph::paths;
use spec::Role;

use crate::{
    Failure,
    cli::CephCommand,
    context::{Context, Ended},
};

pub(super) fn run(context: &Context, command: &CephCommand) -> Result<(), Ended> {
    refuse_elsewhere(context)?;
    match command {
        CephCommand::Status => status::run(context),
        CephCommand::CsiSecret { pool, namespace, name } => csi_secret::run(context, pool.as_deref(), namespace, name),
    }
}

/// Only a monitor's node has the key with which everything can be asked.
fn refuse_elsewhere(context: &Context) -> Result<(), Ended> {
    if context.host.disk.exists(Path::new(paths::ADMIN_KEYRING))? {
        return Ok(());
    }
    let message = format!("{} is not there", paths::ADMIN_KEYRING);
    let failure = Failure::new(ceph::codes::NOT_HERE, message);
    // The reader of the hint wants to know where; a machine without a configuration does not know.
    let cluster = spec::check_dir(&context.config_source(None)).cluster;
    let monitors: Vec<String> =
        cluster.iter().flat_map(|cluster| cluster.with_role(Role::CephMon)).map(|node| node.name.clone()).collect();
    if monitors.is_empty() {
        return Err(failure.into());
    }
    Err(failure.with_hint(format!("run the command as root on a monitor's node: {}", monitors.join(", "))).into())
}
