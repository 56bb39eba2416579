//! A run as times: for every step, when it worked, when it waited, and when it began again. Pure.

use std::time::Duration;

use jiff::Timestamp;
use nodekit::run_record::{Outcome, RunRecord, StepRun};

/// Everything that is drawn of a run. Times count from its beginning.
pub(super) struct Chart<'a> {
    pub(super) record: &'a RunRecord,
    /// How long the run took, or has taken so far.
    pub(super) span: Duration,
    pub(super) rows: Vec<Row<'a>>,
}

/// One step.
pub(super) struct Row<'a> {
    pub(super) step: &'a StepRun,
    /// In the order of time, without gaps; none if the step was not tried.
    pub(super) pieces: Vec<Piece<'a>>,
    /// The attempts after the first one: their number, and when they began.
    pub(super) again: Vec<(u32, Duration)>,
}

/// A part of a step's time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) from: Duration,
    pub(super) until: Duration,
}

/// What a step did in a part of its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// It looked at the machine or changed it.
    Work,
    /// It waited for this.
    Wait(&'a str),
    /// It paused after this error, before another attempt.
    Pause(&'a str),
}

impl Kind<'_> {
    pub(super) fn is_work(self) -> bool {
        self == Self::Work
    }
}

impl Piece<'_> {
    pub(super) fn length(&self) -> Duration {
        self.until.saturating_sub(self.from)
    }
}

impl<'a> Chart<'a> {
    /// A run that still works has lasted until now; one that was interrupted, until its last word.
    pub(super) fn of(record: &'a RunRecord, now: Timestamp) -> Self {
        let end = match (record.ended, record.outcome) {
            (Some(ended), _) => ended,
            (None, Outcome::Working) => now,
            (None, _) => record.updated,
        };
        let clock = Clock { start: record.started, span: since(record.started, end) };
        let rows = record.steps.iter().map(|step| Row::of(step, &clock)).collect();
        Self { record, span: clock.span, rows }
    }
}

impl<'a> Row<'a> {
    /// From the first moment of the step to its last.
    pub(super) fn took(&self) -> Duration {
        match (self.pieces.first(), self.pieces.last()) {
            (Some(first), Some(last)) => last.until.saturating_sub(first.from),
            _ => Duration::ZERO,
        }
    }

    fn of(step: &'a StepRun, clock: &Clock) -> Self {
        let Some(started) = step.started else { return Self { step, pieces: Vec::new(), again: Vec::new() } };
        let waits = step.waits.iter().map(|wait| (Kind::Wait(&wait.what), wait.since, wait.until));
        let pauses = step.attempts.windows(2).filter_map(|pair| {
            let error = pair[0].error.as_ref()?;
            Some((Kind::Pause(&error.diagnostic.message), pair[0].ended?, Some(pair[1].started)))
        });
        let mut idle: Vec<Piece<'a>> = waits
            .chain(pauses)
            .map(|(kind, from, until)| Piece { kind, from: clock.at(Some(from)), until: clock.at(until) })
            .collect();
        idle.sort_by_key(|piece| piece.from);

        let (mut at, end) = (clock.at(Some(started)), clock.at(step.ended));
        let mut pieces = Vec::new();
        for piece in idle {
            // A clock that was set back must not make a bar run backwards.
            let from = piece.from.max(at);
            if from > at {
                pieces.push(Piece { kind: Kind::Work, from: at, until: from });
            }
            at = piece.until.max(from);
            pieces.push(Piece { from, until: at, ..piece });
        }
        if end > at || pieces.is_empty() {
            pieces.push(Piece { kind: Kind::Work, from: at, until: end.max(at) });
        }
        let again = step.attempts.iter().skip(1).map(|attempt| (attempt.number, clock.at(Some(attempt.started))));
        Self { step, pieces, again: again.collect() }
    }
}

/// Times of the wall as times of the run.
struct Clock {
    start: Timestamp,
    span: Duration,
}

impl Clock {
    /// What has no end yet ends with the run.
    fn at(&self, time: Option<Timestamp>) -> Duration {
        time.map_or(self.span, |time| since(self.start, time).min(self.span))
    }
}

/// Never negative: a clock may be set back.
fn since(start: Timestamp, time: Timestamp) -> Duration {
    Duration::try_from(time.duration_since(start)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::node::timeline::samples;

    fn pieces(row: &Row<'_>) -> Vec<String> {
        let piece =
            |piece: &Piece<'_>| format!("{:?} {}..{}", piece.kind, piece.from.as_millis(), piece.until.as_millis());
        row.pieces.iter().map(piece).collect()
    }

    #[test]
    fn every_moment_of_a_step_is_in_one_piece() {
        let record = samples::failed();
        let chart = Chart::of(&record, record.updated);
        assert_eq!(
            pieces(&chart.rows[3]),
            [
                "Work 300..900",
                "Wait(\"etcd.service to run\") 900..2400",
                "Wait(\"etcd to answer on port 2379\") 2400..9900",
                "Pause(\"waited for etcd to answer on port 2379; no progress for 7 s\") 9900..10900",
                "Work 10900..11100",
                "Wait(\"etcd to answer on port 2379\") 11100..19000",
            ]
        );
        assert_eq!(chart.rows[3].again, [(2, Duration::from_millis(10_900))]);
        assert_eq!(chart.rows.last().unwrap().pieces, []);
        for row in &chart.rows {
            assert!(row.pieces.windows(2).all(|pair| pair[0].until == pair[1].from), "{}", row.step.id);
        }
    }

    #[test]
    fn a_run_lasts_until_its_end_or_until_now() {
        let mut record = samples::working();
        let now = samples::at(60_000);
        let millis = |record: &RunRecord| Chart::of(record, now).span.as_millis();
        assert_eq!(millis(&record), 60_000);
        record.outcome = Outcome::Interrupted;
        assert_eq!(millis(&record), 4_000);
        assert_eq!(millis(&samples::failed()), 19_100);
    }

    #[test]
    fn a_clock_that_is_set_back_draws_no_bar_backwards() {
        let mut record = samples::failed();
        record.steps[3].waits[1].until = Some(samples::at(-3_600_000));
        let chart = Chart::of(&record, record.updated);
        let row = &chart.rows[3];
        assert!(row.pieces.iter().all(|piece| piece.from <= piece.until), "{:?}", row.pieces);
    }
}
