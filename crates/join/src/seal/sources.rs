//! The files of the configuration, as texts to be copied into every directory.

use std::{collections::BTreeMap, path::Path};

use host::{Disk, HostError, Kind};

use super::layout;

/// `cluster.yaml` and the files of `nodes/`.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The text of `cluster.yaml`.
    pub cluster: Vec<u8>,
    /// The files of `nodes/` by name, `master-01.yaml` for example.
    pub nodes: BTreeMap<String, Vec<u8>>,
}

impl Sources {
    /// Reads the directory that was checked; other files than those of the configuration stay behind.
    pub fn read(disk: &dyn Disk, dir: &Path) -> Result<Self, HostError> {
        let cluster = disk.read(&dir.join(layout::CLUSTER))?;
        let folder = dir.join(layout::NODES);
        let mut nodes = BTreeMap::new();
        if disk.meta(&folder)?.is_some_and(|meta| meta.kind == Kind::Directory) {
            for name in disk.list(&folder)?.into_iter().filter(|name| is_node_file(name)) {
                let text = disk.read(&folder.join(&name))?;
                nodes.insert(name, text);
            }
        }
        Ok(Self { cluster, nodes })
    }
}

fn is_node_file(name: &str) -> bool {
    let ending = Path::new(name).extension();
    !name.starts_with('.') && ending.is_some_and(|ending| ending == "yaml" || ending == "yml")
}
