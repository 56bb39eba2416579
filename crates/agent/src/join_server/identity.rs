//! What the join service shows to its clients: the API server's certificate, or, on a master that has not joined yet, the
//! one of its sealed directory. Both are of the same CA.

use std::{path::Path, time::Duration};

use host::{Host, HostError};
use join::seal::layout;
use nodekit::Layout;
use tls::{ClientCa, ServerCertificate};
use tokio::time::sleep;

use crate::{Agent, AgentError};

/// Between two checks while there is nothing to show.
const EARLY: Duration = Duration::from_millis(200);
/// Between two checks whether there is something newer.
const RENEWED: Duration = Duration::from_secs(5);

/// Certificate, key and the CA that clients' certificates are checked with; PEM.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) certificate: String,
    pub(super) key: String,
    pub(super) ca: String,
}

/// As soon as there is one.
pub(super) async fn wait(agent: &Agent) -> Result<Identity, AgentError> {
    loop {
        if let Some(identity) = read(&agent.host, &agent.paths)? {
            return Ok(identity);
        }
        sleep(EARLY).await;
    }
}

/// Shows newer certificates as they come, and believes clients of another CA as soon as there is one.
pub(super) async fn follow(
    agent: &Agent,
    mut known: Identity,
    certificate: &ServerCertificate,
    clients: &ClientCa,
) -> Result<(), AgentError> {
    loop {
        sleep(RENEWED).await;
        // One that is gone for a moment is being replaced, or the node is being reset, which ends the agent anyway.
        let Some(now) = read(&agent.host, &agent.paths)?.filter(|now| *now != known) else { continue };
        if now.certificate != known.certificate {
            certificate.replace(&now.certificate, &now.key)?;
            tracing::info!("the join service shows a new certificate");
        }
        if now.ca != known.ca {
            clients.replace(&now.ca)?;
            tracing::info!("the join service now trusts clients of another CA");
        }
        known = now;
    }
}

fn read(host: &Host, paths: &Layout) -> Result<Option<Identity>, HostError> {
    let pki = paths.kubernetes_dir.join("pki");
    let own = of(host, [&pki.join("apiserver.crt"), &pki.join("apiserver.key"), &pki.join("ca.crt")])?;
    if own.is_some() {
        return Ok(own);
    }
    let [serving, ca] = [layout::SERVING, layout::CA].map(|name| paths.config_dir.join(name));
    of(host, [&serving, &serving, &ca])
}

fn of(host: &Host, files: [&Path; 3]) -> Result<Option<Identity>, HostError> {
    let text = |path: &Path| {
        let bytes = host.disk.read_optional(path)?.filter(|bytes| !bytes.is_empty());
        Ok::<_, HostError>(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let [certificate, key, ca] = files;
    match (text(certificate)?, text(key)?, text(ca)?) {
        (Some(certificate), Some(key), Some(ca)) => Ok(Some(Identity { certificate, key, ca })),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use host::{Change, Content};

    use super::*;
    use crate::testing::{Scripted, agent};

    #[test]
    fn a_masters_own_certificate_comes_before_the_sealed_one() {
        let agent = agent("master-01", &Arc::new(Scripted::default()));
        let write = |path: &str| {
            let content = Content::Plain(path.into());
            Change::File { path: path.into(), mode: 0o600, content }.apply(&*agent.host.disk).unwrap();
        };
        let shown = || read(&agent.host, &agent.paths).unwrap().map(|identity| identity.certificate);
        assert_eq!(shown(), None);
        write("/etc/cluster-config/serving.pem");
        assert_eq!(shown(), None, "without the CA it is of no use");
        write("/etc/cluster-config/ca.crt");
        assert_eq!(shown().as_deref(), Some("/etc/cluster-config/serving.pem"));
        for name in ["apiserver.key", "ca.crt", "apiserver.crt"] {
            write(&format!("/etc/kubernetes/pki/{name}"));
        }
        assert_eq!(shown().as_deref(), Some("/etc/kubernetes/pki/apiserver.crt"));
    }
}
