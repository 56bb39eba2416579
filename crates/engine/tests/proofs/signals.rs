//! SIGINT and SIGTERM stop a run between two changes; the next run goes on from there.

use std::io::{BufRead, BufReader, Read};

use engine::Progress;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;

use crate::support::{patient::Machine, tree};

#[test]
fn a_signal_stops_between_changes_and_the_next_run_completes() {
    let undisturbed = Machine::new();
    assert!(undisturbed.run(&["many", "run"]).status.success());
    let final_tree = tree(&undisturbed.disk());

    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let machine = Machine::new();
        let mut child = machine.start(&["many", "run"]);
        let mut events = BufReader::new(child.stdout.take().unwrap()).lines().map(|line| event(&line.unwrap()));
        let begun = events.by_ref().filter(|event| event["state"] == "applying").take(10).count();
        assert_eq!(begun, 10, "{signal}: the run did not get to its tenth change");
        kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();

        let rest: Vec<Value> = events.collect();
        let states: Vec<&str> = rest.iter().filter_map(|event| event["state"].as_str()).collect();
        let more = states.iter().filter(|state| **state == "applying").count();
        assert!(more < 25, "{signal}: {more} more changes after the signal");
        assert_eq!(states[more..], ["cancelled", "run-finished"], "{signal}");
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(3), ""), "{signal}: the end is not clean");

        let record = machine.ledger().steps["many/many"].clone();
        assert_eq!((record.progress, record.error), (Progress::Started, None), "{signal}");
        assert!(!machine.ledger().steps.contains_key("many/last"), "{signal}: a later step was started");
        let left = tree(&machine.disk());
        assert!(left.iter().all(|(path, seen)| final_tree.get(path) == Some(seen)), "{signal}: a change is half made");

        let next = machine.run(&["many", "run"]);
        assert!(next.status.success(), "{signal}: {}", next.stderr);
        assert_eq!(tree(&machine.disk()), final_tree, "{signal}");
        let changes = next.steps_reported("applying").iter().filter(|step| **step == "many").count();
        assert_eq!(changes, 40 - 10 - more, "{signal}: what was done is not done again");
    }
}

fn event(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}
