//! The thirteen milestones as people see them: a box, a title, and when it was reached or what it waits for. `bootstrap
//! status`, `watch` and `node timeline` show the same.

use jiff::Timestamp;

use crate::milestones::{self, Progress};

/// One milestone for people.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// Whether its box is ticked.
    pub is_reached: bool,
    /// Its number and title, as wide as all others.
    pub title: String,
    /// When it was reached and how long after the one before, or what it waits for. Parts of it may be another machine's text.
    pub at: String,
}

/// One for each.
pub fn rows(progress: &[Progress]) -> Vec<Row> {
    let mut before: Option<Timestamp> = None;
    let row = |Progress { milestone, reached, waiting }: &Progress| {
        let at = match (reached, waiting) {
            (Some(time), _) => format!("{}{}", time.strftime("%H:%M:%S"), lap(before, *time)),
            (None, Some(waiting)) => waiting.clone(),
            (None, None) => String::new(),
        };
        before = reached.or(before);
        Row { is_reached: reached.is_some(), title: format!("{:>2}  {:<40}", milestone.number, milestone.title), at }
    };
    progress.iter().map(row).collect()
}

/// All of them in one line once the last one is reached. The day is shown where it was another one.
pub fn completed(progress: &[Progress], now: Timestamp) -> Option<String> {
    let end = milestones::completed(progress)?;
    let day = |time: Timestamp| time.strftime("%Y-%m-%d ").to_string();
    let date = Some(day(end)).filter(|date| *date != day(now)).unwrap_or_default();
    // Of one that was removed only the end may be known.
    let first = progress.iter().filter_map(|one| one.reached).min().filter(|first| *first < end);
    let took = first.map(|first| format!(", in {} s", end.duration_since(first).as_secs())).unwrap_or_default();
    Some(format!("bootstrap complete at {date}{}{took}", end.strftime("%H:%M:%SZ")))
}

/// How long it took since the one before. Some are reached before their neighbours: then there is nothing to show.
fn lap(before: Option<Timestamp>, time: Timestamp) -> String {
    match before {
        Some(before) if time >= before => format!("  +{} s", time.duration_since(before).as_secs()),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::milestones::{ALL, Milestone};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_795_000_000 + second).unwrap()
    }

    /// Milestones that were reached at these seconds.
    fn reached(seconds: &[(u8, i64)]) -> Vec<Progress> {
        let one = |milestone: &'static Milestone| Progress {
            milestone,
            reached: seconds.iter().find(|(number, _)| *number == milestone.number).map(|(_, second)| at(*second)),
            waiting: (milestone.number == 6).then(|| "waiting for the API".to_owned()),
        };
        ALL.iter().map(one).collect()
    }

    #[test]
    fn a_row_has_the_time_since_the_last_one_that_was_reached_before_it() {
        let rows = rows(&reached(&[(1, 2), (2, 5), (3, 4), (5, 9)]));
        let shown: Vec<&str> = rows.iter().take(7).map(|row| row.at.as_str()).collect();
        let expected = ["11:06:42", "11:06:45  +3 s", "11:06:44", "", "11:06:49  +5 s", "waiting for the API", ""];
        assert_eq!(shown, expected);
        assert_eq!(rows.iter().filter(|row| row.is_reached).count(), 4);
        assert!(rows.iter().all(|row| row.title.chars().count() == 44));
    }

    #[test]
    fn once_it_is_complete_one_line_is_enough() {
        for (seconds, now, expected) in [
            (&[(1, 5), (12, 60)][..], 70, None),
            (&[(1, 5), (13, 65)], 70, Some("bootstrap complete at 11:07:45Z, in 60 s")),
            (&[(13, 65)], 70, Some("bootstrap complete at 11:07:45Z")),
            (&[(1, 5), (13, 65)], 86_400, Some("bootstrap complete at 2026-11-18 11:07:45Z, in 60 s")),
        ] {
            assert_eq!(completed(&reached(seconds), at(now)).as_deref(), expected, "{seconds:?}");
        }
    }
}
