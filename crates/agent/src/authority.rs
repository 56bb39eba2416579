//! Whom this node trusts, and whom it is to trust: what the duties tell each other while authorities are rotated.
//!
//! ```text
//! rotation (masters)  ──announced──►  join-server  ──answer to a report──►  report  ──heard──►  renewal
//!                                                     report  ◄──settled──────────────────────────┘
//! ```

use std::path::PathBuf;

use host::HostError;
use join::authority_mark;
use tokio::sync::watch;

use crate::Agent;

/// Marks of authorities, see [`join::authority_mark`].
#[derive(Clone, Default)]
pub struct Authority {
    /// What this master tells every node to trust; `None` while the masters do not agree yet.
    pub(crate) announced: watch::Sender<Option<String>>,
    /// What a master told this node to trust.
    pub(crate) heard: watch::Sender<Option<String>>,
    /// What everything on this node that is the agent's concern trusts and was signed by.
    pub(crate) settled: watch::Sender<Option<String>>,
}

/// The cluster's authorities as this node trusts them.
pub(crate) fn file(agent: &Agent) -> PathBuf {
    agent.paths.kubernetes_dir.join("pki/ca.crt")
}

/// The mark of what this node trusts; `None` before it has joined.
pub(crate) fn own_mark(agent: &Agent) -> Result<Option<String>, HostError> {
    let trusted = agent.host.disk.read_optional(&file(agent))?;
    Ok(trusted.map(|pem| authority_mark(&String::from_utf8_lossy(&pem))))
}

impl Authority {
    /// Takes note of what a master told. Whoever has to act on it is woken until it has.
    pub(crate) fn hear(&self, told: Option<&str>) {
        let is_settled = told.is_none() || self.settled.borrow().as_deref() == told;
        self.heard.send_if_modified(|known| {
            let is_news = known.as_deref() != told;
            *known = told.map(str::to_owned);
            is_news || !is_settled
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_to_act_is_woken_until_it_has() {
        let authority = Authority::default();
        let mut woken = authority.heard.subscribe();
        let mut hear = |told: Option<&str>| {
            authority.hear(told);
            let changed = woken.has_changed().unwrap();
            woken.mark_unchanged();
            changed
        };
        assert!(!hear(None), "nothing is known yet");
        assert!(hear(Some("new")));
        assert!(hear(Some("new")), "it has not been acted on");
        authority.settled.send_replace(Some("new".to_owned()));
        assert!(!hear(Some("new")));
        assert!(hear(None));
        assert!(!hear(None));
    }
}
