//! Nodes that targets cannot distinguish: cloned machines that have kept their initiator name. No node can see that by
//! itself; pure.

use std::collections::BTreeMap;

use ::explain::Diagnostic;
use ::prep::{Reported, codes};
use serde::Serialize;

use super::row::Row;
use crate::{Style, output::painted};

/// Nodes of one initiator name.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SameName {
    #[serde(flatten)]
    diagnostic: Diagnostic,
    initiator_name: String,
    /// In order.
    nodes: Vec<String>,
}

/// Every name that more than one node has, by what the nodes have last reported. Capitals make no other name.
pub(super) fn same_names(rows: &[Row]) -> Vec<SameName> {
    let mut nodes: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for row in rows {
        let report = row.iscsi.as_ref().and_then(|Reported { report, .. }| report.as_ref());
        if let Some(name) = report.and_then(|report| report.initiator_name()) {
            nodes.entry(name.to_lowercase()).or_default().push(&row.name);
        }
    }
    nodes.into_iter().filter(|(_, nodes)| nodes.len() > 1).map(|(name, nodes)| SameName::new(name, nodes)).collect()
}

impl SameName {
    fn new(initiator_name: String, mut nodes: Vec<&str>) -> Self {
        nodes.sort_unstable();
        let message = format!(
            "{} have the same initiator name, {initiator_name}: volumes of one may be taken by another",
            nodes.join(", ")
        );
        let nodes = nodes.into_iter().map(ToOwned::to_owned).collect();
        Self { diagnostic: Diagnostic::new(codes::SAME_NAME, message), initiator_name, nodes }
    }

    pub(super) fn text(&self, color: bool) -> String {
        let Diagnostic { code, message, hint } = &self.diagnostic;
        format!("{}: {message}\n  hint: {hint}\n", painted(color, Style::Bad, code))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::overview::samples, *};

    #[test]
    fn names_of_all_nodes_are_compared() {
        let (one, other) = ("iqn.1993-08.org.debian:01:9fe7844fb24f", "iqn.2001-04.com.example:a");
        let capitals = one.to_uppercase();
        for (case, names, expected) in [
            ("no node", vec![], vec![]),
            ("one node", vec![Some(one)], vec![]),
            ("every node has its own", vec![Some(one), Some(other)], vec![]),
            ("none is no name", vec![None, None, Some(one)], vec![]),
            ("two have one", vec![Some(one), Some(other), Some(one)], vec![(one, "w0 w2")]),
            ("written otherwise", vec![Some(one), Some(&capitals)], vec![(one, "w0 w1")]),
            ("all have one", vec![Some(other); 3], vec![(other, "w0 w1 w2")]),
            (
                "two pairs",
                vec![Some(other), Some(one), Some(other), None, Some(one)],
                vec![(one, "w1 w4"), (other, "w0 w2")],
            ),
        ] {
            // However the API sorts them.
            let rows = names.iter().enumerate().rev();
            let rows: Vec<Row> = rows.map(|(index, name)| samples::named(&format!("w{index}"), *name)).collect();
            let found = same_names(&rows);
            let found: Vec<(&str, String)> =
                found.iter().map(|same| (same.initiator_name.as_str(), same.nodes.join(" "))).collect();
            let expected: Vec<(&str, String)> =
                expected.into_iter().map(|(name, nodes)| (name, nodes.into())).collect();
            assert_eq!(found, expected, "{case}");
        }
    }

    #[test]
    fn a_node_that_has_reported_nothing_or_nonsense_is_not_compared() {
        let nonsense = Reported { label: "ready".into(), report: None, since: None };
        let rows = [None, Some(nonsense)].map(|iscsi| Row { iscsi, ..samples::named("w1", None) });
        assert!(same_names(&rows).is_empty());
    }
}
