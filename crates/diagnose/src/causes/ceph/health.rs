//! What Ceph itself complains about: clocks, space, slow disks. Anything else is passed on in its own words.

use ceph::{
    CephError, Client,
    answers::{Check as HealthCheck, Health},
};

use super::{has_monitor, inconclusive};
use crate::{
    Check, Checking, Context, Finding, Part,
    codes::{CEPH_CLOCK, CEPH_FULL, CEPH_KEY, CEPH_SLOW, CEPH_UNWELL},
};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "ceph-health",
    "what Ceph reports about clocks, space, disks and itself",
    &[CEPH_CLOCK, CEPH_FULL, CEPH_SLOW, CEPH_UNWELL, CEPH_KEY],
    check,
);

const CLOCK: &[&str] = &["MON_CLOCK_SKEW"];
const FULL: &[&str] =
    &["OSD_FULL", "OSD_BACKFILLFULL", "OSD_NEARFULL", "POOL_FULL", "POOL_NEAR_FULL", "MON_DISK_CRIT", "MON_DISK_LOW"];
const MONITORS_DISK: &str = "make room on the file system of /var/lib/ceph/mon on the nodes that are named: a monitor ends itself before it is full";
const SLOW: &[&str] = &["SLOW_OPS", "BLUESTORE_SLOW_OP_ALERT", "OSD_SLOW_PING_TIME_BACK", "OSD_SLOW_PING_TIME_FRONT"];

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if !has_monitor(context).await? {
            return Ok(Vec::new());
        }
        match Client::admin(&context.host).with_short_timeout().health().await {
            Ok(health) => Ok(evaluate(&health)),
            // The checks of the monitors report which of them do not answer.
            Err(CephError::Silent { .. }) => Ok(Vec::new()),
            Err(error @ CephError::Denied { .. }) => {
                Ok(vec![Finding::cause(CEPH_KEY, Part::Ceph, explain::chain(&error))])
            }
            Err(error) => Err(inconclusive(&error)),
        }
    })
}

fn evaluate(health: &Health) -> Vec<Finding> {
    let reported = |(name, check): (&String, &HealthCheck)| {
        let evidence = evidence(name, check);
        let is = |names: &[&str]| names.contains(&name.as_str());
        if is(CLOCK) {
            Finding::cause(CEPH_CLOCK, Part::Ceph, evidence)
        } else if is(FULL) {
            let finding = Finding::cause(CEPH_FULL, Part::Ceph, evidence);
            if name.starts_with("MON_DISK") { finding.with_fix(MONITORS_DISK) } else { finding }
        } else if is(SLOW) {
            Finding::cause(CEPH_SLOW, Part::Ceph, evidence)
        } else if check.severity == "HEALTH_ERR" {
            Finding::symptom(CEPH_UNWELL, Part::Ceph, evidence)
        } else {
            // It goes on with what is left: a monitor, an OSD, a copy less.
            Finding::warning(CEPH_UNWELL, Part::Ceph, evidence)
        }
    };
    health.checks.iter().filter(|(_, check)| !check.muted).map(reported).collect()
}

/// Ceph's name for it, its message, and where; of many places the first.
fn evidence(name: &str, check: &HealthCheck) -> String {
    let places = match check.detail.as_slice() {
        [] => String::new(),
        [one] => format!(" ({})", one.message),
        [one, rest @ ..] => format!(" ({}, and {} more)", one.message, rest.len()),
    };
    format!("{name}: {}{places}", check.summary.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ceph_reports_is_sorted_by_its_kind() {
        let check = |name: &str, severity: &str, summary: &str, detail: &[&str]| {
            let detail: Vec<_> = detail.iter().map(|text| serde_json::json!({ "message": text })).collect();
            let value =
                serde_json::json!({ "severity": severity, "summary": { "message": summary }, "detail": detail });
            (name.to_owned(), serde_json::from_value::<HealthCheck>(value).unwrap())
        };
        let muted = |(name, check): (String, HealthCheck)| (name, HealthCheck { muted: true, ..check });
        let checks = [
            check(
                "MON_CLOCK_SKEW",
                "HEALTH_WARN",
                "clock skew detected on mon.b",
                &["mon.b clock skew 0.8s > max 0.05s"],
            ),
            check("OSD_NEARFULL", "HEALTH_WARN", "2 nearfull osd(s)", &["osd.0 is near full", "osd.1 is near full"]),
            check("SLOW_OPS", "HEALTH_WARN", "3 slow ops, oldest one blocked for 31 sec, osd.1 has slow ops", &[]),
            check("OSD_DOWN", "HEALTH_WARN", "1 osds down", &["osd.2 (root=default,host=c) is down"]),
            check("PG_DAMAGED", "HEALTH_ERR", "Possible data damage: 1 pg inconsistent", &[]),
            muted(check("POOL_NO_REDUNDANCY", "HEALTH_WARN", "1 pool(s) have no replicas configured", &[])),
        ];
        let health = Health { status: "HEALTH_ERR".into(), checks: checks.into_iter().collect() };
        let reported = evaluate(&health)
            .iter()
            .map(|one| format!("{} {:?}: {}\n", one.id(), one.kind, one.evidence))
            .collect::<String>();
        insta::assert_snapshot!(reported);
    }
}
