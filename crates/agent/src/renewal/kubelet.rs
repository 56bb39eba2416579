//! The kubelet's own certificates, which it renews itself but never before their time.
//!
//! When another CA signs, those of the old one have to go. A worker is given a new client certificate; on a master
//! the kubelet takes the one in its kubeconfig. For its serving certificate the kubelet asks by itself as soon as it has none.

use std::path::{Path, PathBuf};

use host::{Change, Cmd, Content};
use join::{Pair, Purpose};
use pki::{Proof, kubeconfig};
use secrecy::ExposeSecret;
use spec::ports;

use super::restart::KUBELET;
use crate::{Agent, AgentError, ca, systemd};

const CLIENT: &str = "/var/lib/kubelet/pki/kubelet-client-current.pem";
const SERVING: &str = "/var/lib/kubelet/pki/kubelet-server-current.pem";
/// Where the kubelet's first client certificate was put when the node joined.
const FIRST: &str = "/var/lib/kubelet/pki/kubelet-client-first.pem";

/// A new client certificate, and the kubeconfig that trusts these CAs.
pub(super) fn identity(agent: &Agent, ca: &str, pair: &Pair) -> Vec<Change> {
    let secret =
        |path: PathBuf, text: String| Change::File { path, mode: 0o600, content: Content::Secret(text.into_bytes()) };
    let server = format!("https://127.0.0.1:{}", ports::API_BALANCER);
    let user = Purpose::Kubelet.subject(&agent.node.name).common_name;
    let conf = kubeconfig(agent.cluster.name(), &user, &server, ca.as_bytes(), Proof::File(Path::new(CLIENT)));
    vec![
        secret(FIRST.into(), format!("{}{}", pair.cert_pem, pair.key_pem.expose_secret())),
        Change::Link { path: CLIENT.into(), target: FIRST.into() },
        secret(agent.paths.kubernetes_dir.join("kubelet.conf"), conf),
    ]
}

/// Takes away what the CA that signs now has not signed. The kubelet is stopped meanwhile: it would go on with what
/// it has in memory, and nothing would show that it does.
pub(super) async fn shed(agent: &Agent) -> Result<(), AgentError> {
    let mut foreign = Vec::new();
    for path in [CLIENT, SERVING] {
        if is_of_signer(agent, path)? == Some(false) {
            foreign.push(path);
        }
    }
    let systemctl = |verb: &'static str| Cmd::new("systemctl").args([verb, KUBELET]);
    if foreign.is_empty() {
        // Stopped by an agent that was killed before it could go on.
        if is_of_signer(agent, SERVING)?.is_none() && is_stopped(agent).await? {
            agent.host.commands.run(&systemctl("start")).await?;
        }
        return Ok(());
    }
    tracing::info!(?foreign, "the kubelet gets new certificates: another CA signs now");
    agent.host.commands.run(&systemctl("stop")).await?;
    let removed = foreign.iter().try_for_each(|path| host::remove_file(&*agent.host.disk, Path::new(path)));
    // Whatever became of that, a node is better off with an old certificate than without a kubelet.
    agent.host.commands.run(&systemctl("start")).await?;
    Ok(removed?)
}

/// True if both are there and of the CA that signs now. A master's kubelet may use the one in its kubeconfig.
pub(super) fn is_converged(agent: &Agent) -> Result<bool, AgentError> {
    let client = is_of_signer(agent, CLIENT)?;
    let has_client = if agent.is_master() { client != Some(false) } else { client == Some(true) };
    Ok(has_client && is_of_signer(agent, SERVING)? == Some(true))
}

/// `None` if there is no such certificate.
fn is_of_signer(agent: &Agent, path: &str) -> Result<Option<bool>, AgentError> {
    let trusted = agent.host.disk.read_optional(&ca::file(agent))?.unwrap_or_default();
    let certificate = agent.host.disk.read_optional(Path::new(path))?;
    Ok(certificate.map(|certificate| pki::is_of_signer(&certificate, &trusted)))
}

async fn is_stopped(agent: &Agent) -> Result<bool, AgentError> {
    let units = systemd::units(agent, &[KUBELET]).await?;
    Ok(units.get(KUBELET).is_some_and(|unit| unit.state() == "inactive"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;
    use pki::{Existing, Input, Shared, Stage, Successors};

    use super::*;
    use crate::testing::{Scripted, agent};

    const STOP: &str = "systemctl stop kubelet.service";
    const START: &str = "systemctl start kubelet.service";
    fn shown() -> String {
        systemd::show(&["kubelet.service"]).to_string()
    }

    /// A master with CAs, whose kubelet has certificates of them.
    fn master(commands: &Arc<Scripted>) -> Agent {
        let agent = agent("master-01", commands);
        let existing = Existing::read(&*agent.host.disk, &agent.paths.kubernetes_dir).unwrap();
        let input = Input::new(&agent.cluster, &agent.node, Shared::Make);
        apply(&agent, &pki::plan(&existing, &input, Timestamp::now()).unwrap());
        let certificate = agent.host.disk.read(Path::new("/etc/kubernetes/pki/apiserver-kubelet-client.crt")).unwrap();
        for path in [CLIENT, SERVING] {
            let content = Content::Secret(certificate.clone());
            apply(&agent, &[Change::File { path: path.into(), mode: 0o600, content }]);
        }
        for command in [STOP, START] {
            commands.answer(command, "");
        }
        agent
    }

    fn apply(agent: &Agent, changes: &[Change]) {
        for change in changes {
            change.apply(&*agent.host.disk).unwrap();
        }
    }

    fn rotate(agent: &Agent, successors: &Successors, stage: Stage) {
        let existing = Existing::read(&*agent.host.disk, &agent.paths.kubernetes_dir).unwrap();
        let input = Input::new(&agent.cluster, &agent.node, Shared::Bring);
        apply(agent, &pki::rotation(&existing, &input, successors, stage, Timestamp::now()).unwrap());
    }

    fn state(commands: &Scripted, state: &str) {
        commands.answer(&shown(), &format!("Id=kubelet.service\nLoadState=loaded\nActiveState={state}\n"));
    }

    #[tokio::test]
    async fn only_what_another_ca_has_signed_goes() {
        let commands = Arc::new(Scripted::default());
        let agent = master(&commands);
        let successors = Successors::of_cas("demo", Timestamp::now()).unwrap();
        for (stage, expected) in [(Stage::Trust, vec![]), (Stage::Sign, vec![STOP, START])] {
            rotate(&agent, &successors, stage);
            commands.ran();
            shed(&agent).await.unwrap();
            assert_eq!(commands.ran(), expected, "{stage:?}");
        }
        assert_eq!(is_of_signer(&agent, SERVING).unwrap(), None);
        assert!(!is_converged(&agent).unwrap(), "it has not got a new one yet");
    }

    #[tokio::test]
    async fn one_that_a_crash_left_stopped_is_started() {
        let commands = Arc::new(Scripted::default());
        let agent = master(&commands);
        host::remove_file(&*agent.host.disk, Path::new(SERVING)).unwrap();
        for (found, expected) in [("active", vec![shown()]), ("inactive", vec![shown(), START.to_owned()])] {
            state(&commands, found);
            shed(&agent).await.unwrap();
            assert_eq!(commands.ran(), expected, "{found}");
        }
    }

    #[test]
    fn a_worker_needs_both_and_a_master_may_use_its_kubeconfig() {
        let agent = master(&Arc::new(Scripted::default()));
        assert!(is_converged(&agent).unwrap());
        host::remove_file(&*agent.host.disk, Path::new(CLIENT)).unwrap();
        assert!(is_converged(&agent).unwrap());
        let worker = agent.cluster.node("worker-01").unwrap().clone();
        assert!(!is_converged(&Agent { node: worker, ..agent.clone() }).unwrap());
        host::remove_file(&*agent.host.disk, Path::new(SERVING)).unwrap();
        assert!(!is_converged(&agent).unwrap());
    }
}
