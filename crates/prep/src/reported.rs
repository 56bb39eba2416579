//! What a Node says of its preparation, read back.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::{Prep, Report, names};

/// What a Node says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// Its label: the name of a state.
    pub label: String,
    /// Its last report, as far as it can be understood.
    pub report: Option<Report>,
    /// Since when it is in this state.
    pub since: Option<Timestamp>,
}

impl Reported {
    /// From the labels and annotations of a Node; `None` if it never reported anything.
    pub fn of(
        prep: Prep,
        labels: Option<&BTreeMap<String, String>>,
        annotations: Option<&BTreeMap<String, String>>,
    ) -> Option<Self> {
        let label = labels.and_then(|labels| labels.get(&names::label(prep)));
        let annotation = |name: String| annotations.and_then(|annotations| annotations.get(&name));
        let report = annotation(names::annotation(prep));
        if label.is_none() && report.is_none() {
            return None;
        }
        Some(Self {
            label: label.map(|label| explain::plain(label).into_owned()).unwrap_or_default(),
            report: report.and_then(|text| serde_json::from_str(text).ok()).map(Report::plain),
            since: annotation(names::since(prep)).and_then(|text| text.parse().ok()),
        })
    }
}

#[cfg(test)]
mod tests {
    use explain::{Diagnostic, Message};

    use super::*;
    use crate::{Requirement, Verdict, samples};

    #[test]
    fn what_a_node_says_cannot_drive_the_terminal() {
        let evil = "\u{1b}[2Jx";
        let requirement = Requirement { name: evil.into(), verdict: Verdict::Unmet, detail: evil.into() };
        let report = Report {
            text: Message::Error(Diagnostic { code: evil.into(), message: evil.into(), hint: evil.into() }),
            seen: [(evil.to_owned(), evil.to_owned())].into(),
            requirements: vec![requirement],
            boot_id: evil.into(),
            ..samples::ready()
        };
        let annotations = [(names::annotation(Prep::Iscsi), serde_json::to_string(&report).unwrap())].into();
        let reported = format!("{:?}", Reported::of(Prep::Iscsi, None, Some(&annotations)).unwrap());
        assert!(reported.matches(" [2Jx").count() == 8 && !reported.contains("u{1b}"), "{reported}");
    }

    #[test]
    fn what_was_reported_is_read_back_and_nonsense_is_not_believed() {
        let report = samples::ready();
        let labels = BTreeMap::from([("blackstart.io/prep-iscsi".to_owned(), "ready".to_owned())]);
        let text = serde_json::to_string(&report).unwrap();
        let mut annotations = BTreeMap::from([
            ("blackstart.io/prep-iscsi-report".to_owned(), text),
            ("blackstart.io/prep-iscsi-since".to_owned(), report.at.to_string()),
        ]);
        let reported = Reported::of(Prep::Iscsi, Some(&labels), Some(&annotations)).unwrap();
        assert_eq!(reported, Reported { label: "ready".into(), since: Some(report.at), report: Some(report) });
        assert_eq!(Reported::of(Prep::Gpu, Some(&labels), Some(&annotations)), None);

        annotations.insert("blackstart.io/prep-iscsi-report".to_owned(), "{".to_owned());
        let reported = Reported::of(Prep::Iscsi, None, Some(&annotations)).unwrap();
        assert_eq!((reported.label.as_str(), reported.report), ("", None));
    }
}
