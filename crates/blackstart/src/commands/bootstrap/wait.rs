//! `blackstart bootstrap wait`: state is polled, never an event that could be missed.

use std::time::{Duration, Instant};

use nodekit::milestones::Progress;
use serde_json::json;
use tokio::time::sleep;

use super::{super::token, Source};
use crate::{
    Failure,
    cli::{BootstrapFrom as From, WaitFor},
    codes,
    context::{Context, Ended, block_on_until_signal},
    output::note,
};

/// An answer takes milliseconds, and people wait for it.
const PAUSE: Duration = Duration::from_millis(500);

impl WaitFor {
    /// The milestone that ends the wait.
    fn milestone(self) -> &'static str {
        match self {
            Self::Api => "kube-apiserver",
            Self::Masters => "masters",
            Self::Etcd => "etcd-scaled",
            Self::Pivot => "pivot",
            Self::Complete => "complete",
        }
    }
}

pub(super) fn run(context: &Context, what: WaitFor, timeout: Option<&str>, from: &From) -> Result<(), Ended> {
    let limit =
        timeout.map(token::length).transpose()?.map(|limit| Duration::from_secs(limit.as_secs().unsigned_abs()));
    let source = Source::find(context, from)?;
    block_on_until_signal(wait(context, &source, what.milestone(), limit))
}

async fn wait(context: &Context, source: &Source, id: &str, limit: Option<Duration>) -> Result<(), Ended> {
    let (since, mut last) = (Instant::now(), String::new());
    loop {
        let waiting = match source.progress(context).await {
            Ok(progress) => match evaluate(&progress, id) {
                None => return Ok(done(context, &progress, id)?),
                Some(waiting) => waiting,
            },
            // An API that is away for a moment is part of a hand-over.
            Err(failure) => failure.diagnostic.message,
        };
        if limit.is_some_and(|limit| since.elapsed() >= limit) {
            let message = format!("`{id}` is not reached: {waiting}");
            return Err(Failure::new(codes::NOT_IN_TIME, message).into());
        }
        if waiting != last && !context.out.is_json() {
            note(&format!("{waiting}\n"));
            last = waiting;
        }
        sleep(PAUSE).await;
    }
}

/// What is still missing; `None` once the milestone is reached. One that was reached stays so, also when a later one is.
fn evaluate(progress: &[Progress], id: &str) -> Option<String> {
    let wanted = progress.iter().find(|one| one.milestone.id == id)?;
    let is_passed = |one: &&Progress| one.milestone.number >= wanted.milestone.number && one.reached.is_some();
    if progress.iter().any(|one| is_passed(&one)) {
        return None;
    }
    let next = progress.iter().find(|one| one.reached.is_none()).unwrap_or(wanted);
    let reached = progress.iter().filter(|one| one.reached.is_some()).count();
    let what = next.waiting.as_ref().map(|what| format!(": {what}")).unwrap_or_default();
    Some(format!("{reached} of {} milestones, next: {}{what}", progress.len(), next.milestone.title))
}

fn done(context: &Context, progress: &[Progress], id: &str) -> Result<(), Failure> {
    let reached = progress.iter().find(|one| one.milestone.id == id).and_then(|one| one.reached);
    if context.out.is_json() {
        return context.out.json(&json!({ "milestone": id, "reached": reached }));
    }
    let at = reached.map(|time| format!(" at {}", time.strftime("%H:%M:%S"))).unwrap_or_default();
    context.out.text(&format!("{id}: reached{at}\n"))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use nodekit::milestones::ALL;

    use super::*;

    #[test]
    fn a_wait_ends_when_its_milestone_or_a_later_one_is_reached() {
        let progress = |until: u8, waiting: Option<&str>| -> Vec<Progress> {
            let one = |milestone: &'static nodekit::milestones::Milestone| Progress {
                milestone,
                reached: (milestone.number <= until).then_some(Timestamp::UNIX_EPOCH),
                waiting: waiting.filter(|_| milestone.number == until + 1).map(str::to_owned),
            };
            ALL.iter().map(one).collect()
        };
        assert_eq!(evaluate(&progress(5, None), "kube-apiserver"), None);
        assert_eq!(evaluate(&progress(13, None), "kube-apiserver"), None);
        let expected = "8 of 13 milestones, next: Masters join: waiting for master-02";
        assert_eq!(evaluate(&progress(8, Some("waiting for master-02")), "complete").as_deref(), Some(expected));
        // Only the last one is known: the ConfigMap of a bootstrap that had no time to publish the others.
        let mut last = progress(0, None);
        last[12].reached = Some(Timestamp::UNIX_EPOCH);
        assert_eq!(evaluate(&last, "etcd-scaled"), None);
    }
}
