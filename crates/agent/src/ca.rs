//! What this node trusts and holds, and what it is to trust and hold: what the duties exchange while keys are rotated.
//!
//! ```text
//! rotation (masters)  ──announced──►  join-server  ──answer to a report──►  report  ──heard──►  renewal
//!                                                     report  ◄──converged────────────────────────┘
//! ```

use std::path::PathBuf;

use host::{Host, HostError};
use jiff::Timestamp;
use join::{Marks, ca_mark, wire::Heard};
use nodekit::Layout;
use tokio::sync::watch;

use crate::Agent;

/// Marks of keys, see [`Marks`].
#[derive(Clone, Default)]
pub struct Ca {
    /// What this master announces to every node.
    pub(crate) announced: watch::Sender<Heard>,
    /// What a master announced to this node.
    pub(crate) heard: watch::Sender<Option<Reported>>,
    /// Where everything on this node is that is the agent's concern.
    pub(crate) converged: watch::Sender<Converged>,
    /// The mark of the join key that this worker's secret is of, as a master named it when it gave it. Only in memory: a
    /// worker that does not know asks again.
    pub(crate) secret_of: watch::Sender<Option<String>>,
}

/// What a master announced that this node is to trust and to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reported {
    pub(crate) marks: Marks,
    /// Since when this is announced. What is older may have the announcement before it in its memory.
    pub(crate) since: Timestamp,
}

/// How far a node is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Converged {
    /// What everything here trusts and holds, once nothing else is left.
    pub(crate) on: Option<Marks>,
    /// What is left otherwise.
    pub(crate) why_not: Option<String>,
}

/// The cluster's CAs as this node trusts them.
pub(crate) fn file(agent: &Agent) -> PathBuf {
    file_of(&agent.paths)
}

fn file_of(paths: &Layout) -> PathBuf {
    paths.kubernetes_dir.join("pki/ca.crt")
}

/// The mark of what this node trusts; `None` before it has joined.
pub(crate) fn own_mark(agent: &Agent) -> Result<Option<String>, HostError> {
    mark_of(&agent.host, &agent.paths)
}

/// The same for a machine without an agent.
pub(crate) fn mark_of(host: &Host, paths: &Layout) -> Result<Option<String>, HostError> {
    let trusted = host.disk.read_optional(&file_of(paths))?;
    Ok(trusted.map(|pem| ca_mark(&String::from_utf8_lossy(&pem))))
}

impl Ca {
    /// Takes note of what a master announced. The duty that has to act on it is woken until it has, and as long as keys are rotated:
    /// a pod that starts at the wrong moment has a token of the old key.
    pub(crate) fn hear(&self, reported: Heard, now: Timestamp) {
        let is_converged = reported.marks.is_none() || self.converged.borrow().on == reported.marks;
        self.heard.send_if_modified(|known| {
            let known_marks = known.as_ref().map(|known| &known.marks);
            let is_new = known_marks != reported.marks.as_ref();
            if is_new {
                *known = reported.marks.map(|marks| Reported { marks, since: now });
            }
            is_new || !is_converged || reported.rotating
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_to_act_is_woken_until_it_has() {
        let ca = Ca::default();
        let mut woken = ca.heard.subscribe();
        let marks = |ca: &str| Marks { ca: ca.to_owned(), tokens: "kid".to_owned(), join: None };
        let mut hear = |reported: Option<&str>, rotating: bool, second: i64| {
            let now = Timestamp::from_second(second).unwrap();
            ca.hear(Heard { marks: reported.map(marks), rotating }, now);
            let changed = woken.has_changed().unwrap();
            woken.mark_unchanged();
            changed
        };
        assert!(!hear(None, false, 1), "nothing is known yet");
        assert!(hear(Some("new"), false, 2));
        assert!(hear(Some("new"), false, 3), "it has not been acted on");
        ca.converged.send_replace(Converged { on: Some(marks("new")), why_not: None });
        assert!(!hear(Some("new"), false, 4));
        assert!(hear(Some("new"), true, 5), "a rotation goes on");
        let since = ca.heard.borrow().as_ref().map(|reported| reported.since.as_second());
        assert_eq!(since, Some(2), "since it was first announced");
        assert!(hear(None, false, 6));
        assert!(!hear(None, false, 7));
    }
}
