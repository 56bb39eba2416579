//! Rotation: from the present CAs and service account key to their successors, in stages that the whole cluster takes together.
//!
//! | stage | `ca.crt`, `sa.pub` | `ca.key`, `sa.key` | what it comes to |
//! |---|---|---|---|
//! | | old | old | |
//! | trust | old, new | old | everybody believes both, and shows what the old one signed |
//! | sign  | new, old | new | everybody believes both, and shows what the new one signed |
//! | drop  | new      | new | the old one is trusted nowhere any more |
//!
//! The one that the key beside it belongs to signs, and is first in the file as soon as a stage is complete: so every other
//! part of this crate works at each stage as it does at any other time. The stage is nowhere written down on a machine; its
//! files show it. A crash at any point is followed by another plan, which goes on from what is there.

use std::collections::BTreeMap;

use host::Change;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    Input, PkiError, PkiErrors, Shared,
    ca::{self, Ca, CaState},
    certificate::Certificate,
    evaluate,
    existing::Existing,
    issue, key, leaf,
    lifetime::check_clock,
    pem,
    table::{CAS, CLUSTER, CaRow, LEAVES, Leaf, SERVICE_ACCOUNT},
    write,
};

/// How far a rotation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Both are believed, the old one signs.
    Trust,
    /// Both are believed, the new one signs.
    Sign,
    /// Only the new one is believed.
    Drop,
}

impl Stage {
    /// In their order.
    pub const ALL: [Self; 3] = [Self::Trust, Self::Sign, Self::Drop];

    /// As people and files name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trust => "trust",
            Self::Sign => "sign",
            Self::Drop => "drop",
        }
    }

    /// What is believed at this stage, the one that is in use first. Every kind of key goes this way.
    pub fn ordered<T: PartialEq>(self, present: Vec<T>, new: Vec<T>) -> Vec<T> {
        let old: Vec<T> = present.into_iter().filter(|one| !new.contains(one)).collect();
        match self {
            Self::Trust => old.into_iter().chain(new).collect(),
            Self::Sign => new.into_iter().chain(old).collect(),
            Self::Drop => new,
        }
    }
}

/// What takes the place of present CAs and keys. Empty for what is not rotated. Cannot be printed.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Successors {
    /// PEM by path below the root.
    files: BTreeMap<String, String>,
}

impl Successors {
    /// For every CA of the table.
    pub fn of_cas(cluster: &str, now: Timestamp) -> Result<Self, PkiErrors> {
        check_clock(now)?;
        let mut files = BTreeMap::new();
        for row in CAS {
            let failed = |source| PkiError::Issue { path: row.certificate().into(), source };
            let key = key::generate().map_err(|error| failed(error.into()))?;
            files.insert(row.certificate(), issue::ca(row, cluster, &key, now).map_err(failed)?);
            files.insert(row.key(), key.serialize_pem());
        }
        Ok(Self { files })
    }

    /// With a new key that signs service account tokens.
    pub fn with_service_account(mut self) -> Result<Self, PkiErrors> {
        let failed = |error: rcgen::Error| PkiError::Issue { path: SERVICE_ACCOUNT.key.into(), source: error.into() };
        let key = key::generate().map_err(failed)?;
        self.files.insert(SERVICE_ACCOUNT.key.to_owned(), key.serialize_pem());
        self.files.insert(SERVICE_ACCOUNT.public.to_owned(), key.public_key_pem());
        Ok(self)
    }

    /// The certificate of the cluster's CA to be, PEM.
    pub fn cluster(&self) -> &str {
        self.of(&CLUSTER.certificate())
    }

    fn of(&self, name: &str) -> &str {
        self.files.get(name).map_or("", String::as_str)
    }
}

/// The changes that bring a master to a stage; nothing, if it is there. What only some CAs have reached is
/// completed, so it does not matter where the last attempt ended.
pub fn rotation(
    existing: &Existing,
    input: &Input,
    successors: &Successors,
    stage: Stage,
    now: Timestamp,
) -> Result<Vec<Change>, PkiErrors> {
    check_clock(now)?;
    let mut changes = Vec::new();
    for row in CAS {
        changes.extend(at_stage(existing, successors, stage, [&row.certificate(), &row.key()], pem::CERTIFICATE));
    }
    let service_account = [SERVICE_ACCOUNT.public, SERVICE_ACCOUNT.key];
    changes.extend(at_stage(existing, successors, stage, service_account, pem::PUBLIC_KEY));
    // As if they were written: leaves are evaluated by the CAs that they will have.
    let after = existing.after(&changes);
    let mut problems = Vec::new();
    let mut cas = BTreeMap::new();
    for row in CAS {
        match whole(row, &after, &input.cluster, now) {
            Ok(ca) => {
                // What is no longer trusted is still known here: a master that was off at an earlier stage has leaves of it.
                let others = existing.parse(&row.certificate(), Certificate::all_from_pem)?.unwrap_or_default();
                let is_other = |other: &Certificate| other.der() != ca.certificate.der();
                let others = others.into_iter().filter(is_other).collect();
                cas.insert(row.name, Ca { others, ..ca });
            }
            Err(problem) => problems.push(problem),
        }
    }
    changes.extend(cas.get(CLUSTER.name).and_then(|cluster| ca::controller_manager_signer(&after, cluster)));
    for leaf in LEAVES {
        let Some(ca) = cas.get(leaf.ca.name) else { continue };
        match complete_leaf(leaf, &after, input, ca, now) {
            Ok(needed) => changes.extend(needed),
            Err(problem) => problems.push(problem),
        }
    }
    PkiErrors::unless_empty(problems)?;
    Ok(changes)
}

/// Refuses a rotation that could not be finished: a CA whose key is not here signs nothing for its successor's
/// time, and its owner decides about it.
pub fn check_rotatable(existing: &Existing, cluster: &str, now: Timestamp) -> Result<(), PkiErrors> {
    let problem = |row: &&'static CaRow| match whole(row, existing, cluster, now) {
        Ok(Ca { issuer: Some(_), .. }) => None,
        Ok(_) => Some(PkiError::NoKey { key: existing.path(&row.key()) }),
        Err(problem) => Some(problem),
    };
    PkiErrors::unless_empty(CAS.iter().filter_map(problem).collect())
}

/// True if the first of the trusted CAs, the one that signs, has signed this certificate.
pub fn is_of_signer(certificate_pem: &[u8], trusted_pem: &[u8]) -> bool {
    match (Certificate::from_pem(certificate_pem), Certificate::from_pem(trusted_pem)) {
        (Ok(certificate), Ok(signer)) => certificate.is_signed_by(&signer),
        _ => false,
    }
}

/// The changes to what is believed and to the key that is used, in the order in which a crash between them does no harm:
/// which of those trusted is in use is known by the key. Nothing without a successor.
fn at_stage(
    existing: &Existing,
    successors: &Successors,
    stage: Stage,
    [believed, key]: [&str; 2],
    label: &str,
) -> Vec<Change> {
    let Some(successor) = successors.files.get(believed) else { return Vec::new() };
    let present = |name: &str| String::from_utf8_lossy(existing.bytes(name).unwrap_or_default()).into_owned();
    let mut changes = Vec::new();
    let wanted = successors.of(key);
    if stage >= Stage::Sign && present(key) != wanted {
        changes.push(write::secret(existing.path(key), wanted.to_owned()));
    }
    let known = present(believed);
    let wanted = stage.ordered(pem::texts(&known, label), pem::texts(successor, label)).concat();
    if known != wanted {
        changes.push(write::public(existing.path(believed), wanted));
    }
    changes
}

fn whole(row: &CaRow, existing: &Existing, cluster: &str, now: Timestamp) -> Result<Ca, PkiError> {
    match ca::find(row, existing, cluster, now)? {
        CaState::Whole(ca) => Ok(*ca),
        CaState::KeyAlone(_) | CaState::Absent => {
            Err(PkiError::MayNotMake { missing: vec![existing.path(&row.certificate())] })
        }
    }
}

fn complete_leaf(
    leaf: &Leaf,
    existing: &Existing,
    input: &Input,
    ca: &Ca,
    now: Timestamp,
) -> Result<Vec<Change>, PkiError> {
    let input = Input { shared: Shared::Bring, ..input.clone() };
    let stored = leaf::find(leaf, existing)?;
    let Some(reason) = evaluate::evaluate(leaf, &stored, existing, &input, ca, now)? else { return Ok(Vec::new()) };
    leaf::make(leaf, reason, existing, &input, ca, now)
}
