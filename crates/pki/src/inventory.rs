//! What the PKI holds, for people and scripts: `blackstart pki show`.
//!
//! Unlike [`crate::plan`] it refuses nothing: a broken file is a line that says so.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    PkiError, Urgency,
    certificate::{Certificate, show_san},
    existing::Existing,
    key,
    leaf::{self, Stored},
    lifetime::timestamp,
    table::{CAS, CaRow, Kept, LEAVES, Leaf, SERVICE_ACCOUNT},
};

/// One line of the inventory.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    /// The name by which it is renewed.
    pub name: &'static str,
    /// What it is.
    pub kind: EntryKind,
    /// The file that holds it.
    pub path: PathBuf,
    /// What is wrong with it, if anything is.
    pub state: State,
    /// The name of the CA that signs it; `None` for what signs itself.
    pub ca: Option<&'static str>,
    /// What the certificate says; `None` if there is none to read.
    pub certificate: Option<Facts>,
}

/// What a line of the inventory is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// A CA.
    Ca,
    /// A certificate with its key beside it.
    Certificate,
    /// A certificate inside a kubeconfig.
    Kubeconfig,
    /// A key pair without certificate.
    Key,
}

/// Whether files are there and belong together. Age is in [`Urgency`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// As it should be.
    Ok,
    /// Not there.
    Missing,
    /// There, and cannot be read.
    Unreadable,
    /// A CA whose key is elsewhere.
    External,
    /// A kubeconfig that points to files kept by someone else.
    Elsewhere,
    /// A certificate or public key without its private key.
    NoKey,
    /// The key belongs to something else.
    KeyMismatch,
    /// Signed by another CA.
    Foreign,
}

/// What a certificate says.
#[derive(Debug, Clone, Serialize)]
pub struct Facts {
    /// Whom it identifies.
    pub subject: String,
    /// Who signed it.
    pub issuer: String,
    /// Names and addresses it is valid for.
    pub names: Vec<String>,
    /// First moment of its lifetime.
    pub not_before: Timestamp,
    /// Last moment of its lifetime.
    pub not_after: Timestamp,
    /// Whole days until the end, negative after it.
    pub days_left: i64,
    /// How pressing a renewal is.
    pub urgency: Urgency,
}

impl Facts {
    /// What the first certificate of a PEM file says, wherever that file comes from; `None` if it has none to read.
    pub fn read(pem: &[u8], now: Timestamp) -> Option<Self> {
        Certificate::from_pem(pem).ok().map(|certificate| Self::of(&certificate, now))
    }

    fn of(certificate: &Certificate, now: Timestamp) -> Self {
        let lifetime = certificate.lifetime;
        Self {
            subject: certificate.subject.clone(),
            issuer: certificate.issuer.clone(),
            names: certificate.names.iter().map(show_san).collect(),
            not_before: timestamp(lifetime.not_before),
            not_after: timestamp(lifetime.not_after),
            days_left: lifetime.days_left(now),
            urgency: lifetime.urgency(now),
        }
    }
}

/// Everything in the table, whether it is there or not, in the order of the table.
pub fn inventory(existing: &Existing, now: Timestamp) -> Vec<Entry> {
    let cas = CAS.iter().map(|row| ca(row, existing, now));
    let leaves = LEAVES.iter().map(|row| leaf(row, existing, now));
    cas.chain([service_account(existing)]).chain(leaves).collect()
}

fn ca(row: &CaRow, existing: &Existing, now: Timestamp) -> Entry {
    let key = existing.parse(&row.key(), key::from_pem);
    let trusted = existing.parse(&row.certificate(), Certificate::all_from_pem);
    let state = match (&trusted, &key) {
        (Ok(None), _) => State::Missing,
        (Err(_), _) | (_, Err(_)) => State::Unreadable,
        (Ok(Some(_)), Ok(None)) => State::External,
        (Ok(Some(trusted)), Ok(Some(key))) if trusted.iter().any(|one| key::belongs_to(key, one)) => State::Ok,
        (Ok(Some(_)), Ok(Some(_))) => State::KeyMismatch,
    };
    let certificate = trusted.ok().flatten().and_then(|trusted| Some(Facts::of(trusted.first()?, now)));
    let path = existing.path(&row.certificate());
    Entry { name: row.name, kind: EntryKind::Ca, path, state, ca: None, certificate }
}

fn service_account(existing: &Existing) -> Entry {
    let key = existing.parse(SERVICE_ACCOUNT.key, key::from_pem);
    let publics = existing.parse(SERVICE_ACCOUNT.public, key::publics_from_pem);
    let state = match (key, publics) {
        (Err(_), _) | (_, Err(_)) => State::Unreadable,
        (Ok(None), Ok(Some(_))) => State::NoKey,
        (Ok(_), Ok(None)) => State::Missing,
        (Ok(Some(key)), Ok(Some(publics))) if publics.iter().any(|one| key.public_key_raw() == one) => State::Ok,
        (Ok(Some(_)), Ok(Some(_))) => State::KeyMismatch,
    };
    let path = existing.path(SERVICE_ACCOUNT.public);
    Entry { name: SERVICE_ACCOUNT.name, kind: EntryKind::Key, path, state, ca: None, certificate: None }
}

fn leaf(row: &Leaf, existing: &Existing, now: Timestamp) -> Entry {
    let kind = match row.kept {
        Kept::Pair { .. } => EntryKind::Certificate,
        Kept::Kubeconfig { .. } => EntryKind::Kubeconfig,
    };
    let found = leaf::find(row, existing);
    let state = leaf_state(row, &found, existing);
    let certificate = match found {
        Ok(Stored::Held(held)) => Some(Facts::of(&held.certificate, now)),
        _ => None,
    };
    let path = existing.path(&row.certificate());
    Entry { name: row.name, kind, path, state, ca: Some(row.ca.name), certificate }
}

fn leaf_state(row: &Leaf, found: &Result<Stored, PkiError>, existing: &Existing) -> State {
    let held = match found {
        Err(_) => return State::Unreadable,
        Ok(Stored::Nothing) => return State::Missing,
        Ok(Stored::Elsewhere) => return State::Elsewhere,
        Ok(Stored::Held(held)) => held,
    };
    let trusted = existing.parse(&row.ca.certificate(), Certificate::all_from_pem);
    // Without its CA, the signature cannot be evaluated; the CA has a line of its own.
    let is_ours = |trusted: &[Certificate]| trusted.iter().any(|ca| held.certificate.is_signed_by(ca));
    let foreign = matches!(trusted, Ok(Some(trusted)) if !is_ours(&trusted));
    match &held.key {
        _ if foreign => State::Foreign,
        None => State::NoKey,
        Some(key) if !key::belongs_to(key, &held.certificate) => State::KeyMismatch,
        Some(_) => State::Ok,
    }
}
