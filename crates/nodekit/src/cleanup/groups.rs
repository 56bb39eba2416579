//! The control groups that the kubelet makes for pods.

use std::path::{Path, PathBuf};

use engine::StepError;
use host::{Disk, Host, HostError, Kind};

use crate::systemd;

const ROOT: &str = "/sys/fs/cgroup";
/// Where control groups are of the first version, the kubelet makes them itself.
const PLAIN: &str = "kubepods";
/// Where they are of the second, it asks systemd for them.
const SLICE: &str = "kubepods.slice";

/// Removes them. Nothing lives in them any more: the pods have ended.
pub async fn remove(host: &Host) -> Result<(), StepError> {
    let disk = &*host.disk;
    if disk.exists(&Path::new(ROOT).join(SLICE))? {
        systemd::systemctl(host, &["stop", SLICE]).await?;
    }
    for dir in plain(disk)? {
        remove_tree(disk, &dir)?;
    }
    Ok(())
}

/// One per hierarchy.
fn plain(disk: &dyn Disk) -> Result<Vec<PathBuf>, HostError> {
    let root = Path::new(ROOT);
    let hierarchies = if disk.exists(root)? { disk.list(root)? } else { Vec::new() };
    let candidates = hierarchies.iter().map(|name| root.join(name).join(PLAIN)).chain([root.join(PLAIN)]);
    let mut found = Vec::new();
    for dir in candidates {
        // A link is a second name of a hierarchy, and a file has nothing below it.
        let is_real = dir.parent().map(|above| disk.meta(above)).transpose()?.flatten();
        if is_real.is_some_and(|meta| meta.kind == Kind::Directory) && disk.exists(&dir)? {
            found.push(dir);
        }
    }
    Ok(found)
}

/// The files of a control group go with its directory and cannot be removed.
fn remove_tree(disk: &dyn Disk, dir: &Path) -> Result<(), HostError> {
    for name in disk.list(dir)? {
        let path = dir.join(name);
        if disk.meta(&path)?.is_some_and(|meta| meta.kind == Kind::Directory) {
            remove_tree(disk, &path)?;
        }
    }
    disk.remove_dir(dir)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn hierarchies_are_looked_through_once_each() {
        let root = tempfile::tempdir().unwrap();
        let groups = root.path().join("sys/fs/cgroup");
        for dir in ["memory/kubepods/burstable/pod1", "cpu,cpuacct/kubepods", "pids/system.slice"] {
            fs::create_dir_all(groups.join(dir)).unwrap();
        }
        std::os::unix::fs::symlink("cpu,cpuacct", groups.join("cpu")).unwrap();
        let host = Host::rooted(root.path());
        let found = plain(&*host.disk).unwrap();
        assert_eq!(found, [Path::new(ROOT).join("cpu,cpuacct/kubepods"), Path::new(ROOT).join("memory/kubepods")]);
        for dir in found {
            remove_tree(&*host.disk, &dir).unwrap();
        }
        assert!(plain(&*host.disk).unwrap().is_empty());
        assert!(groups.join("pids/system.slice").exists());
    }
}
