//! Where our time goes: when each step began and ended, from the events of the run.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

/// One step, in seconds since the command was started.
pub(crate) struct Span {
    pub(crate) step: String,
    pub(crate) began: f64,
    pub(crate) ended: f64,
}

/// The steps of a run, in the order in which they began.
pub(crate) fn read(command_began: Timestamp, events: &str) -> Vec<Span> {
    let mut open = BTreeMap::new();
    let mut spans = Vec::new();
    for event in events.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let Some(step) = event["step"].as_str() else { continue };
        let time: Timestamp = event["time"].as_str().unwrap().parse().unwrap();
        let seconds = time.duration_since(command_began).as_secs_f64();
        match event["state"].as_str().unwrap() {
            "started" => {
                open.entry(step.to_owned()).or_insert(seconds);
            }
            "verified" | "unchanged" => {
                let began = open.remove(step).unwrap_or(seconds);
                spans.push(Span { step: step.to_owned(), began, ended: seconds });
            }
            _ => {}
        }
    }
    spans.sort_by(|one, other| one.began.total_cmp(&other.began));
    spans
}
