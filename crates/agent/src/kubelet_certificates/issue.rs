//! The certificate that a kubelet gets: made of cluster.yaml and the key of its request, of nothing else in it.
//!
//! For a node that is not in cluster.yaml the names are those of the request, each of which was found to be its own.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use join::Purpose as Kind;
use pki::{Contents, Existing, Signer, table::Usage};
use spec::{San, ValidatedCluster};

use super::read::{Ask, Purpose};
use crate::{Agent, AgentError};

/// As kube-controller-manager has them.
const LONGEST: SignedDuration = SignedDuration::from_hours(365 * 24);
const SHORTEST: SignedDuration = SignedDuration::from_mins(10);

/// The certificate, PEM, signed with the CA on this master. It is read again each time, so one that was exchanged
/// is noticed at once.
pub(super) fn sign(agent: &Agent, ask: &Ask) -> Result<String, AgentError> {
    let now = agent.host.clock.now();
    let existing = Existing::read(&*agent.host.disk, &agent.paths.kubernetes_dir)?;
    let signer = Signer::new(&existing, agent.cluster.name(), now)?;
    Ok(signer.certificate(&ask.request, &contents(ask, &agent.cluster), now)?)
}

fn contents(ask: &Ask, cluster: &ValidatedCluster) -> Contents {
    let (usage, names) = match ask.purpose {
        Purpose::Client => (Usage::Client, BTreeSet::new()),
        Purpose::Serving => (Usage::Serve, names(ask, cluster)),
    };
    let lasts = ask.lasts.map_or(LONGEST, |wanted| wanted.clamp(SHORTEST, LONGEST));
    Contents { subject: Kind::Kubelet.subject(&ask.node), usage, names, lasts }
}

/// All that cluster.yaml calls the node, whichever of it the kubelet asks for today.
fn names(ask: &Ask, cluster: &ValidatedCluster) -> BTreeSet<San> {
    cluster.machine(&ask.node).map_or_else(
        || ask.request.names.clone(),
        |node| BTreeSet::from([San::Dns(node.name.clone()), San::Dns(node.hostname.clone()), San::Ip(node.ip)]),
    )
}

#[cfg(test)]
mod tests;
