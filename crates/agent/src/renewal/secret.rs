//! The secret of the node's sealed directory, before it ends: so the node can be reset and join again at any time.
//!
//! A master makes its own, and the certificate that ends with it; a worker is given one (`worker`).

use host::{Change, Content};
use jiff::Timestamp;
use join::{
    NodeSecret,
    seal::{self, layout},
};
use pki::{Existing, Signer};
use secrecy::ExposeSecret;

use super::apply;
use crate::{Agent, AgentError, join_key};

/// The secret of the sealed directory, if two thirds of its life are spent. `None` too where nothing was sealed, or what is
/// there is another node's: that is for an operator to put right.
pub(super) fn due(agent: &Agent) -> Result<Option<NodeSecret>, AgentError> {
    let now = agent.host.clock.now();
    Ok(held(agent)?.filter(|secret| secret.node == agent.node.name && secret.is_due(now)))
}

/// When the secret of the sealed directory ends.
pub(super) fn end(agent: &Agent) -> Result<Option<Timestamp>, AgentError> {
    Ok(held(agent)?.and_then(|secret| secret.expires))
}

fn held(agent: &Agent) -> Result<Option<NodeSecret>, AgentError> {
    let text = agent.host.disk.read_optional(&agent.paths.config_dir.join(layout::SECRET))?;
    Ok(text.and_then(|text| NodeSecret::parse(&String::from_utf8_lossy(&text)).ok()))
}

/// Puts a secret into the sealed directory.
pub(super) fn change(agent: &Agent, next: &NodeSecret) -> Change {
    let content = Content::Secret(format!("{}\n", next.text().expose_secret()).into_bytes());
    Change::File { path: agent.paths.config_dir.join(layout::SECRET), mode: 0o600, content }
}

/// On a master, which has the join key.
pub(super) fn renew_own(agent: &Agent) -> Result<(), AgentError> {
    let (disk, dir, now) = (&*agent.host.disk, &agent.paths.config_dir, agent.host.clock.now());
    let (Some(present), Some(key)) = (due(agent)?, join_key::read(&agent.host, &agent.paths)?.into_iter().next())
    else {
        return Ok(());
    };
    let next = key.next_secret(&present, now);
    let mut changes = vec![change(agent, &next)];
    if disk.exists(&dir.join(layout::SERVING))? {
        let signer = Signer::new(&Existing::read(disk, &agent.paths.kubernetes_dir)?, agent.cluster.name(), now)?;
        changes.push(seal::serving(&signer, None, &agent.node, dir, now, next.expires)?);
    }
    apply(agent, &changes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use host::FixedClock;
    use jiff::SignedDuration;
    use join::{Generation, JoinKey};
    use pki::{Input, Shared};

    use super::*;
    use crate::testing::{Scripted, agent};

    fn secret_of(agent: &Agent) -> NodeSecret {
        held(agent).unwrap().unwrap()
    }

    #[test]
    fn a_master_makes_its_next_secret_and_what_ends_with_it() {
        let mut agent = agent("master-01", &Arc::new(Scripted::default()));
        let made = Timestamp::now();
        let write = |agent: &Agent, name: &str, text: &str| {
            let content = Content::Secret(text.as_bytes().to_vec());
            let path = agent.paths.config_dir.join(name);
            Change::File { path, mode: 0o600, content }.apply(&*agent.host.disk).unwrap();
        };
        let input = Input::new(&agent.cluster, &agent.node, Shared::Make);
        let existing = Existing::read(&*agent.host.disk, &agent.paths.kubernetes_dir).unwrap();
        apply(&agent, &pki::plan(&existing, &input, made).unwrap()).unwrap();
        let key = JoinKey::generate().unwrap();
        write(&agent, layout::JOIN_KEY, key.text().expose_secret());
        write(&agent, layout::SERVING, "old");
        let end = seal::end(spec::SecretTtl::default(), made);
        write(&agent, layout::SECRET, key.node_secret("master-01", Generation::at(made), end).text().expose_secret());

        for (days, is_renewed) in [(19, false), (20, true), (400, true)] {
            agent.host.clock = Arc::new(FixedClock(made + SignedDuration::from_hours(24 * days)));
            let before = secret_of(&agent);
            renew_own(&agent).unwrap();
            let after = secret_of(&agent);
            assert_eq!(after.generation > before.generation, is_renewed, "{days}");
            assert!(key.made(&after) && !after.is_due(agent.host.clock.now()), "{days}");
        }
        let serving = agent.host.disk.read(&agent.paths.config_dir.join(layout::SERVING)).unwrap();
        assert_ne!(serving, b"old");

        let of_another = key.node_secret("worker-01", Generation(1), Timestamp::from_second(2).ok());
        write(&agent, layout::SECRET, of_another.text().expose_secret());
        assert!(due(&agent).unwrap().is_none(), "another node's");
    }
}
