//! Mounts below a directory: volumes of pods, root file systems of containers.

use std::{
    ffi::OsString,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

use engine::StepError;
use host::{Cmd, Host};

const TABLE: &str = "/proc/self/mountinfo";

/// Unmounts everything below a directory, but not the directory itself: that mount was there before us.
pub async fn unmount_below(host: &Host, dir: &Path) -> Result<(), StepError> {
    for point in below(&read(host)?, dir) {
        host.doing(format!("unmount {}", point.display()));
        // Not lazily unless it must be: what is still in use is worth an answer, and what is lazy stays mounted for
        // the processes that use it.
        let plain = Cmd::new("umount").arg(&point);
        if host.commands.run(&plain).await.is_err() && points(&read(host)?).contains(&point) {
            super::run(host, Cmd::new("umount").arg("--lazy").arg(&point)).await?;
        }
    }
    Ok(())
}

/// Whether something is mounted at exactly this directory.
pub fn is_mount_point(host: &Host, dir: &Path) -> Result<bool, StepError> {
    Ok(points(&read(host)?).iter().any(|point| point == dir))
}

fn read(host: &Host) -> Result<Vec<u8>, StepError> {
    Ok(host.disk.read_optional(Path::new(TABLE))?.unwrap_or_default())
}

/// The mount points below a directory, in an order in which they can be unmounted: the last one first, because it may be
/// mounted over or inside of an earlier one.
fn below(table: &[u8], dir: &Path) -> Vec<PathBuf> {
    points(table).into_iter().rev().filter(|point| point.starts_with(dir) && point != dir).collect()
}

/// The fifth word of every line, with `\040` and the like as what they stand for.
fn points(table: &[u8]) -> Vec<PathBuf> {
    let lines = table.split(|byte| *byte == b'\n');
    lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(4)).map(unescaped).collect()
}

fn unescaped(word: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let [first, after @ ..] = rest {
        if let [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..] = rest {
            bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
            rest = after;
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "\
        22 1 0:20 / / rw - overlay overlay rw\n\
        40 22 8:1 /k /var/lib/kubelet rw - ext4 /dev/a rw\n\
        41 40 0:33 / /var/lib/kubelet/pods/1/volumes/token rw - tmpfs tmpfs rw\n\
        42 41 0:34 / /var/lib/kubelet/pods/1/volumes/token/deep rw - tmpfs tmpfs rw\n\
        43 22 0:35 / /var/lib/kubelet-other rw - tmpfs tmpfs rw\n\
        44 40 0:36 / /var/lib/kubelet/a\\040b rw - tmpfs tmpfs rw\n";

    #[test]
    fn only_what_is_below_and_the_last_one_first() {
        let found = below(SAMPLE.as_bytes(), Path::new("/var/lib/kubelet"));
        let shown: Vec<_> = found.iter().map(|path| path.to_string_lossy()).collect();
        assert_eq!(
            shown,
            [
                "/var/lib/kubelet/a b",
                "/var/lib/kubelet/pods/1/volumes/token/deep",
                "/var/lib/kubelet/pods/1/volumes/token",
            ]
        );
        assert!(below(b"", Path::new("/var/lib/kubelet")).is_empty());
    }
}
