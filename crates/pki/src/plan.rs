//! What has to be written for the PKI of this node to be complete. Nothing, if it is.
//!
//! Keys are random, so planning makes them: planning twice before anything is written gives two different plans, and
//! planning after the changes were made gives an empty one. Any first part of the changes is a good state to crash in:
//! a CA's key, its certificate, and only then what it signs; of every pair the key first.

use std::collections::BTreeMap;

use host::Change;
use jiff::Timestamp;

use crate::{
    Input, PkiError, PkiErrors, Shared,
    ca::{self, Ca},
    evaluate,
    existing::Existing,
    leaf,
    lifetime::check_clock,
    service_account,
    table::{CAS, CLUSTER, LEAVES, Leaf},
    write,
};

/// The changes that complete the PKI, or everything that stands in the way.
pub fn plan(existing: &Existing, input: &Input, now: Timestamp) -> Result<Vec<Change>, PkiErrors> {
    check_clock(now)?;
    let mut changes = write::directories(existing);
    let mut problems = Vec::new();
    let cas = complete_shared(existing, &input.cluster, input.shared, now, &mut changes, &mut problems);
    changes.extend(cas.get(CLUSTER.name).and_then(|cluster| ca::controller_manager_signer(existing, cluster)));
    for leaf in LEAVES {
        match complete_leaf(leaf, existing, input, &cas, now) {
            Ok(needed) => changes.extend(needed),
            Err(problem) => problems.push(problem),
        }
    }

    finish(existing, changes, problems)
}

/// The changes that complete what all masters of a cluster share, and nothing else: the CAs and the service
/// account key. They are made before there is a machine, where the nodes' directories are sealed.
pub fn plan_shared(existing: &Existing, cluster: &str, now: Timestamp) -> Result<Vec<Change>, PkiErrors> {
    check_clock(now)?;
    let mut changes = write::directories(existing);
    let mut problems = Vec::new();
    complete_shared(existing, cluster, Shared::Make, now, &mut changes, &mut problems);
    finish(existing, changes, problems)
}

/// Collects what is needed and what is wrong; returns the CAs that are, or will be, whole.
fn complete_shared(
    existing: &Existing,
    cluster: &str,
    shared: Shared,
    now: Timestamp,
    changes: &mut Vec<Change>,
    problems: &mut Vec<PkiError>,
) -> BTreeMap<&'static str, Ca> {
    let mut cas = BTreeMap::new();
    for row in CAS {
        match ca::complete(row, existing, cluster, shared, now) {
            Ok((ca, needed)) => {
                changes.extend(needed);
                cas.insert(row.name, ca);
            }
            Err(problem) => problems.push(problem),
        }
    }
    match service_account::complete(existing, shared) {
        Ok(needed) => changes.extend(needed),
        Err(problem) => problems.push(problem),
    }
    cas
}

fn finish(existing: &Existing, mut changes: Vec<Change>, problems: Vec<PkiError>) -> Result<Vec<Change>, PkiErrors> {
    PkiErrors::unless_empty(problems)?;
    let modes = write::modes(existing, &changes);
    changes.extend(modes);
    Ok(changes)
}

fn complete_leaf(
    leaf: &Leaf,
    existing: &Existing,
    input: &Input,
    cas: &BTreeMap<&str, Ca>,
    now: Timestamp,
) -> Result<Vec<Change>, PkiError> {
    let stored = leaf::find(leaf, existing)?;
    // The problem with the CA has been reported; what it signed cannot be evaluated.
    let Some(ca) = cas.get(leaf.ca.name) else { return Ok(Vec::new()) };
    match evaluate::evaluate(leaf, &stored, existing, input, ca, now)? {
        Some(reason) => leaf::make(leaf, reason, existing, input, ca, now),
        None => Ok(Vec::new()),
    }
}
