//! This master's etcd: whether it answers, has a leader, may write, and is fast enough.

use etcd::{Member, Status, codes::UNREACHABLE};
use host::Cmd;

use crate::{
    Context, Finding, Look, Part, Roles,
    codes::{ETCD_ALARM, ETCD_DATA, ETCD_NO_LEADER, ETCD_SLOW},
    look::Looking,
    view::EtcdView,
};

/// See [`super`].
pub(crate) const LOOK: Look = Look {
    name: "etcd",
    about: "etcd: answers, leader, alarms, data, speed of its disk",
    codes: &[UNREACHABLE, ETCD_NO_LEADER, ETCD_ALARM, ETCD_SLOW, ETCD_DATA],
    roles: Roles::Masters,
    look,
};

/// A sync that takes longer than this holds up the whole cluster; the boundary is one of etcd's own buckets.
const SLOW_SECONDS: f64 = 0.128;

/// So many syncs must have been seen before their times mean anything.
const ENOUGH: f64 = 200.0;

/// This share of slow syncs is too much.
const SLOW_SHARE: f64 = 0.1;

/// What etcd says before it ends because of its data: a part of the line.
const DATA_WORDS: &[&str] = &[
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
    "permanently removed from the cluster",
    "mismatch member ID",
];

fn look<'a>(context: &'a Context<'a>) -> Looking<'a> {
    Box::pin(async move {
        if !context.was_done("etcd").await? {
            return Ok(Vec::new());
        }
        match context.etcd().await? {
            EtcdView::Silent(why) => {
                let command =
                    Cmd::new("journalctl").args(["--unit=etcd", "--lines=30", "--output=cat", "--no-pager", "--quiet"]);
                let said = context.host.commands.run(&command).await?.stdout;
                // One that ends again and again is told as such, with what it said.
                let is_failing = context.units().await?.is_failing("etcd.service");
                let silent = || Finding::symptom(UNREACHABLE, Part::Etcd, format!("etcd on this node: {why}"));
                Ok((!is_failing).then(silent).into_iter().chain(data_trouble(&said)).collect())
            }
            EtcdView::Answers { status, members, metrics } => {
                Ok(judge(status, members).into_iter().chain(slow(metrics)).collect())
            }
        }
    })
}

fn judge(status: &Status, members: &[Member]) -> Vec<Finding> {
    let mut found = Vec::new();
    if status.leader == 0 {
        let listed: Vec<String> = members.iter().map(|member| shown(member, status.member_id())).collect();
        let voters = members.iter().filter(|member| !member.is_learner).count();
        let evidence = format!(
            "etcd has no leader; {} of its {voters} voting members must be there: {}",
            voters / 2 + 1,
            listed.join(", ")
        );
        found.push(Finding::symptom(ETCD_NO_LEADER, Part::Etcd, evidence));
    }
    let alarms: Vec<&str> =
        status.errors.iter().map(|error| error.trim()).filter(|error| error.contains("alarm")).collect();
    if !alarms.is_empty() {
        let size = status.db_size / (1024 * 1024);
        let evidence = format!("etcd says: {}; its database has {size} MiB", alarms.join(", "));
        found.push(Finding::cause(ETCD_ALARM, Part::Etcd, evidence));
    }
    found
}

fn shown(member: &Member, own: u64) -> String {
    let name = match member.name.as_str() {
        "" => "one that never started",
        name => name,
    };
    let this = if member.id == own { ", this one" } else { "" };
    format!("{name} ({}{this})", member.peer_urls.join(", "))
}

/// The last line of a log that blames the data directory; what is only for information blames nobody.
fn data_trouble(log: &str) -> Option<Finding> {
    let telling =
        |line: &&str| !line.contains("\"level\":\"info\"") && DATA_WORDS.iter().any(|words| line.contains(words));
    let line = log.lines().rev().find(telling)?;
    Some(Finding::cause(ETCD_DATA, Part::Etcd, format!("etcd said: {}", line.trim())))
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

    fn status(leader: &str, errors: &[&str]) -> Status {
        serde_json::from_value(json!({
            "header": {"member_id": "7"}, "version": "3.7.3", "dbSize": "3145728", "leader": leader, "errors": errors,
        }))
        .unwrap()
    }

    fn member(id: &str, name: &str) -> Member {
        serde_json::from_value(json!({"ID": id, "name": name, "peerURLs": [format!("https://10.0.0.{id}:2380")]}))
            .unwrap()
    }

    fn told(status: &Status, members: &[Member]) -> Vec<String> {
        judge(status, members).iter().map(|finding| format!("{} {}", finding.code, finding.evidence)).collect()
    }

    #[test]
    fn a_member_without_a_leader_names_all_members() {
        assert_eq!(told(&status("7", &[]), &[member("7", "master-01")]), [""; 0]);
        assert_eq!(
            told(&status("0", &["etcdserver: no leader"]), &[member("7", "master-01"), member("8", "")]),
            ["BS-DIAG-036 etcd has no leader; 2 of its 2 voting members must be there: \
              master-01 (https://10.0.0.7:2380, this one), one that never started (https://10.0.0.8:2380)"]
        );
    }

    #[test]
    fn alarms_are_etcds_own_words() {
        assert_eq!(
            told(&status("7", &["memberID:7 alarm:NOSPACE "]), &[member("7", "master-01")]),
            ["BS-DIAG-037 etcd says: memberID:7 alarm:NOSPACE; its database has 3 MiB"]
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
            ("{\"level\":\"warn\",\"msg\":\"failed to reach the peer URL\"}\nexiting", false),
            ("Error: unknown flag: --x", false),
        ] {
            assert_eq!(data_trouble(log).is_some(), blamed, "{log}");
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
