//! This master's etcd: whether it answers, may write, and is fast enough. How it is with the others: `etcd_members`.

use std::path::Path;

use etcd::{Status, codes::UNREACHABLE};

use playbooks::cluster::ids;

use super::etcd_members::evaluate::REMOVED;
use crate::{
    Check, Checking, Context, Finding, Part, Roles,
    codes::{ETCD_ALARM, ETCD_DATA, ETCD_DATA_GONE, ETCD_NEARLY_FULL, ETCD_SLOW},
};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "etcd",
    "etcd: answers, alarms, size, data, speed of its disk",
    &[UNREACHABLE, ETCD_ALARM, ETCD_NEARLY_FULL, ETCD_SLOW, ETCD_DATA, ETCD_DATA_GONE],
    check,
)
.only(Roles::Masters);

/// A sync that takes longer than this holds up the whole cluster; the boundary is one of etcd's own buckets.
const SLOW_SECONDS: f64 = 0.128;

/// So many syncs must have been seen before their times mean anything.
const ENOUGH: f64 = 200.0;

/// This share of slow syncs is too much.
const SLOW_SHARE: f64 = 0.1;

/// A database this full, in percent of what it may hold, is worth a word.
const NEARLY_FULL: u64 = 80;

const MIB: u64 = 1024 * 1024;

/// What etcd logs before it ends because of its data: a part of the line.
const DATA_ERRORS: &[&str] = &[
    "crc mismatch",
    "database file",
    "walpb:",
    "wal: ",
    "proto: ",
    "unexpected EOF",
    "failed to recover",
    "failed to open database",
    "failed to find database snapshot",
    "cannot access data directory",
    "permission denied",
    "cluster ID mismatch",
    "has already been bootstrapped",
    "mismatch member ID",
    "Was the raft log corrupted, truncated, or lost?",
];

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if !context.was_any_done(&[ids::ETCD, ids::ETCD_POD]).await? {
            return Ok(Vec::new());
        }
        let view = context.etcd().await?;
        match view.own() {
            Err(_) if !context.host.disk.exists(Path::new(etcd::DATA))? => {
                let evidence = format!("{} is not there: it was removed, or its disk is not mounted", etcd::DATA);
                Ok(vec![Finding::cause(ETCD_DATA_GONE, Part::Etcd, evidence)])
            }
            Err(why) => {
                let output = context.etcd_log().await?;
                // One that ends again and again is reported as such, with what it logged.
                let is_failing = context.is_failing("etcd").await?;
                let silent = || Finding::symptom(UNREACHABLE, Part::Etcd, format!("etcd on this node: {why}"));
                Ok((!is_failing).then(silent).into_iter().chain(data_failure(&output)).collect())
            }
            Ok(reported) => Ok(full(&reported.status).into_iter().chain(slow(&view.metrics)).collect()),
        }
    })
}

/// An alarm is reported in etcd's own words; a database that is only near its limit has raised none yet.
fn full(status: &Status) -> Option<Finding> {
    let size = format!("its database has {} MiB{}", status.db_size / MIB, most(status));
    let alarms: Vec<&str> =
        status.errors.iter().map(|error| error.trim()).filter(|error| error.contains("alarm")).collect();
    if !alarms.is_empty() {
        let evidence = format!("etcd reports: {}; {size}", alarms.join(", "));
        return Some(Finding::cause(ETCD_ALARM, Part::Etcd, evidence));
    }
    let is_near = status.db_size_quota > 0 && status.db_size * 100 >= status.db_size_quota * NEARLY_FULL;
    let evidence = format!("etcd is near its limit: {size}; {} MiB of it are in use", status.db_size_in_use / MIB);
    is_near.then(|| Finding::warning(ETCD_NEARLY_FULL, Part::Etcd, evidence))
}

fn most(status: &Status) -> String {
    match status.db_size_quota {
        0 => String::new(),
        quota => format!(" of at most {}", quota / MIB),
    }
}

/// The first line of a log, read backwards, that blames the data directory; lines of level `info` do not count. What
/// was logged before the others removed this member is of no interest any more.
fn data_failure(log: &str) -> Option<Finding> {
    let is_newer = |line: &&str| !REMOVED.iter().any(|words| line.contains(words));
    let relevant =
        |line: &&str| !line.contains("\"level\":\"info\"") && DATA_ERRORS.iter().any(|words| line.contains(words));
    let line = log.lines().take_while(is_newer).find(relevant)?;
    Some(Finding::cause(ETCD_DATA, Part::Etcd, format!("etcd logged: {}", line.trim())))
}

/// From the histogram of the times that syncs of the log took.
fn slow(metrics: &str) -> Option<Finding> {
    const BUCKET: &str = "etcd_disk_wal_fsync_duration_seconds_bucket{le=\"";
    let (mut fast, mut all) = (None, None);
    for line in metrics.lines().filter_map(|line| line.strip_prefix(BUCKET)) {
        let (bound, count) = line.split_once("\"} ")?;
        let count: f64 = count.trim().parse().ok()?;
        match bound {
            "+Inf" => all = Some(count),
            bound if bound.parse() == Ok(SLOW_SECONDS) => fast = Some(count),
            _ => {}
        }
    }
    let (fast, all) = (fast?, all?);
    let slow = all - fast;
    if all < ENOUGH || slow / all < SLOW_SHARE {
        return None;
    }
    let evidence =
        format!("{slow:.0} of {all:.0} syncs of etcd's log took longer than {:.0} ms", SLOW_SECONDS * 1000.0);
    Some(Finding::warning(ETCD_SLOW, Part::Etcd, evidence))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_full_database_is_reported_before_and_after_etcd_raises_the_alarm() {
        let reported = |mebibytes: u64, quota: u64, errors: &[&str]| {
            let [size, in_use, quota] = [mebibytes, mebibytes / 2, quota].map(|size| (size * MIB).to_string());
            let status = json!({ "header": {"member_id": "7"}, "version": "3.7.3", "leader": "7", "errors": errors,
                                 "dbSize": size, "dbSizeInUse": in_use, "dbSizeQuota": quota });
            let found = full(&serde_json::from_value(status).unwrap());
            found.map(|finding| format!("{} {:?}: {}", finding.id(), finding.kind, finding.evidence))
        };
        for (mebibytes, quota, errors) in
            [(3, 0, vec![]), (3, 2048, vec![]), (1638, 2048, vec![]), (3, 2048, vec!["etcdserver: no leader"])]
        {
            assert_eq!(reported(mebibytes, quota, &errors), None, "{mebibytes} of {quota}, {errors:?}");
        }
        let alarm = ["memberID:7 alarm:NOSPACE "];
        insta::assert_snapshot!(
            [reported(1639, 2048, &[]), reported(2049, 2048, &alarm), reported(3, 0, &alarm)]
                .map(Option::unwrap)
                .join("\n")
        );
    }

    #[test]
    fn only_lines_about_data_blame_data() {
        for (log, blamed) in [
            (
                "{\"level\":\"info\",\"msg\":\"starting\"}\n{\"level\":\"panic\",\"msg\":\"wal: crc mismatch\"}\nexiting",
                true,
            ),
            ("{\"level\":\"fatal\",\"error\":\"proto: cannot parse invalid wire-format data\"}", true),
            (
                "panic: tocommit(3624) is out of range [lastIndex(0)]. Was the raft log corrupted, truncated, or lost?",
                true,
            ),
            ("{\"level\":\"warn\",\"msg\":\"failed to reach the peer URL\"}\nexiting", false),
            ("Error: unknown flag: --x", false),
            (
                "\"error\":\"the member has been permanently removed from the cluster\"\n\"msg\":\"request cluster ID mismatch\"",
                false,
            ),
        ] {
            assert_eq!(data_failure(log).is_some(), blamed, "{log}");
        }
    }

    #[test]
    fn slow_syncs_are_a_share_of_many() {
        let metrics = |fast: u32, all: u32| {
            format!(
                "etcd_disk_wal_fsync_duration_seconds_bucket{{le=\"0.064\"}} 1\n\
                 etcd_disk_wal_fsync_duration_seconds_bucket{{le=\"0.128\"}} {fast}\n\
                 etcd_disk_wal_fsync_duration_seconds_bucket{{le=\"+Inf\"}} {all}\n"
            )
        };
        for (fast, all, expected) in [(1000, 1000, None), (50, 100, None), (950, 1000, None)] {
            assert_eq!(slow(&metrics(fast, all)), expected);
        }
        let evidence = slow(&metrics(700, 1000)).unwrap().evidence;
        assert_eq!(evidence, "300 of 1000 syncs of etcd's log took longer than 128 ms");
        assert_eq!(slow(""), None);
    }
}
