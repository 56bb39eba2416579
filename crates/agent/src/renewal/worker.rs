//! A worker's certificates, asked for with the one it still has: when they are due, and when other CAs are trusted.
//! With them comes the next secret for its sealed directory: when two thirds of the present one's life are spent, and when the
//! join key is replaced.

use std::path::PathBuf;

use host::{Change, Content};
use jiff::Timestamp;
use join::{Member, Pair, Whose, ca_mark};
use secrecy::ExposeSecret;
use spec::ports;

use super::{apply, kubelet, secret};
use crate::{Agent, AgentError, ca, join_key};
use nodekit::kubeconfig::Identity;

pub(super) async fn ask_for_own(agent: &Agent) -> Result<(), AgentError> {
    let now = agent.host.clock.now();
    // The agent's own last: while it is old, the next check asks again for what a crash kept from being written.
    let (Some(proxy), Some(own)) = (Held::read(agent, "kube-proxy.conf")?, Held::read(agent, "agent.conf")?) else {
        return Ok(()); // not joined yet
    };
    let reported = agent.ca.heard.borrow().clone().map(|reported| reported.marks);
    let (heard, wanted) = reported.map_or((None, None), |marks| (Some(marks.ca), marks.join));
    let replaced = heard.is_some() && heard != ca::own_mark(agent)?;
    let is_due = replaced || proxy.is_due(now)? || own.is_due(now)?;
    let wanted = wanted.filter(|wanted| agent.ca.secret_of.borrow().as_ref() != Some(wanted));
    let held = if wanted.is_some() { join_key::own_secret(agent)? } else { secret::due(agent)? };
    if wanted.is_some() && held.is_none() {
        agent.ca.secret_of.send_replace(wanted); // it came with a token, and has nothing to be replaced
    }
    if !is_due && held.is_none() {
        return Ok(());
    }
    let identity = (own.identity.certificate.as_str(), own.identity.key.as_str());
    let masters = Member::new(agent.masters(ports::JOIN), &own.identity.ca, identity)?;
    let whose = if replaced { Whose::All } else { Whose::Ours };
    let renewed = masters.renew(&agent.node.name, whose, held.as_ref()).await?;
    if let Some((next, of)) = &renewed.secret {
        apply(agent, &[secret::change(agent, next)])?;
        agent.ca.secret_of.send_replace(Some(of.clone()));
    }
    if !is_due {
        return Ok(()); // the certificates have months left, and kube-proxy would have to start again
    }
    if replaced && Some(ca_mark(&renewed.ca_pem)) != heard {
        return Ok(()); // the master that answered knows less than the one that announced it; the next report asks again
    }
    let mut changes = vec![];
    if let Some(pair) = &renewed.kubelet {
        changes.extend(kubelet::identity(agent, &renewed.ca_pem, pair));
    }
    changes.extend([proxy.with(&renewed.ca_pem, &renewed.kube_proxy), own.with(&renewed.ca_pem, &renewed.agent)]);
    if replaced {
        // At the very end: as long as it is the old one, all of it is asked for again.
        let content = Content::Plain(renewed.ca_pem.into_bytes());
        changes.push(Change::File { path: ca::file(agent), mode: 0o600, content });
    }
    apply(agent, &changes)
}

/// A kubeconfig on this node.
pub(super) struct Held {
    path: PathBuf,
    text: String,
    pub(super) identity: Identity,
}

impl Held {
    pub(super) fn read(agent: &Agent, name: &str) -> Result<Option<Self>, AgentError> {
        let path = agent.paths.kubernetes_dir.join(name);
        let Some(text) = agent.host.disk.read_optional(&path)? else { return Ok(None) };
        let text = String::from_utf8_lossy(&text).into_owned();
        let identity = Identity::read(&text).map_err(|source| AgentError::Kubeconfig { path: path.clone(), source })?;
        Ok(Some(Self { path, text, identity }))
    }

    pub(super) fn is_due(&self, now: Timestamp) -> Result<bool, AgentError> {
        self.identity.is_due(now).map_err(|source| AgentError::Kubeconfig { path: self.path.clone(), source })
    }

    pub(super) fn with(&self, ca: &str, pair: &Pair) -> Change {
        let (certificate, key) = (pair.cert_pem.clone(), pair.key_pem.expose_secret().to_owned());
        let text = self.identity.replace(&self.text, &Identity { certificate, key, ca: ca.to_owned() });
        Change::File { path: self.path.clone(), mode: 0o600, content: Content::Secret(text.into_bytes()) }
    }
}
