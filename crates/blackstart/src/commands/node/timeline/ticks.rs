//! Round times along an axis.

use std::time::Duration;

const STEPS: [u64; 18] =
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000];
const HALF_HOUR: u64 = 1_800_000;

/// The shortest round time that divides the span into at most so many parts.
pub(super) fn step(span: Duration, most: usize) -> Duration {
    let span = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    let least = span / u64::try_from(most).unwrap_or(u64::MAX).max(1);
    let round = STEPS.into_iter().find(|step| *step >= least);
    Duration::from_millis(round.unwrap_or_else(|| least.div_ceil(HALF_HOUR) * HALF_HOUR))
}

/// A multiple of that step in words.
pub(super) fn label(time: Duration, step: Duration) -> String {
    let millis = time.as_millis();
    match step.as_millis() {
        60_000.. => format!("{} min", millis / 60_000),
        1_000.. => format!("{} s", millis / 1_000),
        100.. => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        _ => format!("{millis} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_not_too_many() {
        for (span, most, expected, mark, text) in [
            (4, 5, 1, 3, "3 ms"),
            (2_600, 6, 500, 1_500, "1.5 s"),
            (25_000, 6, 5_000, 15_000, "15 s"),
            (25_000, 0, 30_000, 30_000, "30 s"),
            (240_000, 6, 60_000, 180_000, "3 min"),
            (36_000_000, 6, 7_200_000, 7_200_000, "120 min"),
        ] {
            let found = step(Duration::from_millis(span), most);
            assert_eq!(found, Duration::from_millis(expected), "{span} / {most}");
            assert_eq!(label(Duration::from_millis(mark), found), text);
        }
    }
}
