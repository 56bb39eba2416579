//! Challenges: each joins one node, or is good for one report of one node, once, within a minute.
//!
//! A challenge carries its own moment and an HMAC under a key of this process, so that handing them out costs no memory:
//! a flood of greetings pushes no challenge out. Only those that were spent are remembered, until they would be too
//! old anyway. A master that restarts forgets its key, and nodes ask again.
//!
//! Reports come all the time, and would push out what joining needs. Of their challenges only the moment of each node's
//! last one is kept ([`Good::follow`]): an older one was used before, or came too late to be of interest.

use std::{collections::BTreeMap, sync::Mutex, time::Duration};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use jiff::Timestamp;

use super::outside::locked;
use crate::{Refusal, mac, refusal::Challenge as Flaw, secret::NoRandomness};

const PURPOSE: &str = "blackstart challenge v1";
const LIFETIME: Duration = Duration::from_mins(1);
/// Far more nodes than join in a minute.
const MOST_SPENT: usize = 4096;
const MOMENT: usize = 8;
const NONCE: usize = 16;

/// Makes challenges and remembers which were spent.
pub(crate) struct Challenges {
    key: [u8; 32],
    spent: Mutex<BTreeMap<Vec<u8>, i64>>,
}

/// A challenge of ours that is not too old.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Good {
    nonce: Vec<u8>,
    made: i64,
}

impl Challenges {
    pub(crate) fn new() -> Result<Self, NoRandomness> {
        Ok(Self { key: mac::random()?, spent: Mutex::default() })
    }

    pub(crate) fn issue(&self, now: Timestamp) -> Result<String, NoRandomness> {
        let mut bytes = now.as_millisecond().to_be_bytes().to_vec();
        bytes.extend(mac::random::<NONCE>()?);
        let tag = mac::sign(&self.key, PURPOSE, &[&bytes]);
        bytes.extend(tag.as_ref());
        Ok(BASE64.encode(bytes))
    }

    /// Reads a challenge; does not spend it.
    pub(crate) fn check(&self, text: &str, now: Timestamp) -> Result<Good, Refusal> {
        let unknown = Refusal::Challenge(Flaw::Unknown);
        let bytes = BASE64.decode(text).map_err(|_| unknown.clone())?;
        let Some((body, tag)) = bytes.split_at_checked(MOMENT + NONCE) else { return Err(unknown) };
        if !mac::verify(&self.key, PURPOSE, &[body], tag) {
            return Err(unknown);
        }
        let Some((moment, nonce)) = body.split_first_chunk::<MOMENT>() else { return Err(unknown) };
        let made = i64::from_be_bytes(*moment);
        if is_old(made, now) {
            return Err(Refusal::Challenge(Flaw::Expired));
        }
        Ok(Good { nonce: nonce.to_vec(), made })
    }

    /// Spends a challenge; of two that try at the same moment, one succeeds.
    pub(crate) fn spend(&self, challenge: Good, now: Timestamp) -> Result<(), Refusal> {
        let mut spent = locked(&self.spent);
        spent.retain(|_, made| !is_old(*made, now));
        if spent.contains_key(&challenge.nonce) {
            return Err(Refusal::Challenge(Flaw::Used));
        }
        if spent.len() >= MOST_SPENT {
            return Err(Refusal::Failure { why: "too many nodes join at once".to_owned() });
        }
        spent.insert(challenge.nonce, challenge.made);
        Ok(())
    }
}

impl Good {
    /// The moment of this challenge, if it is newer than the `last` one of the same node. A last one of a time to come
    /// does not count: the clock was set back, and [`Challenges::check`] refuses it anyway.
    pub(crate) fn follow(&self, last: Option<i64>, now: Timestamp) -> Result<i64, Refusal> {
        let is_used = last.is_some_and(|last| self.made <= last && last <= now.as_millisecond());
        if is_used { Err(Refusal::Challenge(Flaw::Used)) } else { Ok(self.made) }
    }
}

/// Too old, or of a time to come: then the clock was set back, and how old it is is unknown.
fn is_old(made: i64, now: Timestamp) -> bool {
    let age = now.as_millisecond().saturating_sub(made);
    u64::try_from(age).map_or(true, |age| u128::from(age) > LIFETIME.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_900_000_000 + seconds).unwrap()
    }

    fn flaw(outcome: &Result<Good, Refusal>) -> Option<Flaw> {
        match outcome {
            Err(Refusal::Challenge(flaw)) => Some(*flaw),
            _ => None,
        }
    }

    #[test]
    fn good_for_a_minute_and_only_where_it_was_made() {
        let challenges = Challenges::new().unwrap();
        let text = challenges.issue(at(0)).unwrap();
        for (now, expected) in [(0, None), (60, None), (61, Some(Flaw::Expired)), (-1, Some(Flaw::Expired))] {
            assert_eq!(flaw(&challenges.check(&text, at(now))), expected, "{now}");
        }
        assert_eq!(flaw(&Challenges::new().unwrap().check(&text, at(0))), Some(Flaw::Unknown), "another process");
        let longer = format!("{text}AAAA");
        for other in ["", "AAAA", "!", &text[1..], &longer] {
            assert_eq!(flaw(&challenges.check(other, at(0))), Some(Flaw::Unknown), "{other}");
        }
        assert_ne!(text, challenges.issue(at(0)).unwrap());
    }

    #[test]
    fn spent_once() {
        let challenges = Challenges::new().unwrap();
        let text = challenges.issue(at(0)).unwrap();
        let good = || challenges.check(&text, at(1)).unwrap();
        assert_eq!(challenges.spend(good(), at(1)), Ok(()));
        assert_eq!(challenges.spend(good(), at(1)), Err(Refusal::Challenge(Flaw::Used)));
        let other = challenges.issue(at(100)).unwrap();
        challenges.spend(challenges.check(&other, at(100)).unwrap(), at(100)).unwrap();
        assert_eq!(locked(&challenges.spent).len(), 1, "what is too old is forgotten");
    }

    #[test]
    fn each_is_newer_than_the_last() {
        let challenges = Challenges::new().unwrap();
        let made = |moment: i64| challenges.check(&challenges.issue(at(moment)).unwrap(), at(moment)).unwrap();
        let moment = |seconds: i64| at(seconds).as_millisecond();
        let used = Err(Refusal::Challenge(Flaw::Used));
        for (last, now, expected) in [
            (None, 5, Ok(moment(5))),
            (Some(4), 5, Ok(moment(5))),
            (Some(5), 5, used.clone()),
            (Some(6), 6, used),
            (Some(500), 6, Ok(moment(5))),
        ] {
            assert_eq!(made(5).follow(last.map(moment), at(now)), expected, "{last:?} {now}");
        }
    }

    #[test]
    fn memory_is_bounded() {
        let challenges = Challenges::new().unwrap();
        let spend = || {
            let text = challenges.issue(at(0)).unwrap();
            challenges.spend(challenges.check(&text, at(0)).unwrap(), at(0))
        };
        for _ in 0..MOST_SPENT {
            spend().unwrap();
        }
        assert!(matches!(spend(), Err(Refusal::Failure { .. })), "refused, rather than an old one forgotten");
    }
}
