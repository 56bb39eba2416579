//! How many bytes of requests are kept at once, of all clients.
//!
//! Every byte of a body is counted from when it is read until its request is answered. Strangers together have half of the
//! room, so that certified callers always find some; and no source has more than its share, so that no certified one can
//! use up what is left. A client that finds no room is asked to come again, instead of being kept waiting with what it has sent.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use super::{outside::locked, source::Source};
use crate::Refusal;

/// In all: 64 of the largest bodies.
const ALL: usize = 4 * 1024 * 1024;
/// Of that, for all strangers together.
const STRANGERS: usize = 2 * 1024 * 1024;
/// For one source: four of the largest bodies.
const EACH: usize = 256 * 1024;

/// What is kept at the moment.
#[derive(Default)]
pub(super) struct Budget(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    all: usize,
    strangers: usize,
    of: HashMap<Source, usize>,
}

/// What one request keeps; given back when dropped.
pub(super) struct Share {
    budget: Arc<Budget>,
    source: Source,
    bytes: usize,
}

impl Budget {
    /// Of a request that has sent nothing yet.
    pub(super) fn share(self: &Arc<Self>, source: &Source) -> Share {
        Share { budget: Arc::clone(self), source: source.clone(), bytes: 0 }
    }
}

impl Share {
    /// Makes room for more bytes.
    pub(super) fn grow(&mut self, more: usize) -> Result<(), Refusal> {
        let mut kept = locked(&self.budget.0);
        let of_source = kept.of.get(&self.source).copied().unwrap_or_default();
        let is_stranger = self.source.is_stranger();
        if of_source + more > EACH || kept.all + more > ALL || (is_stranger && kept.strangers + more > STRANGERS) {
            return Err(Refusal::Busy);
        }
        kept.all += more;
        kept.strangers += if is_stranger { more } else { 0 };
        kept.of.insert(self.source.clone(), of_source + more);
        self.bytes += more;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut kept = locked(&self.budget.0);
        kept.all -= self.bytes;
        kept.strangers -= if self.source.is_stranger() { self.bytes } else { 0 };
        if let Some(of_source) = kept.of.get_mut(&self.source) {
            *of_source -= self.bytes;
            if *of_source == 0 {
                kept.of.remove(&self.source);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stranger(number: u8) -> Source {
        Source::Address([192, 0, 2, number].into())
    }

    #[test]
    fn strangers_leave_room_and_no_client_takes_all_of_it() {
        let budget = Arc::new(Budget::default());
        let take = |source: Source| {
            let mut share = budget.share(&source);
            while share.grow(1024).is_ok() {}
            share
        };
        let strangers: Vec<Share> = (0..20).map(|number| take(stranger(number))).collect();
        assert_eq!(strangers[0].bytes, EACH, "no source has more than its share");
        assert_eq!(strangers.iter().map(|share| share.bytes).sum::<usize>(), STRANGERS);
        let hostile = take(Source::Certificate("hostile".into(), [192, 0, 2, 1].into()));
        assert_eq!(hostile.bytes, EACH);
        assert_eq!(
            take(Source::Certificate("honest".into(), [192, 0, 2, 1].into())).bytes,
            EACH,
            "there is always room"
        );
        drop((strangers, hostile));
        let kept = locked(&budget.0);
        assert!(kept.all == 0 && kept.strangers == 0 && kept.of.is_empty(), "all of it is given back");
    }
}
