//! The administrator's kubeconfig, made where the cluster's keys are.

use std::path::Path;

use ::host::{Change, Content, Disk};
use jiff::Timestamp;
use join::seal;
use pki::{Existing, Input, Shared, table};
use spec::ValidatedCluster;

use crate::Failure;

const NAME: &str = "admin.conf";

/// What writes it; nothing where the keys are not in `sealed`, and where a good one is there.
///
/// It leads to the cluster's endpoint. Where there is none, it leads to the machine that the cluster grows from.
pub(super) fn changes(
    disk: &dyn Disk,
    cluster: &ValidatedCluster,
    sealed: &Path,
    out: &Path,
    now: Timestamp,
) -> Result<Vec<Change>, Failure> {
    let Some(keeper) = seal::keeper(cluster) else { return Ok(Vec::new()) };
    let home = sealed.join(&keeper.name);
    if !disk.exists(&home.join(table::CLUSTER.key()))? {
        return Ok(Vec::new());
    }
    let dir = out.join("kubeconfigs");
    let path = dir.join("admin.kubeconfig");
    let input = Input::new(cluster, keeper, Shared::Bring);
    let ca = disk.read(&home.join(table::CLUSTER.certificate()))?;
    let server = input.server_url(table::Server::Endpoint);
    if let Some(bytes) = disk.read_optional(&path)?
        && pki::kubeconfig_flaw(&bytes, &ca, &server, now).is_none()
    {
        return Ok(Vec::new());
    }
    let planned = pki::plan(&Existing::read(disk, &home)?, &input, now)?;
    let made = planned.into_iter().find_map(|change| match change {
        Change::File { path, content, .. } if path.ends_with(NAME) => Some(content.bytes().to_vec()),
        _ => None,
    });
    let file = |bytes| Change::File { path, mode: 0o600, content: Content::Secret(bytes) };
    Ok(made.map(|bytes| vec![Change::Directory { path: dir, mode: 0o700 }, file(bytes)]).unwrap_or_default())
}
