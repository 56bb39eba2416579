//! `blackstart reprovision status`: a row for each node that is or was worked on.

use std::path::Path;

use explain::plain;
use jiff::Timestamp;
use upgrades::{NodeUpgrade, Phase};

use super::ask;
use crate::{
    Exit,
    context::{Context, Ended},
};

const HEADER: [&str; 6] = ["NODE", "DRIVER", "PHASE", "SINCE", "TO", "WAITS FOR"];

pub(super) fn run(context: &Context, node: Option<&str>, kubeconfig: Option<&Path>) -> Result<(), Ended> {
    let objects = ask(context, kubeconfig, async |client| upgrades::list(&client, node).await)?;
    if context.out.is_json() {
        context.out.json(&objects)?;
    } else {
        context.out.text(&table(&objects, context.host.clock.now()))?;
    }
    let has_failed = |object: &NodeUpgrade| object.status.phase.is_end() && object.status.phase != Phase::Done;
    if objects.iter().any(has_failed) { Err(Ended::Reported(Exit::Failed)) } else { Ok(()) }
}

fn table(objects: &[NodeUpgrade], now: Timestamp) -> String {
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
        (Some(failure), _) => format!("{failure}: {}", failure.hint),
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

#[cfg(test)]
mod tests {
    use explain::{Diagnostic, Message};
    use upgrades::{Driver, NodeUpgradeSpec, NodeUpgradeStatus};

    use super::*;

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
                NodeUpgradeStatus { phase: Phase::Refused, failure: Some(failure), ..NodeUpgradeStatus::default() },
            ),
            of("w3", NodeUpgradeStatus { phase: Phase::Done, to: Some("4.18".into()), ..NodeUpgradeStatus::default() }),
        ];
        insta::assert_snapshot!(table(&objects, Timestamp::from_second(142).unwrap()));
        insta::assert_snapshot!(table(&[], Timestamp::UNIX_EPOCH), @"no node is or was worked on");
    }
}
