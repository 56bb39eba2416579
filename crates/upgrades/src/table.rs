//! Objects for people, as a table with a row for each node that is or was worked on; and for scripts, as one number.

use explain::plain;
use jiff::Timestamp;

use crate::{NodeUpgrade, Phase};

const HEADER: [&str; 6] = ["NODE", "DRIVER", "PHASE", "SINCE", "TO", "WAITS FOR"];

/// A row for each node, or that there is none.
pub fn table(objects: &[NodeUpgrade], now: Timestamp) -> String {
    if objects.is_empty() {
        return "no node is or was worked on\n".to_owned();
    }
    let mut rows = vec![HEADER.map(str::to_owned)];
    rows.extend(objects.iter().map(|object| row(object, now)));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; 6] = std::array::from_fn(width);
    let line = |row: &[String; 6]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

fn row(object: &NodeUpgrade, now: Timestamp) -> [String; 6] {
    let status = &object.status;
    let shown = |text: &str| plain(text).into_owned();
    let since = status.since.map(|since| format!("{} s", now.duration_since(since).as_secs().max(0)));
    let text = match (&status.failure, &status.waits_for) {
        (Some(failure), None) => format!("{failure}: {}", failure.hint),
        (Some(failure), Some(waits_for)) => format!("{failure}: {}; waits for {}", failure.hint, waits_for.message()),
        (None, Some(waits_for)) => waits_for.message().to_owned(),
        (None, None) => String::new(),
    };
    [
        shown(object.node()),
        status.driver.map(|driver| driver.to_string()).unwrap_or_default(),
        status.phase.to_string(),
        since.unwrap_or_default(),
        shown(status.to.as_deref().unwrap_or_default()),
        shown(&text),
    ]
}

/// How a command ends that shows them, for scripts. Of several nodes the highest; 2 is a wrong command line.
pub fn exit_code(objects: &[NodeUpgrade]) -> u8 {
    let code = |object: &NodeUpgrade| match object.status.phase {
        Phase::Done => 0,
        Phase::Refused => 3,
        Phase::RolledBack => 4,
        Phase::Stuck => 5,
        _ => 1,
    };
    objects.iter().map(code).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use explain::{Diagnostic, Message};

    use super::*;
    use crate::{Driver, NodeUpgradeSpec, NodeUpgradeStatus};

    #[test]
    fn a_row_says_what_a_node_waits_for_or_why_it_ended() {
        let of = |node: &str, status: NodeUpgradeStatus| {
            let since = Some(Timestamp::from_second(100).unwrap());
            let status = NodeUpgradeStatus { since, driver: Some(Driver::Rhel), ..status };
            NodeUpgrade { status, ..NodeUpgrade::new(node, NodeUpgradeSpec::default()) }
        };
        let failure = Diagnostic { code: "BS-UPG-006".into(), message: "1 problem".into(), hint: "repair it".into() };
        let waits_for = Some(Message::text("2 pods still to end: shop/db-0, shop/web-1"));
        let objects = [
            of("worker-01", NodeUpgradeStatus { phase: Phase::Draining, waits_for, ..NodeUpgradeStatus::default() }),
            of(
                "worker-02",
                NodeUpgradeStatus {
                    phase: Phase::Refused,
                    failure: Some(failure.clone()),
                    ..NodeUpgradeStatus::default()
                },
            ),
            of(
                "worker-04",
                NodeUpgradeStatus {
                    phase: Phase::Refused,
                    failure: Some(failure),
                    waits_for: Some(Message::text("another attempt; until then Secret ipb-worker-04 keeps its tokens")),
                    ..NodeUpgradeStatus::default()
                },
            ),
            of("w3", NodeUpgradeStatus { phase: Phase::Done, to: Some("4.18".into()), ..NodeUpgradeStatus::default() }),
        ];
        insta::assert_snapshot!(table(&objects, Timestamp::from_second(142).unwrap()));
        insta::assert_snapshot!(table(&[], Timestamp::UNIX_EPOCH), @"no node is or was worked on");
    }

    #[test]
    fn the_exit_code_is_that_of_the_worst() {
        let of = |phase| {
            let status = NodeUpgradeStatus { phase, ..NodeUpgradeStatus::default() };
            NodeUpgrade { status, ..NodeUpgrade::new("w1", NodeUpgradeSpec::default()) }
        };
        for (phases, expected) in [
            (vec![], 0),
            (vec![Phase::Done, Phase::Done], 0),
            (vec![Phase::Done, Phase::Pending], 1),
            (vec![Phase::RollingBack], 1),
            (vec![Phase::Gating, Phase::Refused], 3),
            (vec![Phase::RolledBack, Phase::Refused], 4),
            (vec![Phase::Stuck, Phase::Done, Phase::RolledBack], 5),
        ] {
            let objects: Vec<NodeUpgrade> = phases.iter().copied().map(of).collect();
            assert_eq!(exit_code(&objects), expected, "{phases:?}");
        }
    }
}
