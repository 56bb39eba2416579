//! What connects the pods: nothing to be applied for our own, a manifest for any other.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::{About, StepError};
use host::{Host, Kind};
use serde_json::Value;
use spec::{NetworkAddOn, ValidatedCluster};

use super::{Objects, ids};
use crate::access::Access;
use nodekit::Layout;

/// Applies the manifest, if there is one, and waits until its workloads run. Our own add-on is the agent's business.
pub(super) fn step(cluster: &ValidatedCluster, layout: &Layout, access: &Arc<Access>) -> Objects {
    let about =
        About::new(ids::NETWORK_ADD_ON, "Apply the network add-on", "pods on different nodes reach each other by it");
    let manifest = match &cluster.networking().add_on {
        NetworkAddOn::Basic | NetworkAddOn::None => None,
        NetworkAddOn::Manifest(path) => Some(layout.config_dir.join(path)),
    };
    Objects::new(about, access, move |host| manifest.as_ref().map_or_else(|| Ok(Vec::new()), |path| read(host, path)))
}

/// The objects of a file, or of all YAML and JSON files of a directory in the order of their names.
fn read(host: &Host, path: &Path) -> Result<Vec<Value>, StepError> {
    let is_dir = host.disk.meta(path)?.is_some_and(|meta| meta.kind == Kind::Directory);
    let mut files = if is_dir {
        host.disk.list(path)?.into_iter().map(|name| path.join(name)).collect()
    } else {
        vec![path.to_path_buf()]
    };
    let is_manifest =
        |file: &PathBuf| file.extension().is_some_and(|end| ["yaml", "yml", "json"].iter().any(|known| end == *known));
    if is_dir {
        files.retain(is_manifest);
        files.sort();
    }
    let mut objects = Vec::new();
    for file in files {
        let text = host.disk.read(&file)?;
        let parsed = kubeapi::parse(&file.display().to_string(), &String::from_utf8_lossy(&text));
        objects.extend(parsed.map_err(|error| StepError::from_explained(&error))?);
    }
    Ok(objects)
}
