//! `blackstart etcd`: the cluster's database. One file per command.

mod members;
pub(super) mod restore;
mod snapshot;
mod status;

use etcd::{Access, Etcd, EtcdError, Status};
use spec::{Node, ValidatedCluster};

use crate::{
    cli::EtcdCommand,
    context::{Context, Ended},
};

pub(super) fn run(context: &Context, command: &EtcdCommand) -> Result<(), Ended> {
    match command {
        EtcdCommand::Status => status::run(context),
        EtcdCommand::Members => members::run(context),
        EtcdCommand::Snapshot { file } => snapshot::run(context, file),
        EtcdCommand::Restore { file, node, yes } => restore::run(context, file, node.as_deref(), *yes),
    }
}

fn access(context: &Context) -> Result<Access, Ended> {
    Ok(Access::read(&*context.host.disk, &context.layout.kubernetes_dir)?)
}

/// All masters, by name and where clients reach their etcd.
fn masters(cluster: &ValidatedCluster) -> impl Iterator<Item = (String, String)> {
    cluster.masters().map(|master| (master.name.clone(), etcd::client_url(master.ip)))
}

/// A member that answers, this machine's own before the others, and what it says of itself.
pub(super) async fn any_member(
    access: &Access,
    cluster: &ValidatedCluster,
    own: &Node,
) -> Result<(Etcd, Status), EtcdError> {
    let member = access.member(etcd::client_url(own.ip));
    let error = match member.status().await {
        Ok(status) => return Ok((member, status)),
        Err(error) => error,
    };
    for (_, url) in masters(cluster).filter(|(name, _)| *name != own.name) {
        let member = access.member(url);
        if let Ok(status) = member.status().await {
            return Ok((member, status));
        }
    }
    // Where no member answers, its own is the one to look at.
    Err(error)
}
