use jiff::Timestamp;

use super::*;
use crate::{Driver, NodeState, NodeUpgradeSpec, Order, order::FORMAT};

fn seen(second: i64) -> Seen {
    Seen {
        now: Timestamp::from_second(second).unwrap(),
        node: Some(NodeSeen { boot_id: "one".into(), is_labelled: true, ..NodeSeen::default() }),
        secret: SecretSeen::For(Driver::Rhel),
        slot: SlotSeen::Free,
        others: None,
        no_progress: None,
        report: None,
        leaving: Leaving::default(),
        gates: Vec::new(),
        commits: false,
    }
}

/// The one thing that must never happen: a node is given back while it may still begin.
#[test]
fn an_armed_node_is_given_back_only_when_it_cannot_begin_any_more() {
    let mut object = NodeUpgrade::new("w1", NodeUpgradeSpec::default());
    object.status.phase = Phase::Armed;
    object.status.run = Some("r".into());
    object.status.since = Some(Timestamp::UNIX_EPOCH);
    let late = |is_labelled, command| {
        let mut seen = seen(10_000);
        let order = Order {
            version: FORMAT,
            run: "r".into(),
            command,
            driver: Driver::Rhel,
            secret: "s".into(),
            apply_seconds: 1,
            confirm_seconds: 1,
        };
        seen.node = Some(NodeSeen { is_labelled, order: Some(order), ..NodeSeen::default() });
        next(&object, &seen)
    };
    assert_eq!(late(true, Command::Arm).effects, [Effect::Order(Command::Stop)]);
    assert_eq!(late(true, Command::Stop).enter.unwrap().phase, Phase::Restoring);
    assert_eq!(late(false, Command::Stop).enter.unwrap().phase, Phase::Stuck, "it alone knows, and says nothing");
    let mut begun = seen(10_000);
    begun.report = Some(NodeReport {
        version: FORMAT,
        run: "r".into(),
        state: NodeState::Applying,
        text: Message::text("stage 1"),
        problems: Vec::new(),
        seen: [].into(),
        progress: 1,
        reboots: 0,
        boot_id: "one".into(),
        at: Timestamp::UNIX_EPOCH,
    });
    assert_eq!(next(&object, &begun).enter.unwrap().phase, Phase::Applying, "what the node reports counts more");
}
