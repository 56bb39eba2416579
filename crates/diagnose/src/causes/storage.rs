//! File systems that the node writes to: full, out of inodes, or read-only.

use std::path::{Path, PathBuf};

use checks::codes::DISK_FULL;
use host::Disk;

use crate::{
    Check, Checking, Context, Finding, Inconclusive, Part, Roles,
    codes::{NO_INODES, READ_ONLY},
};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "storage",
    "file systems that are full, out of inodes or read-only",
    &[DISK_FULL, NO_INODES, READ_ONLY],
    check,
);

/// Less than a fiftieth is as good as nothing, except on large disks, where it is still plenty: in KiB.
const PLENTY: u64 = 256 * 1024;
/// The same for inodes.
const PLENTY_OF_INODES: u64 = 10_000;

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let mounts = context.text("/proc/self/mountinfo")?.unwrap_or_default();
        let mut dirs = Vec::new();
        for (what, dir) in written(context) {
            let dir = nearest(&*context.host.disk, dir)?;
            match mount_of(&mounts, &dir) {
                Some(mount) => dirs.push(WrittenDir { what, dir, mount }),
                None => return Err(Inconclusive(format!("{} is on no mount of /proc/self/mountinfo", dir.display()))),
            }
        }
        let mut found = Vec::new();
        for (mount, what) in by_mount(&dirs) {
            if mount.is_read_only {
                found.push(read_only(mount, &what));
                continue;
            }
            let blocks = context.output("df", ["-Pk", mount.at]).await?;
            let inodes = context.output("df", ["-Pi", mount.at]).await?;
            found.extend(used_up(mount, &what, Share::parse(&blocks)?, Share::parse(&inodes)?));
        }
        Ok(found)
    })
}

/// Who writes where.
fn written(context: &Context) -> Vec<(&'static str, &Path)> {
    let mut all: Vec<(&str, &Path)> = vec![
        ("the state of the bootstrap", &context.layout.state_dir),
        ("certificates", &context.layout.kubernetes_dir),
        ("images and containers", Path::new("/var/lib/containerd")),
        ("pods", Path::new("/var/lib/kubelet")),
        ("the pod network", Path::new("/etc/cni/net.d")),
        ("logs", Path::new("/var/log")),
        ("logs of pods", Path::new("/var/log/pods")),
    ];
    if Roles::Masters.include(context.role()) {
        all.push(("etcd", Path::new("/var/lib/etcd")));
    }
    if context.node.has_ceph_role() {
        all.push(("Ceph", Path::new("/var/lib/ceph")));
    }
    all
}

/// The directory itself, or the nearest one above it that is there.
fn nearest(disk: &dyn Disk, dir: &Path) -> Result<PathBuf, Inconclusive> {
    for above in dir.ancestors() {
        if disk.exists(above)? {
            return Ok(above.to_path_buf());
        }
    }
    Ok(PathBuf::from("/"))
}

/// A directory that is written to, and where it is mounted.
struct WrittenDir<'a> {
    what: &'static str,
    dir: PathBuf,
    mount: Mount<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Mount<'a> {
    at: &'a str,
    is_read_only: bool,
}

/// The innermost mount above a directory; of several on one point, the last.
fn mount_of<'a>(mountinfo: &'a str, dir: &Path) -> Option<Mount<'a>> {
    let mounts = mountinfo.lines().filter_map(|line| {
        let (fields, source) = line.split_once(" - ")?;
        let fields: Vec<&str> = fields.split(' ').collect();
        let (at, options) = (*fields.get(4)?, *fields.get(5)?);
        // A mount can be read-only by itself, or because its file system is, as after an error of the disk.
        let of_file_system = source.split(' ').nth(2).unwrap_or_default();
        let is_read_only = [options, of_file_system].iter().any(|list| list.split(',').any(|option| option == "ro"));
        Some(Mount { at, is_read_only })
    });
    mounts.filter(|mount| dir.starts_with(mount.at)).max_by_key(|mount| mount.at.len())
}

/// Each mount once, with everything that is written there.
fn by_mount<'a>(dirs: &'a [WrittenDir<'a>]) -> Vec<(Mount<'a>, Vec<String>)> {
    let mut all: Vec<(Mount<'a>, Vec<String>)> = Vec::new();
    for WrittenDir { what, dir, mount } in dirs {
        let reported = format!("{what} ({})", dir.display());
        match all.iter_mut().find(|(known, _)| known == mount) {
            Some((_, whats)) => whats.push(reported),
            None => all.push((*mount, vec![reported])),
        }
    }
    all
}

/// How much there is of something, and how much is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Share {
    total: u64,
    free: u64,
}

impl Share {
    /// The one line below the heading of `df -P`. A file system without a number of its own shows `-` or 0.
    fn parse(df: &str) -> Result<Self, Inconclusive> {
        let line = df.lines().nth(1).ok_or_else(|| Inconclusive(format!("`df` answers `{}`", df.trim())))?;
        let number = |column: usize| line.split_whitespace().nth(column).and_then(|text| text.parse().ok());
        Ok(Self { total: number(1).unwrap_or(0), free: number(3).unwrap_or(0) })
    }

    fn is_used_up(self, plenty: u64) -> bool {
        self.total > 0 && self.free <= (self.total / 50).min(plenty)
    }
}

fn read_only(mount: Mount<'_>, what: &[String]) -> Finding {
    let evidence = format!("{} is mounted read-only; it holds {}", mount.at, what.join(", "));
    let fix = format!("check `dmesg` for disk errors; then `mount -o remount,rw {}`, or boot again", mount.at);
    Finding::cause(READ_ONLY, Part::Machine, evidence).with_fix(fix)
}

fn used_up(mount: Mount<'_>, what: &[String], blocks: Share, inodes: Share) -> Option<Finding> {
    let (at, what) = (mount.at, what.join(", "));
    if blocks.is_used_up(PLENTY) {
        let (free, total) = (blocks.free / 1024, blocks.total / 1024);
        let evidence = format!("{at} is full: {free} of {total} MiB are free; it holds {what}");
        let fix = format!("make room: `du -xh --max-depth=2 {at} | sort -h | tail` shows what is large");
        return Some(Finding::cause(DISK_FULL, Part::Machine, evidence).with_fix(fix));
    }
    if inodes.is_used_up(PLENTY_OF_INODES) {
        let Share { free, total } = inodes;
        let evidence = format!("{at} has no room for more files: {free} of {total} inodes are free; it holds {what}");
        let fix = format!("`du -x --inodes --max-depth=2 {at} | sort -n | tail` shows where the many files are");
        return Some(Finding::cause(NO_INODES, Part::Machine, evidence).with_fix(fix));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:31 / /var/lib/cluster-state rw - tmpfs tmpfs rw,size=8192k
31 22 0:32 / /var ro,relatime - ext4 /dev/vdb rw
32 22 0:33 / /srv rw - ext4 /dev/vdc ro,errors=remount-ro
33 30 0:34 / /var/lib/cluster-state ro - tmpfs tmpfs rw
";

    #[test]
    fn the_mount_that_counts_is_the_innermost_and_last() {
        for (dir, at, is_read_only) in [
            ("/etc/kubernetes", "/", false),
            ("/var/lib/etcd", "/var", true),
            ("/various", "/", false),
            ("/srv/data", "/srv", true),
            ("/var/lib/cluster-state", "/var/lib/cluster-state", true),
        ] {
            assert_eq!(mount_of(MOUNTS, Path::new(dir)), Some(Mount { at, is_read_only }), "{dir}");
        }
        assert_eq!(mount_of("", Path::new("/etc")), None);
    }

    #[test]
    fn little_is_reported_only_where_it_is_next_to_nothing() {
        let mount = Mount { at: "/var", is_read_only: false };
        let what = ["etcd (/var/lib/etcd)".to_owned()];
        let reported = |total, free, inodes: (u64, u64)| {
            used_up(mount, &what, Share { total, free }, Share { total: inodes.0, free: inodes.1 })
                .map(|finding| format!("{}: {}", finding.id(), finding.evidence))
        };
        let enough = (1000, 500);
        assert_eq!(reported(10_000_000, 5_000_000, enough), None);
        assert_eq!(reported(1_000_000_000, 1_000_000, enough), None, "a gigabyte of a large disk");
        assert_eq!(reported(0, 0, (0, 0)), None, "a file system that counts nothing");
        insta::assert_snapshot!([reported(8192, 0, enough), reported(8192, 8000, (1000, 3))].map(Option::unwrap).join("\n"), @r"
        BS-PRE-012: /var is full: 0 of 8 MiB are free; it holds etcd (/var/lib/etcd)
        BS-DIAG-012: /var has no room for more files: 3 of 1000 inodes are free; it holds etcd (/var/lib/etcd)
        ");
    }

    #[test]
    fn columns_of_df() {
        let df = "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/vda 1000 600 400 60% /\n";
        assert_eq!(Share::parse(df), Ok(Share { total: 1000, free: 400 }));
        assert_eq!(Share::parse("Filesystem Inodes IUsed IFree IUse% Mounted on\nbtrfs 0 0 0 - /\n").unwrap().total, 0);
        assert!(Share::parse("").is_err());
    }

    #[test]
    fn a_mount_is_reported_once_with_all_it_holds() {
        let written_dir = |what, at| WrittenDir { what, dir: "/d".into(), mount: Mount { at, is_read_only: true } };
        let dirs = [written_dir("a", "/"), written_dir("b", "/x"), written_dir("c", "/")];
        let reported: Vec<String> =
            by_mount(&dirs).iter().map(|(mount, what)| read_only(*mount, what).evidence).collect();
        assert_eq!(
            reported,
            ["/ is mounted read-only; it holds a (/d), c (/d)", "/x is mounted read-only; it holds b (/d)"]
        );
    }
}
