//! The sealed directory of a master, where it holds keys of the cluster.

use std::path::PathBuf;

use host::{Change, Content};
use join::seal::layout;
use render::Encryption;
use secrecy::ExposeSecret;

use crate::{Agent, AgentError, join_key};

/// Beside the kubeconfigs.
pub(crate) const ENCRYPTION: &str = "encryption.yaml";

/// What of the sealed directory of a master follows its keys, beside what is in the PKI's table: the first master would
/// start the cluster again with these, and any would join again with its secret. Only what is there.
pub(crate) fn following(agent: &Agent) -> Result<Vec<Change>, AgentError> {
    let (disk, dir) = (&*agent.host.disk, &agent.paths.config_dir);
    let mut changes = Vec::new();
    let held = disk.read_optional(&agent.paths.kubernetes_dir.join(ENCRYPTION))?;
    let key = dir.join(layout::ENCRYPTION_KEY);
    if let Some(encryption) = held.and_then(|text| Encryption::parse(&String::from_utf8_lossy(&text)))
        && disk.exists(&key)?
        && let Some(first) = encryption.keys().next()
    {
        changes.push(secret(key, format!("{}\n", first.secret)));
    }
    let keys = join_key::read(&agent.host, &agent.paths)?;
    let Some((current, former)) = keys.split_first() else { return Ok(changes) };
    let key = dir.join(layout::JOIN_KEY);
    if disk.exists(&key)? && join_key::file(&agent.host, &agent.paths)?.is_some_and(|file| file != key) {
        let lines = keys.iter().map(|key| format!("{}\n", key.text().expose_secret()));
        changes.push(secret(key, lines.collect()));
    }
    if let Some(own) = join_key::own_secret(agent)?
        && former.iter().any(|key| key.made(&own))
    {
        let new = current.node_secret(&own.node, own.generation.next(agent.host.clock.now()), own.expires);
        changes.push(secret(dir.join(layout::SECRET), format!("{}\n", new.text().expose_secret())));
    }
    Ok(changes)
}

/// A file that only root reads.
pub(crate) fn secret(path: PathBuf, text: String) -> Change {
    Change::File { path, mode: 0o600, content: Content::Secret(text.into_bytes()) }
}
