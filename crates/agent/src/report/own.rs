//! A certificate for the agent of a master, which never leaves its memory.

use join::AgentCertificate;
use nodekit::kubeconfig::Identity;

use crate::{Agent, AgentError};

/// Signed with the CA on this machine.
pub(crate) fn sign(agent: &Agent) -> Result<Identity, AgentError> {
    let (host, cluster) = (&agent.host, agent.cluster.name());
    let directory = &agent.paths.kubernetes_dir;
    let signed = AgentCertificate::sign(&*host.disk, directory, cluster, &agent.node.name, host.clock.now())?;
    let AgentCertificate { certificate, key, ca } = signed;
    Ok(Identity { certificate, key, ca })
}
