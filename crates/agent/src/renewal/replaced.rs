//! What a node does when its masters trust, sign and let in with other keys, beside renewing its certificates.
//!
//! Only once the masters say so: a kubelet that asks for a serving certificate while they do not agree may get one of the
//! old CA again. The node's sealed directory follows too, so that it can be reset and join again.

use host::{Change, Content};
use join::{
    Marks,
    seal::{self, layout},
};
use pki::{Existing, Signer, table};

use super::{READ_ONCE, apply, kubelet, outdated, tokens, worker::Held};
use crate::{
    Agent, AgentError,
    ca::{self, Converged, Reported},
    join_key,
};

/// So many pods are named in a report, which is small.
const NAMED: usize = 3;

/// Nothing, unless a master has announced what this node trusts.
pub(super) async fn follow(agent: &Agent) -> Result<(), AgentError> {
    let Some(reported) = agent.ca.heard.borrow().clone() else { return Ok(()) };
    if Some(&reported.marks.ca) != ca::own_mark(agent)?.as_ref() || !has_joined(agent)? {
        return Ok(());
    }
    kubelet::shed(agent).await?;
    apply(agent, &sealed(agent)?)?;
    tokens::renew(agent, &reported).await
}

/// Where everything here is that the agent looks after.
pub(super) async fn converged(agent: &Agent) -> Result<Converged, AgentError> {
    let reported = agent.ca.heard.borrow().clone();
    Ok(match left(agent, reported.as_ref()).await? {
        Ok(marks) => Converged { on: Some(marks), why_not: None },
        Err(why) => Converged { on: None, why_not: Some(why) },
    })
}

/// What this node trusts and holds, or the first thing that is of other keys.
async fn left(agent: &Agent, reported: Option<&Reported>) -> Result<Result<Marks, String>, AgentError> {
    let Some(Reported { marks, .. }) = reported else {
        return Ok(Err("no master has reported what to trust".to_owned()));
    };
    let trusted = agent.host.disk.read_optional(&ca::file(agent))?.unwrap_or_default();
    for name in ["kube-proxy.conf", "agent.conf"] {
        // A master's agent has none, and signs for itself.
        let Some(Held { identity, .. }) = Held::read(agent, name)? else { continue };
        if identity.ca.as_bytes() != trusted || !pki::is_of_signer(identity.certificate.as_bytes(), &trusted) {
            return Ok(Err(format!("{name} is of another CA")));
        }
    }
    if !has_joined(agent)? {
        return Ok(Err("it has not joined yet".to_owned()));
    }
    if !kubelet::is_converged(agent)? {
        return Ok(Err("the kubelet's certificates are not of the CA that signs".to_owned()));
    }
    if let Some(unit) = outdated(agent, READ_ONCE).await?.first() {
        return Ok(Err(format!("{unit} is older than what it reads")));
    }
    let pods = tokens::of_other_keys(agent, &marks.tokens)?;
    if !pods.is_empty() {
        let some = pods[..pods.len().min(NAMED)].join(", ");
        return Ok(Err(format!("{} with tokens of another key: {some}", explain::counted(pods.len(), "pod"))));
    }
    let ca = ca::own_mark(agent)?.unwrap_or_default();
    let join = secret_of(agent, marks)?;
    if join != marks.join {
        return Ok(Err("its join-secret is not of the new join key".to_owned()));
    }
    Ok(Ok(Marks { ca, tokens: marks.tokens.clone(), join }))
}

/// The mark of the join key that this node's secret is of, as far as it is asked for.
fn secret_of(agent: &Agent, reported: &Marks) -> Result<Option<String>, AgentError> {
    if reported.join.is_none() {
        return Ok(None);
    }
    if !agent.is_master() {
        return Ok(agent.ca.secret_of.borrow().clone());
    }
    let keys = join_key::read(&agent.host, &agent.paths)?;
    let own = join_key::own_secret(agent)?;
    let fits = |key: &&join::JoinKey| own.as_ref().is_none_or(|own| key.made(own));
    Ok(keys.first().filter(fits).map(join::JoinKey::mark))
}

/// True once a bootstrap has come to its end here: before that, the kubelet is that one's concern.
fn has_joined(agent: &Agent) -> Result<bool, AgentError> {
    let state = agent.host.disk.read_optional(&agent.paths.state_dir.join("bootstrap-state"))?;
    Ok(state.is_some_and(|state| matches!(state.trim_ascii(), b"joined" | b"bootstrapped")))
}

/// The sealed directory as it would be made today, as far as the cluster's keys are in it.
fn sealed(agent: &Agent) -> Result<Vec<Change>, AgentError> {
    let (disk, dir) = (&*agent.host.disk, &agent.paths.config_dir);
    if !disk.exists(&dir.join(layout::PIN))? {
        return Ok(Vec::new());
    }
    let trusted = disk.read(&ca::file(agent))?;
    let pin = pki::spki_pin(&trusted)?;
    let mut wanted = vec![
        (dir.join(layout::CA), Content::Plain(trusted)),
        (dir.join(layout::PIN), Content::Plain(format!("{pin}\n").into_bytes())),
    ];
    // The first master's: it would start the cluster again with them.
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
        changes.push(seal::serving(&signer, serving.as_ref(), &agent.node, dir, now, super::secret::end(agent)?)?);
    }
    if agent.is_master() {
        changes.extend(crate::sealed::following(agent)?);
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
        assert_eq!(sealed(&agent).unwrap(), [], "nothing was sealed here");

        let write = |name: &str| {
            let path = agent.paths.config_dir.join(name);
            Change::File { path, mode: 0o600, content: Content::Secret(b"old".into()) }.apply(disk).unwrap();
        };
        for name in [layout::PIN, layout::CA, layout::SERVING] {
            write(name);
        }
        let names = |changes: &[Change]| -> Vec<String> {
            let name = |change: &Change| change.path().strip_prefix("/etc/cluster-config").unwrap().to_path_buf();
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
