//! Who holds a socket: found by going through the open files of all processes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, io,
    path::{Path, PathBuf},
};

use host::{Disk, HostError};

/// A process that holds a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) pid: u32,
    pub(super) name: String,
    /// The systemd service it belongs to.
    pub(super) unit: Option<String>,
    /// It runs in a pod.
    pub(super) is_pod: bool,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`, process {}", self.name, self.pid)?;
        self.unit.iter().try_for_each(|unit| write!(f, " of {unit}"))
    }
}

/// Who holds which of the sockets that were asked for.
pub(super) struct Holders(BTreeMap<u64, Holder>);

impl Holders {
    /// Goes through all processes. One that ends meanwhile, or that this user may not look into, is passed over.
    pub(super) fn read(disk: &dyn Disk, inodes: &BTreeSet<u64>) -> Result<Self, HostError> {
        let mut found = BTreeMap::new();
        for pid in disk.list(Path::new("/proc"))?.iter().filter_map(|name| name.parse().ok()) {
            let process = PathBuf::from(format!("/proc/{pid}"));
            for inode in unless_gone(sockets(disk, &process.join("fd")))?.unwrap_or_default() {
                if inodes.contains(&inode)
                    && let Some(holder) = unless_gone(describe(disk, pid, &process))?
                {
                    found.insert(inode, holder);
                }
            }
        }
        Ok(Self(found))
    }

    pub(super) fn of(&self, inode: u64) -> Option<&Holder> {
        self.0.get(&inode)
    }
}

fn sockets(disk: &dyn Disk, fds: &Path) -> Result<Vec<u64>, HostError> {
    let mut inodes = Vec::new();
    for name in disk.list(fds)? {
        let target = disk.read_link(&fds.join(name))?;
        inodes.extend(target.and_then(|target| socket(&target.to_string_lossy())));
    }
    Ok(inodes)
}

fn describe(disk: &dyn Disk, pid: u32, process: &Path) -> Result<Holder, HostError> {
    let text = |name| disk.read(&process.join(name)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let cgroup = text("cgroup")?;
    let (name, unit) = (text("comm")?.trim().to_owned(), unit(&cgroup).map(str::to_owned));
    Ok(Holder { pid, name, unit, is_pod: cgroup.contains("kubepods") })
}

fn unless_gone<T>(result: Result<T, HostError>) -> Result<Option<T>, HostError> {
    /// "No such process", for a file of a process that has ended.
    const ESRCH: i32 = 3;
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_not_found() || error.source.raw_os_error() == Some(ESRCH) => Ok(None),
        Err(error) if error.source.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        Err(error) => Err(error),
    }
}

/// `socket:[31337]`
fn socket(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// The innermost service in the paths of a process's control groups, of either version.
fn unit(cgroup: &str) -> Option<&str> {
    let paths = cgroup.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    paths.into_iter().find_map(|path| path.split('/').rfind(|part| part.ends_with(".service")))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use host::RealDisk;

    use super::*;

    #[test]
    fn the_service_of_a_process() {
        for (cgroup, expected) in [
            ("0::/system.slice/etcd.service\n", Some("etcd.service")),
            ("9:name=systemd:/system.slice/kubelet.service\n4:memory:/\n0::/\n", Some("kubelet.service")),
            ("0::/user.slice/user-0.slice/user@0.service/app.slice/x.service\n", Some("x.service")),
            ("0::/kubepods/burstable/pod1/abc\n", None),
            ("0::/init.scope\n", None),
            ("", None),
        ] {
            assert_eq!(unit(cgroup), expected, "{cgroup}");
        }
    }

    #[test]
    fn a_socket_leads_to_its_process() {
        let root = tempfile::tempdir().unwrap();
        for (pid, name, inode) in [(1, "systemd", 7), (42, "etcd", 31337)] {
            let process = root.path().join(format!("proc/{pid}"));
            fs::create_dir_all(process.join("fd")).unwrap();
            fs::write(process.join("comm"), format!("{name}\n")).unwrap();
            fs::write(process.join("cgroup"), format!("0::/system.slice/{name}.service\n")).unwrap();
            symlink("/dev/null", process.join("fd/0")).unwrap();
            symlink(format!("socket:[{inode}]"), process.join("fd/3")).unwrap();
        }
        fs::create_dir_all(root.path().join("proc/77")).unwrap(); // one that has just ended
        fs::create_dir_all(root.path().join("proc/sys")).unwrap();
        let holders = Holders::read(&RealDisk::new(root.path()), &[31337, 9].into()).unwrap();
        assert_eq!(holders.of(31337).unwrap().to_string(), "`etcd`, process 42 of etcd.service");
        assert_eq!((holders.of(7), holders.of(9)), (None, None));
    }
}
