//! What is logged of refused requests: the first of a kind at once, and then how many there were, once a minute.
//!
//! A line for each would let a client fill the journal, and push out of it what happened before.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    net::IpAddr,
    sync::Mutex,
    time::Duration,
};

use tokio::time::Instant;

use super::outside::locked;

/// Between two summaries, and how long a kind must not have been seen to be new again.
pub(super) const MINUTE: Duration = Duration::from_mins(1);
/// How many kinds are remembered. Beyond that they are only counted.
const MOST: usize = 256;

/// Refusals by kind.
pub(super) struct Tally(Mutex<Seen>);

struct Seen {
    /// When each kind was last seen.
    kinds: HashMap<Kind, Instant>,
    /// Those that were not logged one by one, since the last summary.
    unreported: Unreported,
    since: Instant,
}

/// A code, what was asked for, and from where.
type Kind = (&'static str, &'static str, IpAddr);

#[derive(Default)]
struct Unreported {
    by_code: BTreeMap<&'static str, u64>,
    addresses: HashSet<IpAddr>,
}

/// What to say of a refusal.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Noted {
    /// Whether it is logged at once.
    pub(super) is_new: bool,
    /// What there was before, if it is time to say so.
    pub(super) summary: Option<String>,
}

impl Tally {
    pub(super) fn new(now: Instant) -> Self {
        Self(Mutex::new(Seen { kinds: HashMap::new(), unreported: Unreported::default(), since: now }))
    }

    /// Counts a refusal.
    pub(super) fn note(&self, code: &'static str, what: &'static str, address: IpAddr, now: Instant) -> Noted {
        let mut seen = locked(&self.0);
        let summary = seen.summary(now);
        let kind = (code, what, address);
        let is_known = seen.kinds.contains_key(&kind);
        if !is_known && seen.kinds.len() >= MOST {
            seen.kinds.retain(|_, last| now.saturating_duration_since(*last) < MINUTE);
        }
        let has_room = seen.kinds.len() < MOST;
        let last = if is_known || has_room { seen.kinds.insert(kind, now) } else { Some(now) };
        let is_new = last.is_none_or(|last| now.saturating_duration_since(last) >= MINUTE);
        if !is_new {
            *seen.unreported.by_code.entry(code).or_default() += 1;
            if seen.unreported.addresses.len() < MOST {
                seen.unreported.addresses.insert(address);
            }
        }
        Noted { is_new, summary }
    }

    /// What has not been logged, if it is time to.
    pub(super) fn due(&self, now: Instant) -> Option<String> {
        locked(&self.0).summary(now)
    }
}

impl Seen {
    fn summary(&mut self, now: Instant) -> Option<String> {
        let lasted = now.saturating_duration_since(self.since);
        if lasted < MINUTE {
            return None;
        }
        self.since = now;
        let Unreported { by_code, addresses } = std::mem::take(&mut self.unreported);
        if by_code.is_empty() {
            return None;
        }
        let all: u64 = by_code.values().sum();
        let codes: Vec<String> = by_code.iter().map(|(code, count)| format!("{code} x{count}")).collect();
        let more = if addresses.len() >= MOST { " or more" } else { "" };
        let from = match addresses.iter().next() {
            Some(only) if addresses.len() == 1 => only.to_string(),
            _ => format!("{}{more} addresses", addresses.len()),
        };
        Some(format!("refused {all} more requests in {} s: {} from {from}", lasted.as_secs(), codes.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    #[test]
    fn the_first_is_logged_the_rest_is_counted() {
        let begun = Instant::now();
        let tally = Tally::new(begun);
        let at = |seconds: u64| begun + Duration::from_secs(seconds);
        let note = |code, last, seconds| {
            let Noted { is_new, summary } = tally.note(code, "join", ip(last), at(seconds));
            (is_new, summary.unwrap_or_default())
        };
        let quiet = |is_new| (is_new, String::new());
        assert_eq!(note("A", 1, 0), quiet(true));
        assert_eq!(note("A", 1, 1), quiet(false));
        assert_eq!(note("A", 2, 1), quiet(true), "another address");
        assert_eq!(note("B", 1, 2), quiet(true), "another code");
        assert_eq!(note("B", 1, 30), quiet(false));
        assert_eq!(note("A", 2, 59), quiet(false));
        assert_eq!(note("A", 2, 60), (false, "refused 3 more requests in 60 s: A x2, B x1 from 2 addresses".into()));
        assert_eq!(note("B", 1, 90), quiet(true), "a quiet minute lies between the two");
        assert_eq!(tally.due(at(100)), None);
        assert_eq!(tally.due(at(125)).as_deref(), Some("refused 1 more requests in 65 s: A x1 from 192.0.2.2"));
        assert_eq!(tally.due(at(300)), None, "nothing was refused");
    }

    #[test]
    fn memory_is_bounded() {
        let begun = Instant::now();
        let tally = Tally::new(begun);
        let reported = (0..=u16::MAX).filter(|number| {
            let [high, low] = number.to_be_bytes();
            tally.note("A", "join", [10, 9, high, low].into(), begun).is_new
        });
        assert_eq!(reported.count(), MOST);
        let summary = tally.due(begun + MINUTE).unwrap();
        assert!(summary.contains("x65280 from 256 or more addresses"), "{summary}");
        assert!(tally.note("A", "join", ip(1), begun + MINUTE).is_new, "what is old is forgotten");
    }
}
