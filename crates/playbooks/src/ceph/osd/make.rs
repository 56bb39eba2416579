//! Makes the data of one OSD. Everything here may be done again after a crash anywhere.
//!
//! These files are written by the act and not planned one by one: they are what `ceph-osd --mkfs` works on, in a directory
//! beside the place, named by a number that only the monitors give. What is in place is whole, and is undone as a whole.

use std::path::Path;

use ::ceph::{
    CephError, Client, Entity, Fsid, codes, keyring_text,
    owned::{self, run},
    paths,
};
use engine::StepError;
use host::{Change, Cmd, CommandError, Content, Disk, Host};
use spec::{Osd, OsdStore};

use super::{
    super::{client, workspace},
    begun::Begun,
    stores::BLOCK,
};
use nodekit::cleanup::tree;

/// How much of a device is overwritten, at least: labels, partition tables and the beginnings of file systems.
const HEAD_MIB: &str = "count=16";

/// From nothing, or from wherever an earlier run has come to, to data in its place.
pub(super) async fn make(host: &Host, osd: &Osd, ours: &Fsid) -> Result<(), StepError> {
    let disk = &*host.disk;
    let store = osd.store.path();
    let begun = if let Some(begun) = Begun::all(disk)?.into_iter().find(|begun| begun.store == store) {
        begun
    } else {
        let begun = Begun::new(store, host.clock.now()).map_err(|error| StepError::from_explained(&error))?;
        begun.note().apply(disk)?;
        begun
    };
    prepare(host, &osd.store).await?;
    host.doing(format!("asking the monitors for a number for the OSD on {}", store.display()));
    let id = number(host, &begun).await?;
    host.doing(format!("making osd.{id} on {}", store.display()));
    let room = Begun::workspace(store);
    let (data, key) = (room.join("data"), room.join("key"));
    lay_out(disk, &data, id, &begun)?;
    let secret = Content::Secret(begun.key.expose().as_bytes().to_vec());
    Change::File { path: key.clone(), mode: 0o600, content: secret }.apply(disk)?;
    owned::give(host, &room).await?;
    run(host, &mkfs(id, &data, &key, &begun)).await?;
    check(disk, &data, ours)?;
    workspace::put_in_place(host, &data, &paths::osd(id)).await?;
    tidy(disk, store)
}

/// Removes what a crash has left behind an OSD that is in place.
pub(super) fn tidy(disk: &dyn Disk, store: &Path) -> Result<(), StepError> {
    Ok(tree::remove(disk, &Begun::workspace(store))?)
}

/// Makes a device or file look as if nothing had ever been there.
pub(super) async fn wipe(host: &Host, store: &Path) -> Result<(), StepError> {
    run(host, &Cmd::new("wipefs").arg("--all").arg(store)).await?;
    let to = format!("of={}", store.display());
    run(host, &Cmd::new("dd").args(["if=/dev/zero", &to, "bs=1M", HEAD_MIB, "conv=notrunc,fsync"])).await?;
    Ok(())
}

async fn prepare(host: &Host, store: &OsdStore) -> Result<(), StepError> {
    if let OsdStore::File { path, size } = store {
        // Only as large as what is written to it.
        run(host, &Cmd::new("truncate").args(["--size", &size.to_string()]).arg(path)).await?;
        // No other user may read what is stored in it.
        host.disk.set_mode(path, 0o600)?;
    }
    give(host, store.path()).await
}

/// Lets the daemons read and write a device or file.
pub(super) async fn give(host: &Host, store: &Path) -> Result<(), StepError> {
    run(host, &Cmd::new("chown").args(["--dereference", "ceph:ceph"]).arg(store)).await?;
    Ok(())
}

/// The monitors give the same number to the same UUID and key, however often they are asked.
async fn number(host: &Host, begun: &Begun) -> Result<u32, StepError> {
    let bootstrap = Client::new(host, Entity::BootstrapOsd, paths::BOOTSTRAP_OSD_KEYRING);
    let secret = serde_json::json!({ "cephx_secret": begun.key.expose() }).to_string();
    let output = bootstrap.send_with(&["osd", "new", begun.uuid.as_str(), "-i", "-"], secret).await;
    let output = output.map_err(|error| match &error {
        CephError::Command(CommandError::Failed { output, .. }) if output.contains("EEXIST") => {
            StepError::new(codes::LOST_SECRET, format!("Ceph knows the OSD {} under another key", begun.uuid))
        }
        _ => client::failed(&error),
    })?;
    output.trim().parse().map_err(|_| {
        StepError::new(codes::GARBLED, format!("the answer to `ceph osd new` is no number: `{}`", output.trim()))
    })
}

fn lay_out(disk: &dyn Disk, data: &Path, id: u32, begun: &Begun) -> Result<(), StepError> {
    tree::remove(disk, data)?;
    let keyring = Content::Secret(keyring_text([(&Entity::Osd(id), &begun.key)]).into_bytes());
    for change in [
        Change::Directory { path: data.to_path_buf(), mode: 0o750 },
        Change::Link { path: data.join(BLOCK), target: begun.store.clone() },
        Change::File { path: data.join("keyring"), mode: 0o600, content: keyring },
    ] {
        change.apply(disk)?;
    }
    Ok(())
}

/// With its key the label holds all that is needed to make the files again.
fn mkfs(id: u32, data: &Path, key: &Path, begun: &Begun) -> Cmd {
    owned::as_ceph("ceph-osd")
        .args(["--mkfs", "--id", &id.to_string(), "--osd-objectstore", "bluestore"])
        .args(["--osd-uuid", begun.uuid.as_str(), "--osd-data"])
        .arg(data)
        .arg("--keyfile")
        .arg(key)
}

/// What was made must say that it is ours, or no later run would know it.
pub(super) fn check(disk: &dyn Disk, data: &Path, ours: &Fsid) -> Result<(), StepError> {
    let text = disk.read_optional(&data.join(paths::CEPH_FSID))?.unwrap_or_default();
    if Fsid::parse(&String::from_utf8_lossy(&text)).as_ref() == Some(ours) {
        return Ok(());
    }
    Err(StepError::new(codes::GARBLED, format!("`ceph-osd --mkfs` has left {} without our fsid", data.display())))
}
