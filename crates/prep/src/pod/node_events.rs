//! What the cluster learns of a node: label, annotations and Events, as data.

use std::collections::BTreeMap;

use explain::Message;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{Prep, Report, Reported, Requirement, State, Verdict, codes, names};

/// Longer ones are refused by the API server.
const LONGEST_MESSAGE: usize = 1000;

/// An Event on a Node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NodeEvent {
    pub(super) is_warning: bool,
    pub(super) reason: String,
    pub(super) message: String,
}

/// A patch of the Node that makes it say what the report says. `since` is when its state began.
pub(super) fn patch(report: &Report, since: Timestamp) -> Value {
    json!({ "metadata": {
        "labels": { names::label(report.prep): report.state.name() },
        "annotations": {
            names::annotation(report.prep): json!(report).to_string(),
            names::since(report.prep): since.to_string(),
        },
    } })
}

/// Whether the Node says all of it already; when it was written does not count.
pub(super) fn is_reported(reported: Option<&Reported>, report: &Report) -> bool {
    let Some(reported) = reported else { return false };
    let output = reported.report.as_ref().map(|output| Report { at: report.at, ..output.clone() });
    reported.label == report.state.name() && output.as_ref() == Some(report)
}

/// Since when a node is in the state it is in: as reported before, unless that was another one.
pub(super) fn since(reported: Option<&Reported>, report: &Report) -> Timestamp {
    let same = reported.filter(|reported| reported.label == report.state.name());
    same.and_then(|reported| reported.since).unwrap_or(report.at)
}

/// What happened since the last report of the Node. Its state is an event when it, its reason or its message are other ones; a
/// requirement is, when it is not met and was not known to be so.
pub(super) fn new_events(before: Option<&Report>, report: &Report) -> Vec<NodeEvent> {
    let is_same = |before: &Report| {
        (before.state, before.code(), before.text.message()) == (report.state, report.code(), report.text.message())
    };
    let mut events = Vec::new();
    if report.state != State::Working && !before.is_some_and(is_same) {
        events.push(NodeEvent {
            is_warning: !report.state.is_fine(),
            reason: reason(report.prep, &camel(report.state.name())),
            message: message(report.code(), report.text.message(), report.text.hint()),
        });
    }
    let known = before.map(|before| before.requirements.as_slice()).unwrap_or_default();
    let is_known = |new: &Requirement| known.iter().any(|old| (&old.name, old.verdict) == (&new.name, new.verdict));
    for requirement in report.requirements.iter().filter(|requirement| !is_known(requirement)) {
        let (word, code) = match requirement.verdict {
            Verdict::Unmet => ("RequirementUnmet", Some(codes::UNMET.id)),
            Verdict::Warning => ("RequirementWarning", None),
            Verdict::Met | Verdict::Unknown => continue,
        };
        events.push(NodeEvent {
            is_warning: true,
            reason: reason(report.prep, word),
            message: message(code, &format!("{}: {}", requirement.name, requirement.detail), None),
        });
    }
    events
}

impl NodeEvent {
    /// It as an object of the API. `node` is name and uid of the Node.
    pub(super) fn event(&self, prep: Prep, node: (&str, &str), now: Timestamp) -> Value {
        let (name, uid) = node;
        let component = format!("node-bootstrap-{prep}");
        let time = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        json!({
            "apiVersion": "v1",
            "kind": "Event",
            // Nodes have no namespace; the API server wants their Events here.
            "metadata": { "namespace": "default", "name": format!("{name}.{:x}.{:x}", now.as_nanosecond(), self.mark()) },
            "involvedObject": { "apiVersion": "v1", "kind": "Node", "name": name, "uid": uid },
            "type": if self.is_warning { "Warning" } else { "Normal" },
            "reason": self.reason,
            "message": self.message,
            "source": { "component": component, "host": name },
            "reportingComponent": component,
            "reportingInstance": name,
            "firstTimestamp": time,
            "lastTimestamp": time,
            "count": 1,
        })
    }

    /// Distinguishes two Events of one moment.
    fn mark(&self) -> u32 {
        self.message.bytes().fold(0_u32, |mark, byte| mark.wrapping_mul(31).wrapping_add(byte.into()))
    }
}

/// The report with what only the pod knows: that the API answers. Who reads it from the Node knows that anyway; who reads the
/// list of what is required finds it complete.
pub(super) fn with_api(report: &Report, address: &str) -> Report {
    let mut report = report.clone();
    report.requirements.retain(|requirement| requirement.name != "api");
    let detail = format!("the Kubernetes API answers at {address}");
    report.requirements.push(Requirement { name: "api".to_owned(), verdict: Verdict::Met, detail });
    report
}

/// A report by the pod itself, where the work could not make one.
pub(super) fn of_pod(prep: Prep, state: State, text: Message<String>, boot_id: &str, at: Timestamp) -> Report {
    Report {
        version: 1,
        prep,
        state,
        text,
        seen: BTreeMap::new(),
        requirements: Vec::new(),
        at,
        boot_id: boot_id.to_owned(),
    }
}

fn reason(prep: Prep, what: &str) -> String {
    camel(prep.name()) + what
}

/// `not-applicable` as `NotApplicable`.
fn camel(words: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    words.split('-').filter(|word| !word.is_empty()).map(capital).collect()
}

fn message(code: Option<&str>, message: &str, hint: Option<&str>) -> String {
    let code = code.map(|code| format!("{code}: ")).unwrap_or_default();
    let hint = hint.map(|hint| format!("; hint: {hint}")).unwrap_or_default();
    format!("{code}{message}{hint}").chars().take(LONGEST_MESSAGE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{incapable, ready};

    fn reported(report: &Report) -> Reported {
        Reported { label: report.state.name().into(), report: Some(report.clone()), since: Some(report.at) }
    }

    #[test]
    fn what_the_node_reports() {
        insta::assert_json_snapshot!(patch(&with_api(&incapable(), "https://10.96.0.1/"), ready().at));
    }

    #[test]
    fn events_have_state_reason_and_what_is_required() {
        let events = new_events(None, &incapable());
        let events: Vec<Value> =
            events.iter().map(|event| event.event(Prep::Iscsi, ("w1", "uid"), ready().at)).collect();
        insta::assert_json_snapshot!(events);
    }

    #[test]
    fn only_what_is_new_is_an_event() {
        let (ready, incapable) = (ready(), incapable());
        let reasons = |before: Option<&Report>, report: &Report| {
            new_events(before, report).into_iter().map(|event| event.reason).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(reasons(None, &ready), "IscsiReady");
        assert_eq!(reasons(Some(&ready), &ready), "");
        assert_eq!(reasons(Some(&incapable), &ready), "IscsiReady");
        let worse = "IscsiIncapable IscsiRequirementWarning IscsiRequirementUnmet";
        assert_eq!(reasons(Some(&ready), &incapable), worse);
        assert_eq!(reasons(None, &Report { state: State::Working, ..ready.clone() }), "");
        let gpu = Report { prep: Prep::Gpu, state: State::NotApplicable, ..ready.clone() };
        assert_eq!(reasons(None, &gpu), "GpuNotApplicable");
    }

    #[test]
    fn a_later_time_is_no_news_and_a_lost_label_is() {
        let ready = ready();
        let later = Report { at: ready.at + jiff::SignedDuration::from_hours(1), ..ready.clone() };
        assert!(is_reported(Some(&reported(&ready)), &later));
        assert!(!is_reported(None, &later));
        assert!(!is_reported(Some(&Reported { label: String::new(), ..reported(&ready) }), &later));
        assert!(!is_reported(Some(&reported(&ready)), &Report { boot_id: "other".into(), ..later.clone() }));

        assert_eq!(since(Some(&reported(&ready)), &later), ready.at);
        assert_eq!(since(Some(&reported(&incapable())), &later), later.at);
    }

    #[test]
    fn a_long_story_is_cut() {
        assert_eq!(message(Some("BS-X"), &"x".repeat(5000), None).len(), LONGEST_MESSAGE);
    }
}
