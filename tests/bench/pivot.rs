//! A temporary bootstrap node, three masters and a worker, all switched on at the same moment, until the bootstrap is complete.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;

use crate::{blackstart::install, running::Running, starting_point};

const BOOTSTRAP: &str = "bootstrap";

/// What one round shows.
pub(crate) struct Round {
    /// ConfigMap `kube-system/bootstrap` says so.
    pub(crate) complete: Duration,
    /// From the decision to hand over until then.
    pub(crate) hand_over: Duration,
    /// Every milestone, and when it was reached, in seconds since the first machine was started.
    pub(crate) laps: Vec<(String, f64)>,
}

pub(crate) fn round() -> Round {
    let machines = starting_point::pivot();
    install(&machines);
    starting_point::settle();
    let (began, at) = (Instant::now(), Timestamp::now());
    let up = |machine: &&str| machines.start(machine, &["blackstart", "node", "up"]);
    let running: Vec<Running> = machines.names().iter().map(up).collect();
    machines.sh(BOOTSTRAP, "blackstart bootstrap wait");
    let complete = began.elapsed();
    for one in running {
        one.finish();
    }
    let parsed = |line: &str| -> Value { serde_json::from_str(&machines.sh(BOOTSTRAP, line)).unwrap() };
    let status = parsed("blackstart bootstrap status -o json");
    let since = |time: &Value| time.as_str().unwrap().parse::<Timestamp>().unwrap().duration_since(at).as_secs_f64();
    let lap = |one: &Value| (one["title"].as_str().unwrap().to_owned(), since(&one["reached"]));
    let record = parsed("blackstart node timeline -o json");
    let step = |id: &str, what: &str| {
        let steps = record["steps"].as_array().unwrap();
        since(&steps.iter().find(|step| step["id"] == id).unwrap()[what])
    };
    let hand_over = step("bootstrap-complete", "ended") - step("hand-over", "started");
    Round {
        complete,
        hand_over: Duration::from_secs_f64(hand_over),
        laps: status["milestones"].as_array().unwrap().iter().map(lap).collect(),
    }
}
