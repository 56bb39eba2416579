//! The page on events names every field and every state, and its examples are events.

use std::{collections::BTreeSet, fs, path::Path};

use engine::{Event, State};
use explain::{Diagnostic, Message};
use serde_json::Value;

/// Goes through all states; a new one does not compile before it has its place here.
fn next(state: State) -> Option<State> {
    match state {
        State::RunStarted => Some(State::LedgerRecovered),
        State::LedgerRecovered => Some(State::Started),
        State::Started => Some(State::Applying),
        State::Applying => Some(State::Waiting),
        State::Waiting => Some(State::Retrying),
        State::Retrying => Some(State::Verified),
        State::Verified => Some(State::Unchanged),
        State::Unchanged => Some(State::Failed),
        State::Failed => Some(State::Blocked),
        State::Blocked => Some(State::Cancelled),
        State::Cancelled => Some(State::Undoing),
        State::Undoing => Some(State::Undone),
        State::Undone => Some(State::UndoFailed),
        State::UndoFailed => Some(State::RunFinished),
        State::RunFinished => None,
    }
}

fn name(state: State) -> String {
    serde_json::to_value(state).unwrap().as_str().unwrap().to_owned()
}

/// An event with every field.
fn full_event() -> Value {
    let event = Event {
        v: engine::EVENT_SCHEMA_VERSION,
        sequence: 1,
        time: "2026-11-15T12:00:00Z".parse().unwrap(),
        run: String::new(),
        node: String::new(),
        playbook: String::new(),
        step: Some(String::new()),
        state: State::Failed,
        attempt: 1,
        done: 0,
        total: 1,
        text: Message::Error(Diagnostic::new(engine::codes::NOT_IN_TIME, "")),
    };
    serde_json::to_value(event).unwrap()
}

#[test]
fn the_page_names_every_field_and_every_state_with_an_example() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/events.md");
    let page = fs::read_to_string(&path).unwrap();
    let fields: BTreeSet<String> = full_event().as_object().unwrap().keys().cloned().collect();
    for field in &fields {
        assert!(page.contains(&format!("| `{field}` |")), "field `{field}` is not described");
    }
    let examples: Vec<Value> =
        page.lines().filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).unwrap()).collect();
    for state in std::iter::successors(Some(State::RunStarted), |state| next(*state)) {
        let state = name(state);
        assert!(page.contains(&format!("| `{state}` |")), "state `{state}` is not described");
        assert!(examples.iter().any(|example| example["state"] == state), "state `{state}` has no example");
    }
    for example in &examples {
        let used: BTreeSet<String> = example.as_object().unwrap().keys().cloned().collect();
        assert!(used.is_subset(&fields), "not a field: {:?}", &used - &fields);
        let always =
            ["v", "sequence", "time", "run", "node", "playbook", "state", "attempt", "done", "total", "message"];
        assert!(always.iter().all(|field| used.contains(*field)), "incomplete: {example}");
    }
    let version = format!("\"v\":{}", engine::EVENT_SCHEMA_VERSION);
    assert!(examples.iter().all(|example| example.to_string().contains(&version)), "an example of another version");
}
