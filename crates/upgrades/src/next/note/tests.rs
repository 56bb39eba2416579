use std::collections::BTreeSet;

use explain::{Diagnostic, Message};
use jiff::Timestamp;

use crate::{
    Driver, NodeReport, NodeState, NodeUpgrade, NodeUpgradeSpec, Phase, codes,
    next::{Enter, Leaving, Next, NodeSeen, SecretSeen, Seen, SlotSeen, advance},
    progress::Outbox,
};

fn seen(second: i64) -> Seen {
    Seen {
        now: Timestamp::from_second(second).unwrap(),
        node: Some(NodeSeen::default()),
        secret: SecretSeen::For(Driver::Rhel),
        secret_uid: None,
        slot: SlotSeen::Held,
        others: None,
        no_progress: None,
        report: None,
        leaving: Leaving::default(),
        not_ready_pods: BTreeSet::new(),
        commits: false,
    }
}

fn reported(second: i64, run: &str, state: NodeState, text: Message<String>) -> Seen {
    let report = NodeReport {
        version: NodeReport::FORMAT,
        run: run.into(),
        state,
        text,
        problems: Vec::new(),
        seen: [("from", "4.16"), ("to", "4.17")].map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
        progress: 0,
        reboots: 0,
        boot_id: "b".into(),
        at: Timestamp::UNIX_EPOCH,
    };
    Seen { report: Some(report), ..seen(second) }
}

fn enter(phase: Phase, failure: Option<Diagnostic<String>>, ending: Option<Phase>) -> Next {
    Next { enter: Some(Enter { phase, failure, ending }), ..Next::default() }
}

fn shown(outbox: &Outbox) -> String {
    let lines = outbox.events.iter().map(|event| {
        let state = event.node_state.map_or("-".to_owned(), |state| state.to_string());
        let (code, run) = (event.code.as_deref().unwrap_or("-"), event.run.as_deref().unwrap_or("-"));
        let to = event.to.as_deref().unwrap_or("-");
        let (at, attempt) = (event.at.as_second(), event.attempt);
        format!("{} {at} {run} #{attempt} {} {state} {to} {code} {}", event.seq, event.phase, event.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_run_is_reported_step_by_step_and_nothing_twice() {
    let mut object = NodeUpgrade::new("w1", NodeUpgradeSpec::default());
    object.metadata.uid = Some("u".into());
    object.metadata.generation = Some(1);
    let text = Message::text;
    let no = || Diagnostic::new(codes::CHECKS_UNMET, "no mirror").recorded();
    for (seen, next) in [
        (seen(1), Next::default()),
        (seen(2), Next::default()),
        (seen(3), enter(Phase::Cordoned, None, None)),
        (seen(4), enter(Phase::Preflight, None, None)),
        (reported(5, "u-1-0", NodeState::Done, text("of another run")), Next::default()),
        (reported(6, "u-1-1", NodeState::Checking, text("3 checks")), Next::default()),
        (reported(7, "u-1-1", NodeState::Checking, text("2 checks")), Next::default()),
        (
            reported(8, "u-1-1", NodeState::Refused, Message::Error(no())),
            enter(Phase::Restoring, Some(no()), Some(Phase::Refused)),
        ),
        (reported(9, "u-1-1", NodeState::Refused, Message::Error(no())), enter(Phase::Refused, None, None)),
        (reported(10, "u-1-1", NodeState::Refused, Message::Error(no())), Next::default()),
        (reported(11, "u-1-1", NodeState::Refused, Message::Error(no())), enter(Phase::Pending, None, None)),
        (seen(12), enter(Phase::Cordoned, None, None)),
        (reported(13, "u-1-2", NodeState::Refused, text("again")), enter(Phase::Restoring, None, Some(Phase::Done))),
    ] {
        object.status = advance(&object, &seen, &next);
        let again = advance(&object, &seen, &Next::default());
        assert_eq!(again.outbox, object.status.outbox, "the same seen twice is reported once");
    }
    insta::assert_snapshot!(shown(&object.status.outbox), @r"
    1 1 - #0 Pending - - - waits for its Secret, for a slot, for other nodes
    2 3 u-1-1 #1 Cordoned - - - is being cordoned
    3 4 u-1-1 #1 Preflight - - - checks whether the work can be done
    4 6 u-1-1 #1 Preflight checking 4.17 - 3 checks
    5 8 u-1-1 #1 Preflight refused 4.17 BS-UPG-006 no mirror
    6 8 u-1-1 #1 Restoring refused 4.17 BS-UPG-006 no mirror
    7 9 u-1-1 #1 Refused refused 4.17 BS-UPG-006 no mirror
    8 11 - #1 Pending - - - waits for its Secret, for a slot, for other nodes
    9 12 u-1-2 #2 Cordoned - - - is being cordoned
    10 13 u-1-2 #2 Cordoned refused 4.17 - again
    11 13 u-1-2 #2 Restoring refused 4.17 - labels, taints and cordon come back
    ");
}

#[test]
fn a_node_that_waits_for_the_api_asks_it_again() {
    let mut object = NodeUpgrade::new("w1", NodeUpgradeSpec::default());
    let waits = |second| Seen { no_progress: Some("401".into()), ..seen(second) };
    let mut at = |seen: Seen, change: fn(&mut Outbox)| {
        change(&mut object.status.outbox);
        object.status = advance(&object, &seen, &Next::default());
        (object.status.outbox.events.len(), object.status.outbox.stopped)
    };
    for (seen, change, expected, why) in [
        (waits(1), (|_| ()) as fn(&mut Outbox), (1, false), "the first of all"),
        (waits(1000), |_| (), (1, false), "there is one to send"),
        (waits(30), |outbox| outbox.events.clear(), (0, false), "asked a moment ago"),
        (seen(100), |_| (), (0, false), "it does not wait"),
        (waits(100), |_| (), (1, false), "asked again"),
        (
            waits(120),
            |outbox| {
                outbox.events.clear();
                outbox.stopped = true;
            },
            (0, true),
            "it wants to hear nothing",
        ),
        (seen(900), |_| (), (0, true), "and need not"),
        (waits(1000), |_| (), (1, false), "but the node may not go on without it"),
    ] {
        assert_eq!(at(seen, change), expected, "{why}");
    }
}
