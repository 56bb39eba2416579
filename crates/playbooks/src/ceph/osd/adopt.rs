//! An OSD of ours whose files are gone, while its data is there: the machine's own disk was replaced, and the others stayed.
//!
//! Everything that the files held is in the label of the data, so they are made again and nothing has to be copied.
//! The act writes them, and not the engine: `ceph-bluestore-tool` makes most of them, and the number of the OSD, which is in
//! the path, is known from what it made.

use std::path::Path;

use ::ceph::{Fsid, codes, owned, paths};
use engine::StepError;
use host::{Change, Disk, Host};
use spec::OsdStore;

use super::{super::workspace, begun::Begun, make, stores::BLOCK};
use nodekit::cleanup::tree;

/// Makes the files again.
pub(super) async fn adopt(host: &Host, store: &OsdStore, ours: &Fsid) -> Result<(), StepError> {
    let disk = &*host.disk;
    let path = store.path();
    let data = Begun::workspace(path).join("data");
    tree::remove(disk, &data)?;
    Change::Directory { path: data.clone(), mode: 0o750 }.apply(disk)?;
    make::give(host, path).await?;
    owned::give(host, &data).await?;
    let prime = owned::as_ceph("ceph-bluestore-tool").args(["prime-osd-dir", "--no-mon-config", "--dev"]).arg(path);
    owned::run(host, &prime.arg("--path").arg(&data)).await?;
    if disk.read_link(&data.join(BLOCK))?.is_none() {
        Change::Link { path: data.join(BLOCK), target: path.to_path_buf() }.apply(disk)?;
    }
    owned::give(host, &data).await?;
    make::check(disk, &data, ours)?;
    let id = number(disk, &data)?;
    workspace::put_in_place(host, &data, &paths::osd(id)).await?;
    make::tidy(disk, path)
}

fn number(disk: &dyn Disk, data: &Path) -> Result<u32, StepError> {
    let text = disk.read_optional(&data.join("whoami"))?.unwrap_or_default();
    let id = String::from_utf8_lossy(&text).trim().parse().ok();
    let has_key = disk.exists(&data.join("keyring"))?;
    id.filter(|_| has_key).ok_or_else(|| {
        let message = format!("the label of the OSD that {} is made from has no number or no key", data.display());
        StepError::new(codes::LOST_SECRET, message)
    })
}
