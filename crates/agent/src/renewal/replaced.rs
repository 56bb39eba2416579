//! What a node does when its masters trust and sign with another authority, beside renewing its certificates.
//!
//! Only once the masters say so: a kubelet that asks for a serving certificate while they do not agree may get one of the
//! old authority again. The node's sealed directory follows too, so that it can be reset and join anew.

use host::{Change, Content};
use join::seal::{self, layout};
use pki::{Existing, Signer, table};

use super::{READ_ONCE, apply, kubelet, outdated, worker::Held};
use crate::{Agent, AgentError, authority};

/// Nothing, unless a master has told to trust what this node trusts.
pub(super) async fn follow(agent: &Agent) -> Result<(), AgentError> {
    let heard = agent.authority.heard.borrow().clone();
    if heard.is_none() || heard != authority::own_mark(agent)? || !has_joined(agent)? {
        return Ok(());
    }
    kubelet::shed(agent).await?;
    apply(agent, &sealed(agent)?)
}

/// True if everything here trusts what `ca.crt` holds and was signed by its first.
pub(super) async fn is_settled(agent: &Agent) -> Result<bool, AgentError> {
    let trusted = agent.host.disk.read_optional(&authority::file(agent))?.unwrap_or_default();
    for name in ["kube-proxy.conf", "agent.conf"] {
        // A master's agent has none, and signs for itself.
        let Some(Held { identity, .. }) = Held::read(agent, name)? else { continue };
        if identity.ca.as_bytes() != trusted || !pki::is_of_signer(identity.certificate.as_bytes(), &trusted) {
            return Ok(false);
        }
    }
    Ok(has_joined(agent)? && kubelet::is_settled(agent)? && outdated(agent, READ_ONCE).await?.is_empty())
}

/// True once a bootstrap has come to its end here: before that, the kubelet is that one's concern.
fn has_joined(agent: &Agent) -> Result<bool, AgentError> {
    let state = agent.host.disk.read_optional(&agent.paths.state_dir.join("bootstrap-state"))?;
    Ok(state.is_some_and(|state| matches!(state.trim_ascii(), b"joined" | b"bootstrapped")))
}

/// The sealed directory as it would be made today, as far as authorities are in it.
fn sealed(agent: &Agent) -> Result<Vec<Change>, AgentError> {
    let (disk, dir) = (&*agent.host.disk, &agent.paths.config_dir);
    if !disk.exists(&dir.join(layout::PIN))? {
        return Ok(Vec::new());
    }
    let trusted = disk.read(&authority::file(agent))?;
    let pin = pki::spki_pin(&trusted)?;
    let mut wanted = vec![
        (dir.join(layout::CA), Content::Plain(trusted)),
        (dir.join(layout::PIN), Content::Plain(format!("{pin}\n").into_bytes())),
    ];
    // The first master's: it would start the cluster anew with them.
    if disk.exists(&dir.join(layout::PKI))? {
        for name in table::shared_files() {
            wanted.push((dir.join(&name), Content::Secret(disk.read(&agent.paths.kubernetes_dir.join(&name))?)));
        }
    }
    let mut changes: Vec<Change> =
        wanted.into_iter().map(|(path, content)| Change::File { path, mode: 0o600, content }).collect();
    // A master's: with it, it answers others before it has joined.
    let serving = disk.read_optional(&dir.join(layout::SERVING))?;
    if serving.is_some() {
        let now = agent.host.clock.now();
        let signer = Signer::new(&Existing::read(disk, &agent.paths.kubernetes_dir)?, agent.cluster.name(), now)?;
        changes.push(seal::serving(&signer, serving.as_ref(), &agent.node, dir, now)?);
    }
    Ok(Change::missing(changes, disk)?)
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::Arc};

    use jiff::Timestamp;
    use pki::{Input, Shared};

    use super::*;
    use crate::testing::{Scripted, agent};

    #[test]
    fn a_sealed_directory_follows_and_another_is_left_alone() {
        let agent = agent("master-01", &Arc::new(Scripted::default()));
        let disk = &*agent.host.disk;
        let input = Input::new(&agent.cluster, &agent.node, Shared::Make);
        let existing = Existing::read(disk, &agent.paths.kubernetes_dir).unwrap();
        apply(&agent, &pki::plan(&existing, &input, Timestamp::now()).unwrap()).unwrap();
        assert_eq!(sealed(&agent).unwrap(), [], "nobody has sealed anything here");

        let write = |name: &str| {
            let path = agent.paths.config_dir.join(name);
            Change::File { path, mode: 0o600, content: Content::Secret(b"old".into()) }.apply(disk).unwrap();
        };
        for name in [layout::PIN, layout::CA, layout::SERVING] {
            write(name);
        }
        let names = |changes: &[Change]| -> Vec<String> {
            let name =
                |change: &Change| change.path().unwrap().strip_prefix("/etc/cluster-config").unwrap().to_path_buf();
            changes.iter().map(|change| name(change).display().to_string()).collect()
        };
        assert_eq!(names(&sealed(&agent).unwrap()), ["ca.crt", "ca-pin", "serving.pem"]);
        write("pki/ca.key");
        assert_eq!(names(&sealed(&agent).unwrap()).len(), 3 + table::shared_files().len(), "the first master's");
        apply(&agent, &sealed(&agent).unwrap()).unwrap();
        assert_eq!(sealed(&agent).unwrap(), [], "once");
        let trusted = disk.read(Path::new("/etc/kubernetes/pki/ca.crt")).unwrap();
        assert_eq!(disk.read(&agent.paths.config_dir.join(layout::CA)).unwrap(), trusted);
    }
}
