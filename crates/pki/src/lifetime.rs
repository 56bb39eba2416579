//! When a certificate starts, ends and is due, and whether the clock can be believed at all.
//!
//! One rule for all: due when two thirds of the lifetime are spent (the agent renews then), urgent when nine tenths are
//! (every plan renews then). For a CA of ten years "urgent" begins one year before its end, which is when the
//! leaves it signs start to be cut short.

use jiff::Timestamp;
use serde::Serialize;

use crate::PkiError;

const MINUTE: i64 = 60;
const DAY: i64 = 24 * 60 * MINUTE;

/// Clocks of a cluster differ a little: what is issued now must be valid on a machine that is behind. In seconds.
pub const BACKDATED: i64 = 5 * MINUTE;

/// A CA that ends sooner than this signs nothing worth having.
const LAST_HOUR: i64 = 60 * MINUTE;

/// This code was written after this moment (2026-11-15), so no honest clock shows an earlier one.
const WRITTEN: i64 = 1_794_700_800;

/// Beyond this many years after the build, it is the clock that is wrong.
const PLAUSIBLE: i64 = 50 * 365 * DAY;

/// The earliest moment a right clock can show: the build's date where the build says it, else the code's own.
const BUILT: i64 = {
    // Reproducible builds set this; the compiler tracks it, so no build script is needed.
    let output = match option_env!("SOURCE_DATE_EPOCH") {
        Some(text) => match i64::from_str_radix(text, 10) {
            Ok(seconds) => seconds,
            Err(_) => WRITTEN,
        },
        None => WRITTEN,
    };
    if output > WRITTEN { output } else { WRITTEN }
};

/// How pressing a renewal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Urgency {
    /// Less than two thirds of the lifetime are spent.
    Ok,
    /// Due: two thirds are spent.
    Soon,
    /// Nine tenths are spent.
    Urgent,
    /// Over.
    Expired,
}

/// From when to when a certificate is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lifetime {
    pub(crate) not_before: i64,
    pub(crate) not_after: i64,
}

impl Lifetime {
    /// Starts a little in the past, lasts `days` from now.
    pub(crate) fn starting(now: Timestamp, days: i64) -> Self {
        Self::lasting(now, days * DAY)
    }

    /// The same for a number of seconds.
    pub(crate) fn lasting(now: Timestamp, seconds: i64) -> Self {
        let now = now.as_second();
        Self { not_before: now - BACKDATED, not_after: now.saturating_add(seconds) }
    }

    /// Starts a little in the past, ends at that moment.
    pub(crate) fn until(end: Timestamp, now: Timestamp) -> Self {
        Self { not_before: now.as_second() - BACKDATED, not_after: end.as_second() }
    }

    /// Cut to lie inside the CA's own.
    pub(crate) fn within(self, ca: Self) -> Self {
        Self { not_before: self.not_before.max(ca.not_before), not_after: self.not_after.min(ca.not_after) }
    }

    pub(crate) fn urgency(self, now: Timestamp) -> Urgency {
        let spent = now.as_second().saturating_sub(self.not_before);
        let whole = self.not_after.saturating_sub(self.not_before);
        if now.as_second() >= self.not_after {
            Urgency::Expired
        } else if spent.saturating_mul(10) >= whole.saturating_mul(9) {
            Urgency::Urgent
        } else if spent.saturating_mul(3) >= whole.saturating_mul(2) {
            Urgency::Soon
        } else {
            Urgency::Ok
        }
    }

    pub(crate) fn has_begun(self, now: Timestamp) -> bool {
        self.not_before <= now.as_second()
    }

    /// True if nothing useful can be signed any more.
    pub(crate) fn is_in_its_last_hour(self, now: Timestamp) -> bool {
        self.not_after <= now.as_second().saturating_add(LAST_HOUR)
    }

    /// Whole days until the end, negative after it.
    pub(crate) fn days_left(self, now: Timestamp) -> i64 {
        self.not_after.saturating_sub(now.as_second()).div_euclid(DAY)
    }
}

/// A certificate may name a year that a timestamp cannot; the nearest one it can is as good.
pub(crate) fn timestamp(seconds: i64) -> Timestamp {
    let nearest = if seconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_second(seconds).unwrap_or(nearest)
}

/// Whether a clock that shows this can be right.
pub fn is_plausible(now: Timestamp) -> bool {
    (BUILT..BUILT + PLAUSIBLE).contains(&now.as_second())
}

/// Stops where certificates would be made with a clock that cannot be right.
pub(crate) fn check_clock(now: Timestamp) -> Result<(), PkiError> {
    if is_plausible(now) { Ok(()) } else { Err(PkiError::Clock { now, built: timestamp(BUILT) }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn urgency_follows_the_spent_part() {
        let life = Lifetime { not_before: 1000, not_after: 4000 };
        for (now, expected) in [
            (0, Urgency::Ok),
            (1000, Urgency::Ok),
            (2999, Urgency::Ok),
            (3000, Urgency::Soon),
            (3699, Urgency::Soon),
            (3700, Urgency::Urgent),
            (3999, Urgency::Urgent),
            (4000, Urgency::Expired),
        ] {
            assert_eq!(life.urgency(at(now)), expected, "{now}");
        }
    }

    #[test]
    fn what_is_new_is_never_due_even_under_a_ca_near_its_end() {
        let now = at(BUILT);
        for left in [LAST_HOUR + 1, DAY, 400 * DAY] {
            let ca = Lifetime { not_before: BUILT - 3650 * DAY, not_after: BUILT + left };
            let leaf = Lifetime::starting(now, 365).within(ca);
            assert_eq!(leaf.urgency(now), Urgency::Ok, "{left}");
            assert!(leaf.not_after <= ca.not_after);
        }
    }

    #[test]
    fn days_left_are_whole_days() {
        let life = Lifetime { not_before: 0, not_after: 10 * DAY };
        for (now, expected) in [(0, 10), (1, 9), (10 * DAY, 0), (10 * DAY + 1, -1), (12 * DAY, -2)] {
            assert_eq!(life.days_left(at(now)), expected, "{now}");
        }
    }

    #[test]
    fn only_a_plausible_clock_is_believed() {
        for (seconds, plausible) in [
            (0, false),
            (BUILT - 1, false),
            (BUILT, true),
            (BUILT + 10 * 365 * DAY, true),
            (BUILT + PLAUSIBLE, false),
            (Timestamp::MAX.as_second(), false),
        ] {
            assert_eq!(check_clock(at(seconds)).is_ok(), plausible, "{seconds}");
        }
    }

    #[test]
    fn the_build_date_is_not_in_the_future() {
        assert_eq!(timestamp(WRITTEN).to_string(), "2026-11-15T00:00:00Z");
        assert!(timestamp(BUILT) <= Timestamp::now());
    }
}
