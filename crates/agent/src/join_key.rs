//! Where this node keeps what it lets others in with, and what it joins with itself.

use std::path::PathBuf;

use host::{Host, HostError};
use join::{JoinKey, NodeSecret, seal::layout};
use nodekit::Layout;

use crate::{Agent, AgentError};

/// Where a master keeps the join key that another one gave it.
const GIVEN: &str = "pki/join.key";

/// The file that counts: what another master gave, else what was sealed.
pub(crate) fn file(host: &Host, paths: &Layout) -> Result<Option<PathBuf>, HostError> {
    for file in [paths.kubernetes_dir.join(GIVEN), paths.config_dir.join(layout::JOIN_KEY)] {
        if host.disk.exists(&file)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// The one that makes secrets, then those whose secrets are still good. None in a cluster that was not sealed.
pub(crate) fn read(host: &Host, paths: &Layout) -> Result<Vec<JoinKey>, AgentError> {
    let Some(file) = file(host, paths)? else { return Ok(Vec::new()) };
    Ok(JoinKey::parse_all(&String::from_utf8_lossy(&host.disk.read(&file)?))?)
}

/// What this node would join again with; none if it joined with a token.
pub(crate) fn own_secret(agent: &Agent) -> Result<Option<NodeSecret>, AgentError> {
    let text = agent.host.disk.read_optional(&agent.paths.config_dir.join(layout::SECRET))?;
    Ok(text.map(|text| NodeSecret::parse(&String::from_utf8_lossy(&text))).transpose()?)
}
