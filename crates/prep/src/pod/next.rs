//! What a pod does next: one pure function of what it sees.
//!
//! | seen on the node | next |
//! |---|---|
//! | the unit runs | follow it |
//! | no report, or one of an earlier boot, or of earlier files | run |
//! | `working`, but no unit runs: it was killed | run |
//! | `ready`, `not-applicable` | look again after the interval: drift is repaired |
//! | `incapable` | the same: trying sooner does not help |
//! | `failed` | run again, later each time |
//!
//! Whatever the node looks like, a run that did not end well is followed by a pause, so that nothing becomes a storm.

use std::{fmt, time::Duration};

use jiff::{SignedDuration, Timestamp};

use crate::{Report, State};

/// After the first run that failed.
pub(super) const FIRST_PAUSE: Duration = Duration::from_secs(30);
/// However often it has failed; a mirror that is back is found within this time.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_mins(10);

/// What a pod sees of its node.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    /// Whether the unit runs.
    pub(super) is_running: bool,
    /// The report of the last run.
    pub(super) report: Option<&'a Report>,
    /// This boot of the machine.
    pub(super) boot_id: &'a str,
    /// When script, program or options were last changed.
    pub(super) put_at: Option<Timestamp>,
    /// What this pod remembers.
    pub(super) history: &'a History,
    /// Now.
    pub(super) now: Timestamp,
    /// Between two checks of a node that is fine, with what this node adds so that not all check at once.
    pub(super) interval: Duration,
}

/// What a pod remembers of the runs it has seen end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct History {
    /// When the last one ended, or what comes before one failed.
    pub(super) ended: Option<Timestamp>,
    /// When the last one ended.
    pub(super) ran: Option<Timestamp>,
    /// How many in a row did not end well.
    pub(super) failures: u32,
    /// How many there were.
    pub(super) runs: u64,
}

impl History {
    /// A run has ended, well or not. An incapable machine is reported as such, and that is a good end.
    pub(super) fn note(&mut self, now: Timestamp, state: State) {
        (self.ended, self.ran) = (Some(now), Some(now));
        self.runs += 1;
        self.failures = if state == State::Failed { self.failures.saturating_add(1) } else { 0 };
    }

    /// Something failed that is in no report: a run that left none, or what comes before a run.
    pub(super) fn stumble(&mut self, now: Timestamp, of_run: bool) {
        self.ended = Some(now);
        if of_run {
            self.ran = Some(now);
            self.runs += 1;
        }
        self.failures = self.failures.saturating_add(1);
    }
}

/// What a pod does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// A run is under way, started by this pod or an earlier one.
    Follow,
    /// Start one.
    Run(Why),
    /// Nothing before this time.
    Wait(Timestamp),
}

/// Why a run is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// There is no report.
    First,
    /// The last one was killed.
    Killed,
    /// The machine has been started again since.
    Rebooted,
    /// Script, program or options are newer than the last run.
    Changed,
    /// The last one failed.
    Failed,
    /// It is time to look for drift.
    Due,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "nothing was done on this node yet",
            Self::Killed => "the last run was ended in the middle",
            Self::Rebooted => "the node was started again since the last run",
            Self::Changed => "program, script or options are newer than the last run",
            Self::Failed => "the last run failed",
            Self::Due => "it is time to check again",
        })
    }
}

/// What to do next.
pub(super) fn next(seen: &Seen<'_>) -> Next {
    if seen.is_running {
        return Next::Follow;
    }
    let (why, due) = wanted(seen);
    let due = due.max(pause_ends(seen));
    if due <= seen.now { Next::Run(why) } else { Next::Wait(due) }
}

/// The next run there would be, and when, if none of this pod had failed.
fn wanted(seen: &Seen<'_>) -> (Why, Timestamp) {
    let Some(report) = seen.report else { return (Why::First, seen.now) };
    // A clock that was set back must not put off the next check by years.
    let output = report.at.min(seen.now);
    // No pod outlives its boot; and whatever a report says, one run is enough for a boot, and for a change of files.
    let is_of_this_boot = report.boot_id == seen.boot_id || seen.history.ran.is_some();
    let last = seen.history.ran.map_or(report.at, |ran| ran.max(report.at));
    // A file from the future would be newer than every run to come.
    let is_older_than_files = seen.put_at.is_some_and(|put| put > last && put <= seen.now);
    match report.state {
        State::Working => (Why::Killed, seen.now),
        _ if !is_of_this_boot => (Why::Rebooted, seen.now),
        _ if is_older_than_files => (Why::Changed, seen.now),
        State::Failed => (Why::Failed, later(output, pause(seen.history.failures.max(1)))),
        State::Ready | State::NotApplicable | State::Incapable => (Why::Due, later(output, seen.interval)),
    }
}

/// When the pause after failures that this pod has seen is over.
fn pause_ends(seen: &Seen<'_>) -> Timestamp {
    match seen.history {
        History { ended: Some(ended), failures: 1.., .. } => {
            later((*ended).min(seen.now), pause(seen.history.failures))
        }
        _ => Timestamp::MIN,
    }
}

/// Doubles with every failure, up to a limit.
pub(super) fn pause(failures: u32) -> Duration {
    let doubled = 1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE)
}

fn later(time: Timestamp, by: Duration) -> Timestamp {
    let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
    time.checked_add(by).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    const NOW: i64 = 1_800_000_000;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(NOW + seconds).unwrap()
    }

    /// A report of this state, written so many seconds ago, in this boot.
    fn report(state: State, ago: i64) -> Report {
        Report { state, at: at(-ago), boot_id: "now".into(), ..samples::ready() }
    }

    fn seen<'a>(report: Option<&'a Report>, history: &'a History) -> Seen<'a> {
        let interval = Duration::from_mins(10);
        Seen { is_running: false, report, boot_id: "now", put_at: Some(at(-9999)), history, now: at(0), interval }
    }

    fn failed(times: u32, ago: i64) -> History {
        History { ended: Some(at(-ago)), ran: None, failures: times, runs: 7 }
    }

    #[test]
    fn every_state_of_a_node_has_its_next_step() {
        use State::{Failed, Incapable, NotApplicable, Ready, Working};
        let fresh = History::default();
        for (case, report, history, expected) in [
            ("never seen", None, &fresh, Next::Run(Why::First)),
            ("killed", Some(report(Working, 5)), &fresh, Next::Run(Why::Killed)),
            ("fine", Some(report(Ready, 60)), &fresh, Next::Wait(at(540))),
            ("fine for long", Some(report(Ready, 600)), &fresh, Next::Run(Why::Due)),
            ("nothing to do here", Some(report(NotApplicable, 60)), &fresh, Next::Wait(at(540))),
            ("cannot", Some(report(Incapable, 60)), &fresh, Next::Wait(at(540))),
            ("cannot, for long", Some(report(Incapable, 601)), &fresh, Next::Run(Why::Due)),
            ("failed, seen by an earlier pod", Some(report(Failed, 10)), &fresh, Next::Wait(at(20))),
            ("failed, and the pause is over", Some(report(Failed, 30)), &fresh, Next::Run(Why::Failed)),
            ("failed for the third time", Some(report(Failed, 30)), &failed(3, 30), Next::Wait(at(90))),
            ("killed again and again", Some(report(Working, 30)), &failed(4, 30), Next::Wait(at(210))),
            ("runs leave no report", None, &failed(1, 10), Next::Wait(at(20))),
            ("the clock was set back", Some(report(Ready, -99_999)), &fresh, Next::Wait(at(600))),
        ] {
            assert_eq!(next(&seen(report.as_ref(), history)), expected, "{case}");
        }
    }

    #[test]
    fn a_running_unit_is_followed_whatever_else_there_is() {
        let (old, history) = (report(State::Failed, 9999), failed(9, 0));
        for report in [None, Some(&old)] {
            assert_eq!(next(&Seen { is_running: true, ..seen(report, &history) }), Next::Follow);
        }
    }

    #[test]
    fn a_new_boot_and_new_files_are_reasons_unless_runs_fail() {
        let (ready, fresh) = (report(State::Ready, 60), History::default());
        let failing = failed(1, 10);
        let check =
            |boot_id, put: i64, history| next(&Seen { boot_id, put_at: Some(at(put)), ..seen(Some(&ready), history) });
        assert_eq!(check("next", -90, &fresh), Next::Run(Why::Rebooted));
        assert_eq!(check("next", -90, &failing), Next::Wait(at(20)));
        assert_eq!(check("now", -30, &fresh), Next::Run(Why::Changed));
        assert_eq!(check("now", 30, &fresh), Next::Wait(at(540)), "a file from the future");
        let ran = History { ran: Some(at(-20)), ..History::default() };
        assert_eq!(check("never", -30, &ran), Next::Wait(at(540)), "one run is enough");
        assert_eq!(check("never", -10, &ran), Next::Run(Why::Changed));
    }

    #[test]
    fn pauses_grow_to_a_limit_and_a_good_end_forgets_them() {
        let pauses: Vec<u64> = (1..=7).map(|failures| pause(failures).as_secs()).collect();
        assert_eq!(pauses, [30, 60, 120, 240, 480, 600, 600]);
        assert_eq!(pause(u32::MAX), LONGEST_PAUSE);
        let mut history = failed(3, 30);
        history.note(at(0), State::Failed);
        assert_eq!(history.failures, 4);
        history.stumble(at(0), false);
        assert_eq!((history.failures, history.runs), (5, 8));
        history.note(at(1), State::Incapable);
        assert_eq!(history, History { ended: Some(at(1)), ran: Some(at(1)), failures: 0, runs: 9 });
    }
}
