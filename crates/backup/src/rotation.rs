//! Which automatic backups are kept: the last eight, one per hour for a day, one per day for a week. Pure.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

/// So many of the newest are kept, however old they are: a cluster that has been down for a month still has its last ones.
const NEWEST: usize = 8;
const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// One per `length` seconds, for as long as `until`.
const THINNED: [(i64, SignedDuration); 2] =
    [(HOUR, SignedDuration::from_hours(24)), (DAY, SignedDuration::from_hours(7 * 24))];

/// Those to be removed. What was made in the future was made by a clock that was wrong: it is kept until its time has
/// come, and takes no place of the others.
pub fn surplus(made: &BTreeSet<Timestamp>, now: Timestamp) -> BTreeSet<Timestamp> {
    let past: Vec<Timestamp> = made.iter().rev().copied().filter(|time| *time <= now).collect();
    let mut kept: BTreeSet<Timestamp> = past.iter().take(NEWEST).copied().collect();
    for (length, until) in THINNED {
        let mut periods = BTreeSet::new();
        // From the newest on, so that the last of each hour and day stays.
        for time in past.iter().filter(|time| now.duration_since(**time) <= until) {
            if periods.insert(time.as_second().div_euclid(length)) {
                kept.insert(*time);
            }
        }
    }
    past.into_iter().filter(|time| !kept.contains(time)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-11-16T12:07:00Z";

    fn times(texts: impl IntoIterator<Item = String>) -> BTreeSet<Timestamp> {
        texts.into_iter().map(|text| text.parse().unwrap()).collect()
    }

    /// Those that stay, as day and time.
    fn kept(made: &BTreeSet<Timestamp>) -> Vec<String> {
        let gone = surplus(made, NOW.parse().unwrap());
        made.difference(&gone).map(|time| time.strftime("%d %H:%M").to_string()).collect()
    }

    #[test]
    fn few_are_all_kept_however_old() {
        let old = times((1..=8).map(|day| format!("2025-01-{day:02}T00:00:00Z")));
        assert_eq!(kept(&old).len(), 8);
        assert_eq!(kept(&BTreeSet::new()), Vec::<String>::new());
        let more = times((1..=9).map(|day| format!("2025-01-{day:02}T00:00:00Z")));
        assert_eq!(kept(&more)[0], "02 00:00", "the oldest goes");
    }

    #[test]
    fn ten_days_every_quarter_of_an_hour() {
        let now: Timestamp = NOW.parse().unwrap();
        let made: BTreeSet<Timestamp> = (0..10 * 24 * 4).map(|n| now - SignedDuration::from_mins(15 * n + 7)).collect();
        insta::assert_snapshot!(kept(&made).join("\n"));
    }

    #[test]
    fn rotating_at_every_step_keeps_the_same_as_rotating_once() {
        let now: Timestamp = NOW.parse().unwrap();
        let all: Vec<Timestamp> = (0..10 * 24 * 4).rev().map(|n| now - SignedDuration::from_mins(15 * n + 7)).collect();
        let mut kept_step_by_step = BTreeSet::new();
        for made in &all {
            kept_step_by_step.insert(*made);
            let gone = surplus(&kept_step_by_step, *made);
            kept_step_by_step.retain(|time| !gone.contains(time));
        }
        let gone = surplus(&kept_step_by_step, now);
        kept_step_by_step.retain(|time| !gone.contains(time));
        let at_once: BTreeSet<Timestamp> = all.into_iter().collect();
        let gone = surplus(&at_once, now);
        assert_eq!(kept_step_by_step, at_once.difference(&gone).copied().collect());
    }

    #[test]
    fn what_a_wrong_clock_made_takes_no_place() {
        let future = (10..20).map(|minute| format!("2026-11-17T12:{minute}:00Z"));
        let recent = (0..9).map(|minute| format!("2026-11-16T12:0{minute}:00Z"));
        let made = times(future.chain(recent));
        let kept = kept(&made);
        assert_eq!(kept.iter().filter(|time| time.starts_with("17")).count(), 10);
        assert_eq!(kept.iter().filter(|time| time.starts_with("16")).count(), 8 + 1, "12:08 is in the future, too");
    }
}
