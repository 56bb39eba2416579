//! What is shown of all nodes; pure.

use std::collections::BTreeMap;

use ::explain::{Code, Diagnostic, Message};
use ::prep::{Prep, Report, Reported, Requirement, Verdict, codes};
use jiff::Timestamp;
use serde::Serialize;

use super::{
    row::Row,
    same_name::{SameName, same_names},
};
use crate::{Style, output::painted, progress::between};

/// How far all nodes are.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Overview {
    fine: bool,
    nodes: Vec<Shown>,
    /// Which of them targets cannot distinguish.
    same_names: Vec<SameName>,
    #[serde(skip)]
    now: Timestamp,
}

/// How far one node is.
#[derive(Debug, Serialize)]
struct Shown {
    name: String,
    /// Whether it answers; if not, its report may be outdated.
    ready: bool,
    fine: bool,
    iscsi: Option<Part>,
    gpu: Option<Part>,
}

/// How far it is with one preparation.
#[derive(Debug, Serialize)]
struct Part {
    /// As the node says, or `unknown` where it should have reported and never did.
    state: String,
    fine: bool,
    #[serde(flatten)]
    text: Message<String>,
    since: Option<Timestamp>,
    /// What it lacks.
    lacks: Vec<Requirement>,
}

impl Overview {
    /// Of nodes in any order. `wanted` says which preparations every node should have.
    pub(super) fn of(mut rows: Vec<Row>, wanted: &BTreeMap<Prep, bool>, now: Timestamp) -> Self {
        rows.sort_by(|one, other| one.name.cmp(&other.name));
        let same_names = same_names(&rows);
        let is_wanted = |prep| wanted.get(&prep).copied().unwrap_or(false);
        let nodes: Vec<Shown> = rows
            .into_iter()
            .map(|row| {
                let iscsi = Part::of(row.iscsi, is_wanted(Prep::Iscsi));
                let gpu = Part::of(row.gpu, is_wanted(Prep::Gpu));
                let fine = [&iscsi, &gpu].into_iter().flatten().all(|part| part.fine);
                Shown { name: row.name, ready: row.answers, fine, iscsi, gpu }
            })
            .collect();
        let fine = same_names.is_empty() && nodes.iter().all(|node| node.fine);
        Self { fine, nodes, same_names, now }
    }

    pub(super) fn is_fine(&self) -> bool {
        self.fine
    }

    pub(super) fn text(&self, color: bool) -> String {
        let widest = self.nodes.iter().map(|node| node.name.chars().count()).max().unwrap_or(0).max(4);
        let mut text = format!("{:<widest$}  {:<14}  {:<14}  SINCE\n", "NODE", "ISCSI", "GPU");
        for node in &self.nodes {
            let parts = [&node.iscsi, &node.gpu];
            let since = parts.iter().filter_map(|part| part.as_ref()?.since).max();
            let since = since.map_or_else(|| "-".to_owned(), |since| between(since, self.now));
            let [iscsi, gpu] = parts.map(|part| cell(part.as_ref(), color));
            text += &format!("{:<widest$}  {iscsi}  {gpu}  {since}\n", node.name);
            if !node.ready {
                text += &format!("  {}\n", painted(color, Style::Warning, "NOT Ready: its report may be outdated"));
            }
            for (name, part) in ["iscsi", "gpu"].into_iter().zip(parts) {
                text += &part.as_ref().map(|part| part.reasons(name)).unwrap_or_default();
            }
        }
        text += &self.same_names.iter().map(|same| same.text(color)).collect::<String>();
        if self.nodes.is_empty() {
            text += "the cluster has no nodes\n";
        } else if self.nodes.iter().all(|node| node.iscsi.is_none() && node.gpu.is_none()) {
            text += "no node is prepared here: `kubectl apply -k infrastructure/node-bootstrap/iscsi` begins with it\n";
        }
        text
    }
}

impl Part {
    fn of(reported: Option<Reported>, is_wanted: bool) -> Option<Self> {
        let Some(reported) = reported else { return is_wanted.then(|| Self::without_report(codes::NEVER_REPORTED)) };
        let Reported { label, report, since } = reported;
        let Some(Report { state, text, requirements, at, .. }) = report else {
            // Only the label is left: the rest was removed, or the label was set by hand.
            let state = if label.is_empty() { "unknown".to_owned() } else { label };
            return Some(Self { state, since, ..Self::without_report(codes::BAD_REPORT) });
        };
        let lacks = |requirement: &Requirement| matches!(requirement.verdict, Verdict::Unmet | Verdict::Warning);
        Some(Self {
            state: state.name().to_owned(),
            fine: state.is_fine(),
            text,
            since: Some(since.unwrap_or(at)),
            lacks: requirements.into_iter().filter(lacks).collect(),
        })
    }

    fn without_report(code: Code) -> Self {
        Self {
            state: "unknown".to_owned(),
            fine: false,
            text: Message::Error(Diagnostic::new(code, code.meaning).recorded()),
            since: None,
            lacks: Vec::new(),
        }
    }

    /// Why it is not fine, and what it lacks; nothing where there is nothing to say.
    fn reasons(&self, name: &str) -> String {
        let mut text = String::new();
        if !self.fine {
            let code = self.text.error().map(|error| format!("{}: ", error.code)).unwrap_or_default();
            text += &format!("  {name}: {code}{}\n", self.text.message());
            text += &self.text.hint().map(|hint| format!("    hint: {hint}\n")).unwrap_or_default();
        }
        for Requirement { name: what, verdict, detail } in &self.lacks {
            let word = if *verdict == Verdict::Unmet { "required" } else { "recommended" };
            text += &format!("  {name}: {word}: {what}: {detail}\n");
        }
        text
    }
}

fn cell(part: Option<&Part>, color: bool) -> String {
    let Some(part) = part else { return format!("{:<14}", "-") };
    let style = match part.state.as_str() {
        _ if part.fine => Style::Good,
        "working" => Style::Warning,
        _ => Style::Bad,
    };
    painted(color, style, format!("{:<14}", part.state))
}

#[cfg(test)]
pub(super) mod samples {
    use ::prep::State;

    use super::*;

    pub(super) fn reported(prep: Prep, state: State, code: Option<&str>, requirements: Vec<Requirement>) -> Reported {
        let at: Timestamp = "2026-11-17T10:00:00Z".parse().unwrap();
        let message = format!("what was seen of {prep}");
        let text = match code {
            Some(code) => Message::Error(Diagnostic { code: code.to_owned(), message, hint: "what to do".to_owned() }),
            None => Message::text(message),
        };
        let report =
            Report { version: 1, prep, state, text, seen: BTreeMap::new(), requirements, at, boot_id: "boot".into() };
        Reported { label: state.name().into(), report: Some(report), since: Some(at) }
    }

    pub(super) fn row(name: &str, iscsi: Option<Reported>, gpu: Option<Reported>) -> Row {
        Row { name: name.into(), answers: name != "worker-05", iscsi, gpu }
    }

    /// A node that is ready and has an initiator name.
    pub(in super::super) fn named(node: &str, initiator: Option<&str>) -> Row {
        let mut reported = reported(Prep::Iscsi, State::Ready, None, vec![]);
        let seen = initiator.map(|name| (Report::INITIATOR_NAME.to_owned(), name.to_owned()));
        reported.report = reported.report.map(|report| Report { seen: seen.into_iter().collect(), ..report });
        row(node, Some(reported), None)
    }
}

#[cfg(test)]
mod tests {
    use ::prep::State;

    use super::{
        samples::{named, reported, row},
        *,
    };

    fn some_nodes() -> Vec<Row> {
        let memory = Requirement { name: "memory".into(), verdict: Verdict::Warning, detail: "2.0 GiB".into() };
        let disk = Requirement { name: "disk".into(), verdict: Verdict::Unmet, detail: "0.2 GiB free".into() };
        let no_gpu = || Some(reported(Prep::Gpu, State::NotApplicable, None, vec![]));
        vec![
            row("worker-02", Some(reported(Prep::Iscsi, State::Failed, Some("BS-PKG-002"), vec![disk])), no_gpu()),
            row(
                "worker-01",
                Some(reported(Prep::Iscsi, State::Incapable, Some("BS-PREP-003"), vec![memory])),
                no_gpu(),
            ),
            row("master-01", Some(reported(Prep::Iscsi, State::Ready, None, vec![])), no_gpu()),
            row("worker-03", None, Some(reported(Prep::Gpu, State::Working, None, vec![]))),
            row("worker-04", Some(Reported { label: "ready".into(), report: None, since: None }), no_gpu()),
            row("worker-05", Some(reported(Prep::Iscsi, State::Ready, None, vec![])), no_gpu()),
        ]
    }

    fn overview(rows: Vec<Row>, iscsi: bool, gpu: bool) -> Overview {
        let wanted = BTreeMap::from([(Prep::Iscsi, iscsi), (Prep::Gpu, gpu)]);
        Overview::of(rows, &wanted, "2026-11-17T10:02:05Z".parse().unwrap())
    }

    fn clones() -> Vec<Row> {
        let name = Some("iqn.1993-08.org.debian:01:9fe7844fb24f");
        vec![named("worker-02", name), named("master-01", Some("iqn.2001-04.com.example:a")), named("worker-01", name)]
    }

    #[test]
    fn what_people_see() {
        let fine = || row("master-01", Some(reported(Prep::Iscsi, State::Ready, None, vec![])), None);
        let pages = [
            ("all kinds", overview(some_nodes(), true, true)),
            ("only one preparation, and all is well", overview(vec![fine()], true, false)),
            ("a node that has just joined", overview(vec![fine(), row("worker-01", None, None)], true, false)),
            ("two nodes of one name, and else all is well", overview(clones(), true, false)),
            ("nothing was applied", overview(vec![row("master-01", None, None)], false, false)),
        ];
        let text: String = pages
            .iter()
            .map(|(case, overview)| format!("# {case} (fine: {})\n{}\n", overview.is_fine(), overview.text(false)))
            .collect();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn what_scripts_see() {
        insta::assert_json_snapshot!(overview(some_nodes().into_iter().take(4).collect(), true, true));
        insta::assert_json_snapshot!("two_nodes_of_one_name", overview(clones(), true, false));
    }

    #[test]
    fn colours_add_nothing_to_the_words() {
        let overview = overview([some_nodes(), clones()].concat(), true, true);
        let styles = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
        assert_eq!(styles.replace_all(&overview.text(true), ""), overview.text(false));
    }
}
