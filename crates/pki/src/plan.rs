//! What has to be written for the PKI of this node to be complete. Nothing, if it is.
//!
//! Keys are random, so planning makes them: planning twice before anything is written gives two different plans, and
//! planning after the changes were made gives an empty one. Any first part of the changes is a good state to crash in:
//! an authority's key, its certificate, and only then what it signs; of every pair the key first.

use std::collections::BTreeMap;

use host::Change;
use jiff::Timestamp;

use crate::{
    Input, PkiError, PkiErrors, Shared, authority,
    authority::Authority,
    existing::Existing,
    judge, leaf,
    lifetime::check_clock,
    service_account,
    table::{AUTHORITIES, CLUSTER, LEAVES, Leaf},
    write,
};

/// The changes that complete the PKI, or everything that stands in the way.
pub fn plan(existing: &Existing, input: &Input, now: Timestamp) -> Result<Vec<Change>, PkiErrors> {
    check_clock(now)?;
    let mut changes = write::directories(existing);
    let mut problems = Vec::new();
    let authorities = settle_shared(existing, &input.cluster, input.shared, now, &mut changes, &mut problems);
    changes.extend(authorities.get(CLUSTER.name).and_then(|cluster| write::signer(existing, cluster)));
    for leaf in LEAVES {
        match settle(leaf, existing, input, &authorities, now) {
            Ok(needed) => changes.extend(needed),
            Err(problem) => problems.push(problem),
        }
    }

    finish(existing, changes, problems)
}

/// The changes that complete what all masters of a cluster share, and nothing else: the authorities and the service
/// account key. They are made before there is a machine, where the nodes' directories are sealed.
pub fn plan_shared(existing: &Existing, cluster: &str, now: Timestamp) -> Result<Vec<Change>, PkiErrors> {
    check_clock(now)?;
    let mut changes = write::directories(existing);
    let mut problems = Vec::new();
    settle_shared(existing, cluster, Shared::Make, now, &mut changes, &mut problems);
    finish(existing, changes, problems)
}

/// Collects what is needed and what is wrong; returns the authorities that are, or will be, whole.
fn settle_shared(
    existing: &Existing,
    cluster: &str,
    shared: Shared,
    now: Timestamp,
    changes: &mut Vec<Change>,
    problems: &mut Vec<PkiError>,
) -> BTreeMap<&'static str, Authority> {
    let mut authorities = BTreeMap::new();
    for row in AUTHORITIES {
        match authority::settle(row, existing, cluster, shared, now) {
            Ok((authority, needed)) => {
                changes.extend(needed);
                authorities.insert(row.name, authority);
            }
            Err(problem) => problems.push(problem),
        }
    }
    match service_account::settle(existing, shared) {
        Ok(needed) => changes.extend(needed),
        Err(problem) => problems.push(problem),
    }
    authorities
}

fn finish(existing: &Existing, mut changes: Vec<Change>, problems: Vec<PkiError>) -> Result<Vec<Change>, PkiErrors> {
    PkiErrors::unless_empty(problems)?;
    let modes = write::modes(existing, &changes);
    changes.extend(modes);
    Ok(changes)
}

fn settle(
    leaf: &Leaf,
    existing: &Existing,
    input: &Input,
    authorities: &BTreeMap<&str, Authority>,
    now: Timestamp,
) -> Result<Vec<Change>, PkiError> {
    let holding = leaf::find(leaf, existing)?;
    // The problem with the authority has been told; nothing can be said of what it signed.
    let Some(authority) = authorities.get(leaf.authority.name) else { return Ok(Vec::new()) };
    match judge::judge(leaf, &holding, existing, input, authority, now)? {
        Some(reason) => leaf::make(leaf, reason, existing, input, authority, now),
        None => Ok(Vec::new()),
    }
}
