//! How fast requests may come from one source. A source that is faster hears so at once and costs next to nothing.
//!
//! Failures are [`super::throttle`]'s. This is for those who are right, too often: a node whose certificate was stolen
//! could ask for new certificates without a pause.

use std::{collections::HashMap, sync::Mutex, time::Duration};

use tokio::time::Instant;

use super::{outside::locked, source::Source};
use crate::Refusal;

/// What a source gets back each second. A node sends one request in a second, one that is about to join up to ten.
const PER_SECOND: f64 = 50.0;
/// What it can spend at once.
const MOST_SAVED: f64 = 200.0;
/// How many sources are remembered; those that have saved everything need not be.
const MOST: usize = 1024;
/// What it costs to ask for anything.
pub(super) const ANY: f64 = 1.0;
/// What it costs to have something signed or removed: ten at once, and then five in two seconds.
pub(super) const DEAR: f64 = 20.0;

/// What each source can still spend.
#[derive(Default)]
pub(super) struct RateLimit(Mutex<HashMap<Source, Saved>>);

struct Saved {
    amount: f64,
    at: Instant,
}

impl Saved {
    fn now(&self, now: Instant) -> f64 {
        let since = now.saturating_duration_since(self.at).as_secs_f64();
        since.mul_add(PER_SECOND, self.amount).min(MOST_SAVED)
    }
}

impl RateLimit {
    pub(super) fn spend(&self, source: &Source, cost: f64, now: Instant) -> Result<(), Refusal> {
        let mut all = locked(&self.0);
        let saved = all.get(source).map_or(MOST_SAVED, |saved| saved.now(now));
        if saved < cost {
            let wait = Duration::from_secs_f64((cost - saved) / PER_SECOND);
            return Err(Refusal::TooFast { who: source.to_string(), wait });
        }
        if all.len() >= MOST && !all.contains_key(source) {
            all.retain(|_, saved| saved.now(now) < MOST_SAVED);
        }
        if all.len() >= MOST && !all.contains_key(source) {
            // The stranger who has spent the least is the least loss.
            let left = |saved: &Saved| saved.now(now);
            let least = all
                .iter()
                .filter(|(source, _)| source.is_stranger())
                .max_by(|(_, one), (_, other)| left(one).total_cmp(&left(other)))
                .map(|(source, _)| source.clone());
            least.and_then(|least| all.remove(&least));
        }
        all.insert(source.clone(), Saved { amount: saved - cost, at: now });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_and_then_so_many_a_second() {
        let rate_limit = RateLimit::default();
        let begun = Instant::now();
        let granted = |source: &Source, cost: f64, after_millis: u64| {
            let now = begun + Duration::from_millis(after_millis);
            (0..1000).take_while(|_| rate_limit.spend(source, cost, now).is_ok()).count()
        };
        let (one, other) = (
            Source::Certificate("one".into(), [192, 0, 2, 1].into()),
            Source::Certificate("other".into(), [192, 0, 2, 1].into()),
        );
        for (source, cost, after_millis, expected) in [
            (&one, ANY, 0, 200),
            (&one, ANY, 100, 5),
            (&one, DEAR, 200, 0),
            (&one, DEAR, 1100, 2),
            (&other, DEAR, 1100, 10),
            (&one, ANY, 60_000, 200),
        ] {
            assert_eq!(granted(source, cost, after_millis), expected, "{source} {cost} {after_millis}");
        }
    }

    #[test]
    fn memory_is_bounded() {
        let rate_limit = RateLimit::default();
        let now = Instant::now();
        for number in 0..8_u8 {
            for last in 0..=u8::MAX {
                rate_limit.spend(&Source::Address([10, 2, number, last].into()), ANY, now).unwrap();
            }
        }
        assert_eq!(locked(&rate_limit.0).len(), MOST);
    }
}
