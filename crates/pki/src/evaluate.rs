//! Whether a leaf certificate can stay. Pure; the one place that knows what makes a certificate unfit.
//!
//! A certificate signed by another CA is refused and never replaced on our own account. Everything else that is
//! wrong with a leaf is a [`Reason`] to make it again, which is safe because its CA's key is the one that counts.

use jiff::Timestamp;

use crate::{
    Input, PkiError,
    ca::Ca,
    existing::Existing,
    key,
    leaf::{Connection, Held, Stored},
    lifetime::Urgency,
    reason::Reason,
    table::{Kept, Leaf},
};

/// `None` if the certificate can stay.
pub(crate) fn evaluate(
    leaf: &Leaf,
    stored: &Stored,
    existing: &Existing,
    input: &Input,
    ca: &Ca,
    now: Timestamp,
) -> Result<Option<Reason>, PkiError> {
    let held = match stored {
        Stored::Nothing => return Ok(Some(Reason::Missing)),
        Stored::Elsewhere => return Ok(None),
        Stored::Held(held) => held,
    };
    if ca.others.iter().any(|other| held.certificate.is_signed_by(other)) {
        return Ok(Some(Reason::Replaced));
    }
    if !held.certificate.is_signed_by(&ca.certificate) {
        return Err(PkiError::NotSigned {
            path: existing.path(&leaf.certificate()),
            ca: ca.certificate_path.clone(),
            issuer: held.certificate.issuer.clone(),
        });
    }
    Ok(drift(leaf, held, input, ca).or_else(|| age(held, ca, now)))
}

/// What does not agree with the table and the cluster.
fn drift(leaf: &Leaf, held: &Held, input: &Input, ca: &Ca) -> Option<Reason> {
    let certificate = &held.certificate;
    let wanted = input.names(leaf.names);
    let names_fit = match ca.issuer {
        Some(_) => certificate.names == wanted,
        // An external issuer may add names of its own.
        None => certificate.names.is_superset(&wanted),
    };
    if !held.key.as_ref().is_some_and(|key| key::belongs_to(key, certificate)) {
        Some(Reason::KeyMismatch)
    } else if certificate.common_name.as_deref() != Some(&leaf.common_name(&input.node))
        || !certificate.organizations.iter().map(String::as_str).eq(leaf.organization)
    {
        Some(Reason::Subject)
    } else if certificate.is_ca || !certificate.is_good_for(leaf.usage) {
        Some(Reason::Usage)
    } else if !names_fit {
        Some(Reason::Names)
    } else if !held.connection.as_ref().is_none_or(|connection| leads_home(connection, leaf, input, ca)) {
        Some(Reason::Connection)
    } else {
        None
    }
}

fn leads_home(connection: &Connection, leaf: &Leaf, input: &Input, ca: &Ca) -> bool {
    let server = match leaf.kept {
        Kept::Kubeconfig { server, .. } => Some(input.server_url(server)),
        Kept::Pair { .. } => None,
    };
    server.as_ref() == Some(&connection.server) && connection.ca_pem == ca.pem
}

fn age(held: &Held, ca: &Ca, now: Timestamp) -> Option<Reason> {
    let lifetime = held.certificate.lifetime;
    match lifetime.urgency(now) {
        _ if !lifetime.has_begun(now) => Some(Reason::NotYetValid),
        Urgency::Expired => Some(Reason::Expired),
        // Still valid: the holder of an external CA's key has time until the end.
        Urgency::Urgent if ca.issuer.is_some() => Some(Reason::EndsSoon),
        Urgency::Urgent | Urgency::Soon | Urgency::Ok => None,
    }
}
