//! The bootstrap itself: never started, switched off, failed, or waiting for a long time.

use jiff::{SignedDuration, Timestamp};
use nodekit::run_record::{Outcome, Purpose, RunRecord};
use nodekit::systemd::Unit;
use playbooks::cluster::{Tenure, ids, is_for_masters};

use crate::{
    Check, Checking, Context, Finding, Inconclusive, Kind, Part,
    codes::{BOOTSTRAP_FAILED, BOOTSTRAP_OFF, BOOTSTRAP_WAITS, NEVER_STARTED},
};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "bootstrap",
    "the last `node up`, and whether the next boot repeats it",
    &[NEVER_STARTED, BOOTSTRAP_FAILED, BOOTSTRAP_WAITS, BOOTSTRAP_OFF],
    check,
);

const UNIT: &str = "cluster-bootstrap.service";
const LINK: &str = "/etc/systemd/system/multi-user.target.wants/cluster-bootstrap.service";

/// Machines of one cluster are switched on one after the other; longer than this a person should look.
const LONG: SignedDuration = SignedDuration::from_secs(60);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let disk = &*context.host.disk;
        let run = RunRecord::latest_for(Purpose::Up, disk, &context.layout.state_dir);
        let run = run.map_err(|error| Inconclusive(explain::chain(&error)))?;
        let unit = context.units().await?.get(UNIT);
        let Some(run) = run else {
            let was_begun = context.was_done(ids::PREFLIGHT).await?;
            return Ok(if was_begun { Vec::new() } else { vec![never(&unit)] });
        };
        let is_enabled = disk.exists(LINK.as_ref())?;
        let outcome = run.outcome_seen_by(disk);
        let now = context.host.clock.now();
        let was_ready = context.was_done(ids::RECORD).await?;
        // That it waits for masters, or gets stuck in its hand-over, has checks of its own.
        let is_reported_elsewhere = match context.tenure()? {
            None => false,
            Some(Tenure::Holds) => run.waiting().iter().any(|wait| is_for_masters(wait.step)),
            Some(Tenure::HandsOver | Tenure::Retired) => true,
        };
        if is_reported_elsewhere {
            return Ok(off(&unit, is_enabled).into_iter().collect());
        }
        Ok([evaluate(&run, outcome, was_ready, now), off(&unit, is_enabled)].into_iter().flatten().collect())
    })
}

fn never(unit: &Unit) -> Finding {
    let evidence = match unit.load.as_str() {
        "masked" => format!("no `node up` ever ran on this machine, and {UNIT} is masked"),
        "not-found" => format!("no `node up` ever ran on this machine, and {UNIT} is not installed"),
        _ => format!("no `node up` ever ran on this machine; {UNIT} is {}", unit.active),
    };
    let fix = match unit.load.as_str() {
        "masked" => format!("`systemctl unmask {UNIT} && systemctl enable --now {UNIT}`"),
        "not-found" => "`blackstart node install`, then `systemctl start cluster-bootstrap`".to_owned(),
        _ => NEVER_STARTED.fix.to_owned(),
    };
    Finding::cause(NEVER_STARTED, Part::Workloads, evidence).with_fix(fix)
}

/// Whatever is wrong with a node makes its bootstrap fail or wait, so this stands on everything else.
fn evaluate(run: &RunRecord, outcome: Outcome, was_ready: bool, now: Timestamp) -> Option<Finding> {
    let symptom = |code, evidence, fix| Some(Finding::symptom(code, Part::Workloads, evidence).with_fix(fix));
    match outcome {
        Outcome::Done => None,
        Outcome::Failed => {
            let Some(failure) = run.cause() else {
                let evidence = format!("the last `node up` failed: {}", run.summary);
                return symptom(BOOTSTRAP_FAILED, evidence, BOOTSTRAP_FAILED.fix.to_owned());
            };
            let step = failure.step.as_ref().map(|step| format!(" in step `{step}`")).unwrap_or_default();
            let evidence = format!("the last `node up` failed{step}: {}", failure.diagnostic);
            symptom(BOOTSTRAP_FAILED, evidence, failure.diagnostic.hint.clone())
        }
        Outcome::Interrupted | Outcome::Cancelled => {
            let word = if outcome == Outcome::Cancelled { "stopped" } else { "cut off" };
            let evidence = format!("the last `node up` was {word} after {} of {} steps", run.done, run.total);
            let fix =
                "`systemctl start cluster-bootstrap` goes on where it was, as does `blackstart node up`".to_owned();
            // A node that was ready before is not made worse by a second check that did not end.
            let kind = if was_ready { Kind::Warning } else { Kind::Symptom };
            symptom(BOOTSTRAP_FAILED, evidence, fix).map(|finding| Finding { kind, ..finding })
        }
        Outcome::Working => {
            let waiting = run.waiting();
            let longest = waiting.first().filter(|wait| now.duration_since(wait.since) > LONG)?;
            let seconds = now.duration_since(longest.since).as_secs();
            let evidence = format!("step `{}` has waited for {seconds} s for {}", longest.step, longest.what);
            symptom(BOOTSTRAP_WAITS, evidence, BOOTSTRAP_WAITS.fix.to_owned())
        }
    }
}

/// It has done its work today; what was switched off does it no more after the next boot.
fn off(unit: &Unit, is_enabled: bool) -> Option<Finding> {
    let how = match unit.load.as_str() {
        "masked" => "masked",
        "not-found" => "no longer installed",
        _ if !is_enabled => "disabled",
        _ => return None,
    };
    let evidence = format!("{UNIT} is {how}, so nothing repairs this node at its next boot");
    Some(Finding::warning(BOOTSTRAP_OFF, Part::Workloads, evidence))
}

#[cfg(test)]
mod tests {
    use nodekit::run_record::RunRecord;
    use serde_json::json;

    use super::*;

    fn run(waits_since: &str) -> RunRecord {
        let time = "2026-12-01T12:00:00Z";
        let wait = json!({ "what": "a master to answer", "since": waits_since });
        let step = json!({ "id": "await-master", "title": "Wait", "started": time, "state": "waiting", "attempts": [], "waits": [wait] });
        let error = json!({ "step": "etcd", "code": "BS-X-1", "message": "seen", "hint": "do", "time": time });
        let record = json!({
            "v": 1, "run": "r", "purpose": "up", "node": "n", "playbook": "cluster", "boot_id": "b",
            "process": { "pid": 1, "began": 1 }, "version": "0", "started": time, "updated": time, "outcome": "working",
            "done": 4, "total": 9, "summary": "9 steps", "steps": [step], "last_error": error,
        });
        serde_json::from_value(record).unwrap()
    }

    #[test]
    fn each_outcome_has_its_message() {
        let now: Timestamp = "2026-12-01T12:02:00Z".parse().unwrap();
        let mut text = String::new();
        for (run, outcome) in [
            (run("2026-12-01T12:00:00Z"), Outcome::Done),
            (run("2026-12-01T12:00:00Z"), Outcome::Failed),
            (run("2026-12-01T12:00:00Z"), Outcome::Interrupted),
            (run("2026-12-01T12:00:00Z"), Outcome::Cancelled),
            (run("2026-12-01T12:00:00Z"), Outcome::Working),
            (run("2026-12-01T12:01:30Z"), Outcome::Working),
        ] {
            let found = evaluate(&run, outcome, false, now);
            let reported = found
                .map_or_else(|| "nothing".to_owned(), |one| format!("{}: {}; {}", one.id(), one.evidence, one.fix));
            text += &format!("{outcome:?}: {reported}\n");
        }
        insta::assert_snapshot!(text);
        let again = evaluate(&run("2026-12-01T12:00:00Z"), Outcome::Cancelled, true, now).unwrap();
        assert_eq!(again.kind, Kind::Warning, "the node was ready before");
    }

    #[test]
    fn a_machine_on_which_nothing_ran() {
        let unit = |load: &str| Unit { load: load.into(), active: "inactive".into(), ..Unit::default() };
        let reported = ["loaded", "masked", "not-found"].map(|load| {
            let finding = never(&unit(load));
            format!("{}; {}", finding.evidence, finding.fix)
        });
        insta::assert_snapshot!(reported.join("\n"));
        assert_eq!(off(&unit("loaded"), true), None);
        assert!(off(&unit("loaded"), false).unwrap().evidence.contains("disabled"));
        assert!(off(&unit("masked"), true).unwrap().evidence.contains("masked"));
    }
}
