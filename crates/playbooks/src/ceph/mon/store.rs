//! A monitor's data: made beside its place and moved there when it is whole, so that what is in place is always whole. The
//! files on the way are input of `ceph-mon --mkfs` and gone afterwards, so the act writes them and no plan shows them.

use std::path::Path;

use ::ceph::{
    Client, Handed, monmap,
    owned::{self, run},
    paths,
};
use engine::StepError;
use host::{Change, Cmd, Content, Host};
use spec::{Role, ValidatedCluster};

use super::super::{client, workspace};
use nodekit::cleanup::tree;

/// Where the first map comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Made here, the same on every initial monitor.
    InitialMonmap,
    /// Asked of the monitors that are there.
    Quorum,
}

/// Makes the data of the monitor `name`. Whatever an earlier run left unfinished is removed first.
pub(super) async fn make(
    host: &Host,
    cluster: &ValidatedCluster,
    name: &str,
    handed: &Handed,
    origin: Origin,
) -> Result<(), StepError> {
    let disk = &*host.disk;
    let room = workspace::of(paths::MON, name);
    let (data, map, keyring) = (room.join("data"), room.join("monmap"), room.join("keyring"));
    tree::remove(disk, &room)?;
    Change::Directory { path: data.clone(), mode: 0o750 }.apply(disk)?;
    let managers = cluster.with_role(Role::CephMgr).map(|node| node.name.clone());
    let text = handed.monitor_keyring(managers).into_bytes();
    Change::File { path: keyring.clone(), mode: 0o600, content: Content::Secret(text) }.apply(disk)?;
    match origin {
        Origin::InitialMonmap => drop(run(host, &monmap::make(&handed.fsid, &handed.initial_monitors, &map)).await?),
        Origin::Quorum => {
            let to = map.display().to_string();
            Client::admin(host).send(&["mon", "getmap", "-o", &to]).await.map_err(|error| client::failed(&error))?;
        }
    }
    owned::give(host, &room).await?;
    run(host, &mkfs(name, &data, &map, &keyring)).await?;
    let mark = Content::Plain(format!("{}\n", handed.fsid).into_bytes());
    Change::File { path: data.join(paths::CEPH_FSID), mode: 0o644, content: mark }.apply(disk)?;
    workspace::put_in_place(host, &data, &paths::mon(name)).await?;
    Ok(tree::remove(disk, &room)?)
}

fn mkfs(name: &str, data: &Path, map: &Path, keyring: &Path) -> Cmd {
    owned::as_ceph("ceph-mon")
        .args(["--mkfs", "--id", name, "--mon-data"])
        .arg(data)
        .arg("--monmap")
        .arg(map)
        .arg("--keyring")
        .arg(keyring)
}
