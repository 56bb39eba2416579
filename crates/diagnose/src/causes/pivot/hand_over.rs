//! A bootstrap node that has begun to hand over and does not go on: its run failed, was cut off, or waits.

use jiff::{SignedDuration, Timestamp};
use nodekit::run_record::{Outcome, RunRecord};
use playbooks::cluster::Tenure;

use super::last_run;
use crate::{Check, Checking, Context, Finding, Part, Roles, codes::HAND_OVER_STUCK};

/// See [`super::super`].
pub(crate) const CHECK: Check =
    Check::new("hand-over", "a bootstrap node that does not get on with its hand-over", &[HAND_OVER_STUCK], check)
        .only(Roles::Masters);

/// etcd refuses to remove a member for some seconds after another one has come.
const LONG: SignedDuration = SignedDuration::from_secs(20);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if context.tenure()? != Some(Tenure::HandsOver) {
            return Ok(Vec::new());
        }
        let Some((run, outcome)) = last_run(context)? else { return Ok(Vec::new()) };
        Ok(evaluate(&run, outcome, context.host.clock.now()).into_iter().collect())
    })
}

/// The masters report what is wrong with a part that takes over.
fn evaluate(run: &RunRecord, outcome: Outcome, now: Timestamp) -> Option<Finding> {
    let found = |evidence: String| Some(Finding::cause(HAND_OVER_STUCK, Part::Joining, evidence));
    match outcome {
        Outcome::Done => None,
        Outcome::Failed => found(format!("the hand-over failed: {}", run.message())),
        Outcome::Interrupted | Outcome::Cancelled => {
            let at = run.steps.iter().rev().find(|step| step.started.is_some()).map(|step| step.id.as_str());
            found(format!(
                "the hand-over was cut off in step `{}`, after {} of {} steps, and nothing goes on with it",
                at.unwrap_or("hand-over"),
                run.done,
                run.total
            ))
        }
        Outcome::Working => {
            let began = |step: &&nodekit::run_record::StepRun| step.ended.is_none().then_some(step.started).flatten();
            let step = run.steps.iter().rev().find(|step| began(step).is_some())?;
            let since = began(&step)?;
            if now.duration_since(since) < LONG {
                return None;
            }
            let what = step.waiting().map(|waiting| waiting.what).or(step.doing.as_deref()).unwrap_or("its end");
            let seconds = now.duration_since(since).as_secs();
            found(format!("the hand-over is at step `{}` for {seconds} s: {what}", step.id))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_outcome_has_its_message() {
        let time = "2026-12-01T12:00:00Z";
        let refused = "etcdserver: unhealthy cluster";
        let step = json!({ "id": "etcd-left", "title": "Leave etcd", "started": time, "state": "working", "attempts": [], "waits": [], "doing": refused });
        let error = json!({ "step": "etcd-left", "code": "BS-X-1", "message": "seen", "hint": "do", "time": time });
        let record = json!({
            "v": 1, "run": "r", "purpose": "up", "node": "n", "playbook": "cluster", "boot_id": "b",
            "process": { "pid": 1, "began": 1 }, "version": "0", "started": time, "updated": time, "outcome": "failed",
            "done": 31, "total": 36, "summary": "36 steps", "steps": [step], "last_error": error,
        });
        let run: RunRecord = serde_json::from_value(record).unwrap();
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        assert_eq!(evaluate(&run, Outcome::Done, at(time)), None);
        assert_eq!(evaluate(&run, Outcome::Working, at("2026-12-01T12:00:05Z")), None);
        let reported = [Outcome::Failed, Outcome::Interrupted, Outcome::Working]
            .map(|outcome| evaluate(&run, outcome, at("2026-12-01T12:01:00Z")).unwrap().evidence);
        insta::assert_snapshot!(reported.join("\n"));
    }
}
