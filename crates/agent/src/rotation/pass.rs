//! The second lock of the new keys, which is not in a copy of a master from before the rotation.
//!
//! It is made by `blackstart pki rotate` on the master that begins. The others ask for it when it is their turn: masters
//! give it to masters that call from their own address. It lies beside the ledger until the rotation is over.

use std::{net::SocketAddr, path::PathBuf};

use host::{Change, Content, Host, HostError};
use join::{JoinKey, Member};
use nodekit::Layout;
use secrecy::ExposeSecret;
use spec::ports;

use super::{Rotation, Successors};
use crate::{Agent, AgentError, report};

const FILE: &str = "rotation.key";

fn file(paths: &Layout) -> PathBuf {
    paths.state_dir.join(FILE)
}

/// What this master has.
pub fn read(host: &Host, paths: &Layout) -> Result<Option<String>, HostError> {
    let text = host.disk.read_optional(&file(paths))?;
    Ok(text.map(|text| String::from_utf8_lossy(&text).trim().to_owned()))
}

/// A new one, on this master.
pub fn make(host: &Host, paths: &Layout) -> Result<String, AgentError> {
    let key = JoinKey::generate()?.text().expose_secret().to_owned();
    write(host, paths, &key)?;
    Ok(key)
}

/// Nothing is left to be opened with it.
pub fn forget(host: &Host, paths: &Layout) -> Result<(), HostError> {
    host::remove_file(&*host.disk, &file(paths))
}

fn write(host: &Host, paths: &Layout, key: &str) -> Result<(), HostError> {
    let content = Content::Secret(format!("{key}\n").into_bytes());
    Change::File { path: file(paths), mode: 0o600, content }.apply(&*host.disk)
}

/// The new keys of a rotation, with what this master has, or else with what another one gives.
pub(super) async fn open(agent: &Agent, rotation: &Rotation, encryption: &str) -> Result<Successors, AgentError> {
    if let Some(own) = read(&agent.host, &agent.paths)?
        && let Ok(opened) = rotation.successors(encryption, &own)
    {
        return Ok(opened);
    }
    let identity = report::sign(agent)?;
    let shown = (identity.certificate.as_str(), identity.key.as_str());
    for master in agent.cluster.masters().filter(|master| master.name != agent.node.name) {
        let member = Member::new(vec![SocketAddr::new(master.ip, ports::JOIN)], &identity.ca, shown)?;
        let reported = match member.rotation_key().await {
            Ok(reported) => reported,
            Err(error) => {
                tracing::warn!(
                    master = master.name,
                    error = explain::chain(&error),
                    "it does not send the key that decrypts the new keys"
                );
                continue;
            }
        };
        if let Some(key) = reported
            && let Ok(opened) = rotation.successors(encryption, &key)
        {
            write(&agent.host, &agent.paths, &key)?;
            return Ok(opened);
        }
    }
    Err(AgentError::Locked)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::{Scripted, agent};

    #[test]
    fn it_is_there_until_it_is_forgotten() {
        let agent = agent("master-01", &Arc::new(Scripted::default()));
        let there = || read(&agent.host, &agent.paths).unwrap();
        assert_eq!(there(), None);
        let made = make(&agent.host, &agent.paths).unwrap();
        assert_eq!(there(), Some(made.clone()));
        assert_ne!(make(&agent.host, &agent.paths).unwrap(), made);
        forget(&agent.host, &agent.paths).unwrap();
        forget(&agent.host, &agent.paths).unwrap();
        assert_eq!(there(), None);
    }
}
