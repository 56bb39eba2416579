//! The last report of each node, in memory: a master that restarts has all reports again within seconds.

use std::{collections::BTreeMap, sync::Mutex, time::Duration};

use jiff::Timestamp;
use serde_json::Value;

use super::{body::position_of, challenge::Good, outside::locked};
use crate::{Refusal, machine::is_machine_id, wire::Report};

/// A node that has reported nothing for this long may be gone: it reports every five seconds.
const ALIVE: Duration = Duration::from_mins(1);

/// As JSON, a report of 64 KiB can hold tens of thousands of values, and each takes far more in memory than in the text. An
/// honest one has some hundred. With this limit one report takes at most 0.4 MB.
const MOST_VALUES: usize = 2048;

/// What a node says of itself.
pub(super) fn read(text: &[u8]) -> Result<Value, Refusal> {
    if values(text) > MOST_VALUES {
        return Err(Refusal::Malformed { why: format!("what it reports has more than {MOST_VALUES} values") });
    }
    serde_json::from_slice(text).map_err(|error| Refusal::Malformed { why: position_of(&error) })
}

/// How many values a text has at most, if it is JSON.
fn values(text: &[u8]) -> usize {
    let (mut values, mut is_text, mut is_escaped) = (1, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b',' | b'[' | b'{' | b':' if !is_text => values += 1,
            _ => {}
        }
    }
    values
}

/// What nodes reported last; at most one entry per node that was ever in cluster.yaml.
#[derive(Default)]
pub(super) struct Reports(Mutex<BTreeMap<String, Kept>>);

#[derive(Default)]
struct Kept {
    report: Option<Report>,
    /// Which machine has shown the node's certificate last, and when.
    certified: Option<(String, Timestamp)>,
    /// The moment of the challenge of its last early report; also remembered after it has joined.
    challenge: Option<i64>,
}

impl Reports {
    /// A node has shown its certificate.
    pub(super) fn certified(&self, node: String, status: Value, now: Timestamp) {
        let machine = status["machine"].as_str().filter(|id| is_machine_id(id)).map(str::to_owned);
        let mut all = locked(&self.0);
        let kept = all.entry(node).or_default();
        kept.certified = machine.map(|machine| (machine, now));
        kept.report = Some(Report { received: now, early: false, status });
    }

    /// A node has proved that it holds its credential; each challenge counts once.
    pub(super) fn early(&self, node: String, challenge: &Good, status: Value, now: Timestamp) -> Result<(), Refusal> {
        let mut all = locked(&self.0);
        let kept = all.entry(node).or_default();
        kept.challenge = Some(challenge.follow(kept.challenge, now)?);
        kept.report = Some(Report { received: now, early: true, status });
        Ok(())
    }

    /// Which machine has shown a node's certificate within the last minute, and when. What a machine says that has not
    /// joined does not count: it may be the one that wants to take the other's place.
    pub(super) fn alive(&self, node: &str, now: Timestamp) -> Option<(String, Timestamp)> {
        let (machine, when) = locked(&self.0).get(node)?.certified.clone()?;
        (now.duration_since(when).unsigned_abs() < ALIVE).then_some((machine, when))
    }

    /// A node has left. The challenges it has used stay used.
    pub(super) fn forget(&self, node: &str) {
        if let Some(kept) = locked(&self.0).get_mut(node) {
            kept.report = None;
            kept.certified = None;
        }
    }

    /// The last report of a node.
    pub(super) fn of(&self, node: &str) -> Option<Report> {
        locked(&self.0).get(node)?.report.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_take_too_much_memory_is_not_read() {
        let zeros = |count: usize| format!("[{}0]", "0,".repeat(count));
        let text = format!(r#"{{"run": "{}"}}"#, r#"[,{:\"]"#.repeat(3000));
        for (what, text, is_read) in [
            ("a small one", "{}".to_owned(), true),
            ("long texts", text, true),
            ("many values", zeros(2000), true),
            ("too many values", zeros(3000), false),
            ("too many empty ones", format!("[{}[]]", "[],".repeat(2000)), false),
            ("not JSON", "{".to_owned(), false),
        ] {
            assert_eq!(read(text.as_bytes()).is_ok(), is_read, "{what}");
        }
    }
}
