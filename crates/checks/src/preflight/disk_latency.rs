//! The disk below etcd makes small writes durable quickly. etcd does so before it answers, and a member that is late
//! loses its leadership.
//!
//! Measured is what it takes to write and sync a small file of its own, some dozens of times. That is a little more
//! than etcd's appends to its log cost, never less.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use host::{Disk, HostError};

use super::{Check, Context, advice, disk_space::nearest, problem};
use crate::{Checking, Finding, Inconclusive, Roles, codes};

/// See [`super`].
pub(super) const CHECK: Check =
    Check::new("disk-latency", "the disk is fast enough for etcd", &[codes::DISK_SLOW], check)
        .only(Roles::Masters)
        .first_time();

const ETCD: &str = "/var/lib/etcd";
const PROBE: &str = ".blackstart-latency";
const BLOCK: [u8; 8192] = [0x5a; 8192];
const WRITES: usize = 30;
/// A disk that takes longer is known to be slow.
const BUDGET: Duration = Duration::from_secs(3);

/// etcd's own advice for the slowest of a hundred is 10 ms; a loaded disk is allowed some more.
const LATE: Duration = Duration::from_millis(25);
/// etcd's heartbeat: where the usual write takes as long, followers take the leader for gone all the time. A single slow one
/// may be the moment: machines that boot together keep their disks busy.
const TOO_LATE: Duration = Duration::from_millis(100);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let disk = context.host.disk.clone();
        let measured = tokio::task::spawn_blocking(move || {
            let dir = nearest(&*disk, Path::new(ETCD))?;
            measure(&*disk, &dir.join(PROBE))
        });
        let times = measured.await.map_err(|error| Inconclusive(format!("the measurement was cut off: {error}")))??;
        Ok(evaluate(&times))
    })
}

fn measure(disk: &dyn Disk, probe: &Path) -> Result<Vec<Duration>, HostError> {
    let begun = Instant::now();
    let mut times = Vec::with_capacity(WRITES);
    while times.len() < WRITES && begun.elapsed() < BUDGET {
        // What a killed run left is in the way of the next.
        if disk.exists(probe)? {
            disk.remove_file(probe)?;
        }
        let start = Instant::now();
        let written = disk.create(probe, &BLOCK, 0o600).and_then(|()| disk.sync_file(probe));
        times.push(start.elapsed());
        disk.remove_file(probe)?;
        written?;
    }
    Ok(times)
}

fn evaluate(times: &[Duration]) -> Vec<Finding> {
    // With some dozens of samples the slowest but one stands for the 99th percentile: one hiccup proves nothing.
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let late = sorted.len().checked_sub(2).and_then(|last| sorted.get(last)).copied().unwrap_or_default();
    let usual = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    let message = || {
        let [slow, usual] = [late, usual].map(|time| time.as_secs_f64() * 1000.0);
        let count = times.len();
        format!(
            "of {count} durable writes of 8 KiB in {ETCD}, the second slowest took {slow:.0} ms, the one in the middle {usual:.0} ms"
        )
    };
    if usual > TOO_LATE {
        problem(codes::DISK_SLOW, message())
    } else if late > LATE {
        advice(message(), codes::DISK_SLOW.fix)
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use host::RealDisk;

    use super::{super::reported, *};

    #[test]
    fn one_hiccup_is_forgiven() {
        let times = |slow: &[u64]| -> Vec<Duration> {
            let quick = std::iter::repeat_n(2, WRITES - slow.len());
            quick.chain(slow.iter().copied()).map(Duration::from_millis).collect()
        };
        let slow = [150; 20];
        let cases: [&[u64]; 6] = [&[], &[900], &[900, 20], &[30, 40], &[300, 400], &slow];
        let verdicts: Vec<_> = cases.iter().map(|slow| evaluate(&times(slow))).collect();
        insta::assert_snapshot!(reported(verdicts));
    }

    #[test]
    fn measuring_leaves_nothing_and_minds_no_leftover() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join(PROBE), "left by a killed run").unwrap();
        let times = measure(&RealDisk::new(root.path()), &Path::new("/").join(PROBE)).unwrap();
        assert!((1..=WRITES).contains(&times.len()));
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
    }
}
