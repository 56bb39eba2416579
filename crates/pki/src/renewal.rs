//! Renewal: new keys and certificates for leaves that are still good, before they end.
//!
//! CAs and the service account key are never touched; replacing them is rotation, which changes what the whole
//! cluster trusts. Certificates of a CA whose key is elsewhere, and those the kubelet keeps itself, are passed
//! over unless asked for by name.

use explain::did_you_mean;
use host::Change;
use jiff::Timestamp;

use crate::{
    Input, PkiError, PkiErrors, Reason,
    ca::{self, Ca, CaState},
    existing::Existing,
    leaf::{self, Stored},
    lifetime::{Urgency, check_clock},
    table::{CAS, CaRow, LEAVES, Leaf, SERVICE_ACCOUNT},
};

/// Which certificates to renew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which<'a> {
    /// Every one that can be made here.
    All,
    /// Those that have spent two thirds of their lifetime, or whose lifetime has not begun: the clock was wrong when they
    /// were made.
    Due,
    /// The one of this name, in whatever state it is.
    One(&'a str),
}

/// The changes that renew, or everything that stands in the way.
pub fn renewal(existing: &Existing, input: &Input, now: Timestamp, which: Which<'_>) -> Result<Vec<Change>, PkiErrors> {
    check_clock(now)?;
    let candidates = candidates(which)?;
    let mut changes = Vec::new();
    let mut problems = Vec::new();
    for row in CAS {
        let signed = candidates.iter().filter(|leaf| leaf.ca.name == row.name);
        let wanted: Vec<&&Leaf> = signed.filter(|leaf| is_wanted(leaf, existing, now, which)).collect();
        if wanted.is_empty() {
            continue;
        }
        let ca = match signer(row, existing, input, now) {
            Ok(ca) => ca,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        for leaf in wanted.into_iter().filter(|leaf| is_ours(leaf, existing, &ca, which)) {
            match leaf::make(leaf, Reason::Asked, existing, input, &ca, now) {
                Ok(needed) => changes.extend(needed),
                Err(problem) => problems.push(problem),
            }
        }
    }
    PkiErrors::unless_empty(problems)?;
    Ok(changes)
}

fn candidates(which: Which<'_>) -> Result<Vec<&'static Leaf>, PkiError> {
    let Which::One(name) = which else { return Ok(LEAVES.iter().collect()) };
    if let Some(leaf) = LEAVES.iter().find(|leaf| leaf.name == name) {
        return Ok(vec![leaf]);
    }
    if name == SERVICE_ACCOUNT.name || CAS.iter().any(|row| row.name == name) {
        return Err(PkiError::NotRenewable { name: name.to_owned() });
    }
    let known: Vec<&'static str> = LEAVES.iter().map(|leaf| leaf.name).collect();
    let begun = || known.iter().copied().find(|known| known.starts_with(name) && !name.is_empty());
    let meant = did_you_mean(name, known.iter().copied()).or_else(begun);
    Err(PkiError::UnknownName { name: name.to_owned(), meant, known })
}

fn is_wanted(leaf: &Leaf, existing: &Existing, now: Timestamp, which: Which<'_>) -> bool {
    match (which, leaf::find(leaf, existing)) {
        (Which::One(_), _) => true,
        (Which::All, found) => !matches!(found, Ok(Stored::Elsewhere)),
        (Which::Due, Ok(Stored::Held(held))) => {
            let lifetime = held.certificate.lifetime;
            lifetime.urgency(now) >= Urgency::Soon || !lifetime.has_begun(now)
        }
        // Missing or broken is not due: `plan` deals with it, and it must not keep the others from renewal.
        (Which::Due, _) => false,
    }
}

fn is_ours(leaf: &Leaf, existing: &Existing, ca: &Ca, which: Which<'_>) -> bool {
    match (which, leaf::find(leaf, existing)) {
        (Which::One(_), _) => true,
        (Which::Due, Ok(Stored::Held(held))) if !held.certificate.is_signed_by(&ca.certificate) => false,
        (Which::All | Which::Due, _) => ca.issuer.is_some(),
    }
}

fn signer(row: &CaRow, existing: &Existing, input: &Input, now: Timestamp) -> Result<Ca, PkiError> {
    match ca::find(row, existing, &input.cluster, now)? {
        CaState::Whole(ca) => Ok(*ca),
        CaState::KeyAlone(_) | CaState::Absent => {
            Err(PkiError::MayNotMake { missing: vec![existing.path(&row.certificate())] })
        }
    }
}
