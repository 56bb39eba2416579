//! The files of the configuration, as texts to be copied into the directories.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use host::{Disk, HostError, Kind};
use spec::{NetworkAddOn, ValidatedCluster};

use super::layout;

/// `cluster.yaml`, the files of `nodes/`, and what `cluster.yaml` refers to.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The text of `cluster.yaml`.
    pub cluster: Vec<u8>,
    /// The files of `nodes/` by name, `master-01.yaml` for example.
    pub nodes: BTreeMap<String, Vec<u8>>,
    /// The network add-on's manifests by their path beside `cluster.yaml`; masters apply them.
    pub add_on: BTreeMap<PathBuf, Vec<u8>>,
}

impl Sources {
    /// Reads the directory that was checked; other files than those of the configuration stay behind.
    pub fn read(disk: &dyn Disk, dir: &Path, cluster: &ValidatedCluster) -> Result<Self, HostError> {
        let text = disk.read(&dir.join(layout::CLUSTER))?;
        let folder = dir.join(layout::NODES);
        let mut nodes = BTreeMap::new();
        if is_directory(disk, &folder)? {
            for name in disk.list(&folder)?.into_iter().filter(|name| is_node_file(name)) {
                let text = disk.read(&folder.join(&name))?;
                nodes.insert(name, text);
            }
        }
        Ok(Self { cluster: text, nodes, add_on: add_on(disk, dir, cluster)? })
    }
}

/// The manifests of the network add-on. One that does not lie beside `cluster.yaml` is on the masters by other means.
fn add_on(disk: &dyn Disk, dir: &Path, cluster: &ValidatedCluster) -> Result<BTreeMap<PathBuf, Vec<u8>>, HostError> {
    let mut files = BTreeMap::new();
    let path = match &cluster.networking().add_on {
        NetworkAddOn::Manifest(path) if is_below(path) => PathBuf::from(path),
        _ => return Ok(files),
    };
    let names = if is_directory(disk, &dir.join(&path))? {
        disk.list(&dir.join(&path))?.into_iter().map(|name| path.join(name)).collect()
    } else {
        vec![path]
    };
    for name in names {
        if !is_directory(disk, &dir.join(&name))? {
            let text = disk.read(&dir.join(&name))?;
            files.insert(name, text);
        }
    }
    Ok(files)
}

fn is_below(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

fn is_directory(disk: &dyn Disk, path: &Path) -> Result<bool, HostError> {
    Ok(disk.meta(path)?.is_some_and(|meta| meta.kind == Kind::Directory))
}

fn is_node_file(name: &str) -> bool {
    let ending = Path::new(name).extension();
    !name.starts_with('.') && ending.is_some_and(|ending| ending == "yaml" || ending == "yml")
}
