//! What has to be written for every node's directory to be whole.
//!
//! The cluster's keys come first and everything else is made from them, so any first part of the changes is a good state
//! to crash in. Of the shared files only missing ones are in the plan; all others are in it with the content they should
//! have, and `Change::missing` says which of them are there already.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use host::{Change, Content};
use jiff::Timestamp;
use pki::table;
use secrecy::ExposeSecret;
use spec::{Node, Role, San, SecretTtl, ValidatedCluster};

use super::{
    Existing, SealError, Sources,
    existing::EncryptionKey,
    layout::{self, DIRECTORY, FILE},
};
use crate::{Generation, JoinKey, NodeSecret};

/// Whom the certificate is made out to that a master answers with before it has joined.
pub(crate) const SERVICE: &str = "blackstart:join";

/// What new secrets are like, and who gets one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// When they end; `None` for never.
    pub expires: Option<Timestamp>,
    /// The nodes whose good secrets are to be followed by others. Any other is made only where there is none, or none that
    /// is good.
    pub renew: BTreeSet<String>,
}

/// When a secret ends that is made now.
pub fn end(ttl: SecretTtl, now: Timestamp) -> Option<Timestamp> {
    match ttl {
        SecretTtl::After(length) => Some(now.saturating_add(length).unwrap_or(Timestamp::MAX)),
        SecretTtl::Never => None,
    }
}

/// The changes that seal a cluster.
pub fn plan(
    cluster: &ValidatedCluster,
    sources: &Sources,
    existing: &Existing,
    now: Timestamp,
    terms: &Terms,
) -> Result<Vec<Change>, SealError> {
    refuse(cluster, existing, now, terms.expires)?;
    let home = existing.home();
    let mut changes = Vec::new();
    if !existing.has_out {
        changes.push(directory(&existing.out));
    }
    changes.push(directory(&home));

    let join_key = existing.join_key.clone().map_or_else(JoinKey::generate, Ok)?;
    changes.push(secret(&home.join(layout::JOIN_KEY), join_key.text().expose_secret()));
    let encryption = match &existing.encryption_key {
        Some(key) => STANDARD.encode(key.0.expose_secret()),
        None => STANDARD.encode(EncryptionKey::generate()?.0.expose_secret()),
    };
    changes.push(secret(&home.join(layout::ENCRYPTION_KEY), &encryption));
    changes.extend(pki::plan_shared(&existing.pki, cluster.name(), now)?);

    let ca_path = home.join(table::CLUSTER.certificate());
    let ca = ca(existing, &changes, &ca_path)?;
    let pin = pki::spki_pin(&ca).map_err(|source| SealError::Ca { path: ca_path, source })?;
    let signer = pki::Signer::new(&existing.pki.after(&changes), cluster.name(), now)?;
    for node in cluster.machines() {
        let to = existing.out.join(&node.name);
        let present = existing.secrets.get(&node.name);
        let own = node_secret(&join_key, present, &node.name, now, terms);
        let is_new = present.is_none_or(|present| present.generation != own.generation);
        changes.push(directory(&to));
        changes.push(plain(&to.join(layout::CA), ca.clone()));
        changes.push(plain(&to.join(layout::PIN), format!("{pin}\n").into_bytes()));
        changes.push(plain(&to.join(layout::CLUSTER), sources.cluster.clone()));
        if !sources.nodes.is_empty() {
            changes.push(directory(&to.join(layout::NODES)));
        }
        let nodes = to.join(layout::NODES);
        let wanted: BTreeMap<PathBuf, &Vec<u8>> =
            sources.nodes.iter().map(|(name, text)| (nodes.join(name), text)).collect();
        let stale = existing.node_files.iter().filter(|path| path.starts_with(&nodes) && !wanted.contains_key(*path));
        changes.extend(stale.map(|path| Change::Remove { path: path.clone() }));
        changes.extend(wanted.into_iter().map(|(path, text)| plain(&path, text.clone())));
        changes.push(secret(&to.join(layout::SECRET), own.text().expose_secret()));
        if node.has(Role::Master) || node.has(Role::Bootstrap) {
            changes.extend(add_on(sources, &to));
            let present = existing.serving.get(&node.name).filter(|_| !is_new);
            changes.push(serving(&signer, present, node, &to, now, own.expires)?);
        }
    }
    Ok(changes)
}

fn refuse(
    cluster: &ValidatedCluster,
    existing: &Existing,
    now: Timestamp,
    expires: Option<Timestamp>,
) -> Result<(), SealError> {
    if cluster.bootstrap().token.is_some() {
        return Err(SealError::Token);
    }
    if let Some(expires) = expires.filter(|expires| *expires <= now) {
        return Err(SealError::Expiry { expires, now });
    }
    if let Some(held) = &existing.elsewhere {
        return Err(SealError::Elsewhere { held: held.clone(), first: existing.first.clone() });
    }
    // Keys and CA are written before the first secret, so one without the others was not left by a crash.
    let whole = existing.join_key.is_some() && existing.encryption_key.is_some() && existing.ca.is_some();
    match &existing.sealed {
        Some(sealed) if !whole => Err(SealError::KeysMissing { sealed: sealed.clone(), expected: existing.home() }),
        _ => Ok(()),
    }
}

/// The CA's certificate: the one that is there, or the one about to be written.
fn ca(existing: &Existing, changes: &[Change], path: &Path) -> Result<Vec<u8>, SealError> {
    let planned = changes.iter().find_map(|change| match change {
        Change::File { path: to, content, .. } if to == path => Some(content.bytes().to_vec()),
        _ => None,
    });
    planned.or_else(|| existing.ca.clone()).ok_or_else(|| SealError::Missing { path: path.to_path_buf() })
}

/// The secret that is there, if it is of any use and not to be followed by another; else a new one.
fn node_secret(key: &JoinKey, existing: Option<&NodeSecret>, node: &str, now: Timestamp, terms: &Terms) -> NodeSecret {
    let usable = |secret: &&NodeSecret| secret.node == node && key.made(secret) && !secret.is_expired(now);
    let stays = |secret: &&NodeSecret| usable(secret) && !terms.renew.contains(node);
    let generation = existing.map_or_else(|| Generation::at(now), |before| before.generation.next(now));
    existing.filter(stays).cloned().unwrap_or_else(|| key.node_secret(node, generation, terms.expires))
}

/// What a master answers with before it has joined, and shows to the others when it asks them whether there is a cluster.
/// It ends with the secret beside it: a finder of the medium can later neither join with it nor pose as a master. The one
/// that is there stays as long as this CA stands behind it and it does not end before the secret.
pub fn serving(
    signer: &pki::Signer,
    existing: Option<&Vec<u8>>,
    node: &Node,
    to: &Path,
    now: Timestamp,
    end: Option<Timestamp>,
) -> Result<Change, pki::PkiErrors> {
    let names = BTreeSet::from([San::Ip(node.ip), San::Dns(node.name.clone())]);
    let bytes = if let Some(pem) = existing.filter(|pem| signer.still_serves(pem, &names, end, now)) {
        pem.clone()
    } else {
        let made = signer.server(&format!("{SERVICE}:{}", node.name), &names, end, now)?;
        made.expose_secret().as_bytes().to_vec()
    };
    Ok(Change::File { path: to.join(layout::SERVING), mode: FILE, content: Content::Secret(bytes) })
}

/// The manifests that masters apply, each after the directories it lies in.
fn add_on(sources: &Sources, to: &Path) -> Vec<Change> {
    let mut changes = Vec::new();
    for (name, text) in &sources.add_on {
        let mut above: Vec<&Path> = name.ancestors().skip(1).filter(|dir| !dir.as_os_str().is_empty()).collect();
        above.reverse();
        changes.extend(above.into_iter().map(|dir| directory(&to.join(dir))));
        changes.push(plain(&to.join(name), text.clone()));
    }
    changes
}

fn directory(path: &Path) -> Change {
    Change::Directory { path: path.to_path_buf(), mode: DIRECTORY }
}

fn plain(path: &Path, bytes: Vec<u8>) -> Change {
    Change::File { path: path.to_path_buf(), mode: FILE, content: Content::Plain(bytes) }
}

fn secret(path: &Path, text: &str) -> Change {
    Change::File { path: path.to_path_buf(), mode: FILE, content: Content::Secret(format!("{text}\n").into_bytes()) }
}
