//! Enough space is free where etcd, images and containers are kept.

use std::path::{Path, PathBuf};

use explain::Code;
use host::{Disk, HostError};

use super::{Check, Context, Stage, advice, problem};
use crate::{Checking, Finding, Inconclusive, Roles, codes};

/// See [`super`].
pub(super) const CHECK: Check =
    Check::new("disk-space", "enough space is free for etcd, images and containers", &[codes::DISK_FULL], check);

const MIB: u64 = 1024;
const GIB: u64 = 1024 * MIB;

/// Who keeps data where, and how much is too little, in KiB.
struct Store {
    what: &'static str,
    dir: &'static str,
    roles: Roles,
    /// With less it will not even start to work.
    least: u64,
    /// With less it works until the first busy day.
    enough: u64,
}

const STORES: &[Store] = &[
    // Its data may grow to 2 GiB; a snapshot and the log come on top.
    Store { what: "etcd", dir: "/var/lib/etcd", roles: Roles::Masters, least: 512 * MIB, enough: 4 * GIB },
    Store {
        what: "images and containers",
        dir: "/var/lib/containerd",
        roles: Roles::All,
        least: GIB,
        enough: 10 * GIB,
    },
];

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let mut shortages = Vec::new();
        for store in STORES.iter().filter(|store| store.roles.include(context.role())) {
            let dir = nearest(&*context.host.disk, Path::new(store.dir))?;
            let df = context.output("df", ["-Pk", &dir.to_string_lossy()]).await?;
            let free = free(&df).ok_or_else(|| Inconclusive(format!("`df` answers `{}`", df.trim())))?;
            shortages.extend(shortage(store, free));
        }
        Ok(evaluate(shortages, context.stage))
    })
}

/// The directory itself, or the nearest one above it that is there.
pub(super) fn nearest(disk: &dyn Disk, dir: &Path) -> Result<PathBuf, HostError> {
    for above in dir.ancestors() {
        if disk.exists(above)? {
            return Ok(above.to_path_buf());
        }
    }
    Ok(PathBuf::from("/"))
}

/// The fourth column of the one line below the heading; in KiB.
fn free(df: &str) -> Option<u64> {
    df.lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()
}

/// Whether it stops anybody, and what to say.
fn shortage(store: &Store, free: u64) -> Option<(bool, String)> {
    let Store { what, dir, least, enough, .. } = store;
    let needed = if free < *least { least } else { enough };
    let message = || format!("{} MiB are free for {what} in {dir}, and it needs {}", free / MIB, needed / MIB);
    (free < *enough).then(|| (free < *least, message()))
}

fn evaluate(shortages: Vec<(bool, String)>, stage: Stage) -> Vec<Finding> {
    const CODE: Code = codes::DISK_FULL;
    if shortages.is_empty() {
        return Vec::new();
    }
    let severe = shortages.iter().any(|(severe, _)| *severe);
    let message = shortages.into_iter().map(|(_, message)| message).collect::<Vec<_>>().join("; ");
    // A node that works must not be stopped because it was worked with.
    if severe && stage == Stage::Untouched { problem(CODE, message) } else { advice(message, CODE.fix) }
}

#[cfg(test)]
mod tests {
    use super::{super::reported, *};

    #[test]
    fn what_df_prints() {
        let df = "Filesystem     1024-blocks     Used Available Capacity Mounted on\n\
                  /dev/sda1         65792556 16000000  49792556      25% /\n";
        assert_eq!(free(df), Some(49_792_556));
        assert_eq!(free("Filesystem\n"), None);
    }

    #[test]
    fn too_little_stops_a_new_node_and_warns_on_one_that_works() {
        let etcd = &STORES[0];
        let cases = [
            (10 * GIB, Stage::Untouched),
            (3 * GIB, Stage::Untouched),
            (100 * MIB, Stage::Untouched),
            (100 * MIB, Stage::Begun),
        ];
        insta::assert_snapshot!(reported(
            cases.map(|(free, stage)| evaluate(shortage(etcd, free).into_iter().collect(), stage))
        ));
    }
}
