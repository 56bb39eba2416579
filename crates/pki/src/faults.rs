//! What is wrong with certificates and kubeconfigs, for a diagnosis.
//!
//! Unlike [`crate::plan`] it makes nothing and refuses nothing, and unlike [`crate::inventory`] it reports only what is wrong.
//! [`faults`] goes through the table on a master. Files that are in no table, such as those a worker was handed when it
//! joined, are looked at one by one with [`kubeconfig_flaw`] and [`certificate_flaw`].

use std::path::PathBuf;

use jiff::Timestamp;
use rcgen::KeyPair;

use crate::{
    Input, PkiError, Urgency,
    certificate::{Certificate, show_san},
    existing::Existing,
    key,
    kubeconfig::{self, Identity},
    leaf::{self, Stored},
    lifetime::{Lifetime, timestamp},
    table::{CAS, CLUSTER, CaRow, Kept, LEAVES, Leaf},
};

/// A file of the PKI with which something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The name by which `pki renew` knows it.
    pub name: &'static str,
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub flaw: Flaw,
}

/// What can be wrong with a certificate or kubeconfig.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// It is not there.
    Missing,
    /// It is there, and cannot be read.
    Unreadable {
        /// Reads behind the path: "it holds no PEM certificate".
        why: &'static str,
    },
    /// The key beside it belongs to something else, or is missing.
    KeyMismatch,
    /// Another CA signed it than the one it is used with.
    Foreign {
        /// Who says that they signed it.
        issuer: String,
    },
    /// A CA that signed nothing of what it should have signed: it is the one that was exchanged.
    Exchanged,
    /// Its time has not come.
    NotYetValid {
        /// When it comes.
        start: Timestamp,
    },
    /// Its time is over.
    Expired {
        /// Since when.
        end: Timestamp,
    },
    /// Nine tenths of its time are over: it should have been renewed long ago.
    EndsSoon {
        /// When it is over.
        end: Timestamp,
    },
    /// It lacks names or addresses under which it is used.
    Names {
        /// Those that it lacks.
        lacks: Vec<String>,
        /// Those that it has.
        has: Vec<String>,
    },
    /// It is made out to another name, or not good for its use.
    Subject {
        /// To whom.
        subject: String,
    },
    /// A kubeconfig that leads to another server.
    OtherServer {
        /// Where it leads.
        server: String,
        /// Where it must lead.
        expected: String,
    },
    /// A kubeconfig that trusts another CA than the cluster's.
    OtherCa,
}

/// Everything that is wrong on a master, in the order of the table.
pub fn faults(existing: &Existing, input: &Input, now: Timestamp) -> Vec<Fault> {
    CAS.iter().flat_map(|row| below(row, existing, input, now)).collect()
}

/// What is wrong with a kubeconfig that proves itself with a certificate of this CA and leads to this server.
/// One whose certificate is kept in another file is looked at only for what it says itself.
pub fn kubeconfig_flaw(bytes: &[u8], ca_pem: &[u8], server: &str, now: Timestamp) -> Option<Flaw> {
    let file = match kubeconfig::parse(bytes) {
        Ok(file) => file,
        Err(why) => return Some(Flaw::Unreadable { why }),
    };
    let trusted = Certificate::all_from_pem(ca_pem).unwrap_or_default();
    let own = match &file.identity {
        Identity::Embedded(certificate, key) => trust_flaw(certificate, Some(key), &trusted),
        Identity::Files => None,
    };
    let astray = || {
        if file.server != server {
            return Some(Flaw::OtherServer { server: file.server.clone(), expected: server.to_owned() });
        }
        (!trusted.is_empty() && file.ca_pem != ca_pem).then_some(Flaw::OtherCa)
    };
    let aged = || match &file.identity {
        Identity::Embedded(certificate, _) => age(certificate.lifetime, now),
        Identity::Files => None,
    };
    own.or_else(astray).or_else(aged)
}

/// What is wrong with a file that holds a certificate of this CA and its key, as the kubelet keeps its own.
pub fn certificate_flaw(bytes: &[u8], ca_pem: &[u8], now: Timestamp) -> Option<Flaw> {
    let (certificate, key) = match (Certificate::from_pem(bytes), key::from_pem(bytes)) {
        (Ok(certificate), Ok(key)) => (certificate, key),
        (Err(why), _) | (_, Err(why)) => return Some(Flaw::Unreadable { why }),
    };
    let trusted = Certificate::all_from_pem(ca_pem).unwrap_or_default();
    trust_flaw(&certificate, Some(&key), &trusted).or_else(|| age(certificate.lifetime, now))
}

/// A CA and what it signs. Where all of that was signed by another CA, it is the CA that is wrong.
fn below(row: &CaRow, existing: &Existing, input: &Input, now: Timestamp) -> Vec<Fault> {
    let ca = existing.parse(&row.certificate(), Certificate::all_from_pem);
    let own = ca_flaw(row, &ca, existing, now);
    // A signature by a CA that is not right itself cannot be evaluated.
    let trusted = ca.ok().flatten().filter(|_| !matches!(own, Some(Flaw::KeyMismatch))).unwrap_or_default();
    let leaves = || LEAVES.iter().filter(|leaf| leaf.ca.name == row.name);
    let mut found: Vec<Fault> = leaves()
        .filter_map(|leaf| {
            let flaw = leaf_flaw(leaf, &trusted, existing, input, now)?;
            Some(Fault { name: leaf.name, path: existing.path(&leaf.certificate()), flaw })
        })
        .collect();
    let foreign = |fault: &Fault| matches!(fault.flaw, Flaw::Foreign { .. });
    let held = leaves().filter(|leaf| matches!(leaf::find(leaf, existing), Ok(Stored::Held(_)))).count();
    let is_exchanged = held > 1 && found.iter().filter(|fault| foreign(fault)).count() == held;
    let own = own.or_else(|| is_exchanged.then_some(Flaw::Exchanged));
    if own.is_some() {
        found.retain(|fault| !foreign(fault) && fault.flaw != Flaw::OtherCa);
    }
    let own = own.map(|flaw| Fault { name: row.name, path: existing.path(&row.certificate()), flaw });
    own.into_iter().chain(found).collect()
}

fn ca_flaw(
    row: &CaRow,
    trusted: &Result<Option<Vec<Certificate>>, PkiError>,
    existing: &Existing,
    now: Timestamp,
) -> Option<Flaw> {
    let trusted = match trusted {
        Ok(Some(trusted)) => trusted,
        Ok(None) => return Some(Flaw::Missing),
        Err(error) => return Some(unreadable(error)),
    };
    match existing.parse(&row.key(), key::from_pem) {
        Err(error) => Some(unreadable(&error)),
        Ok(Some(key)) if !trusted.iter().any(|one| key::belongs_to(&key, one)) => Some(Flaw::KeyMismatch),
        // A CA whose key is elsewhere is as good as any.
        Ok(_) => trusted.iter().find_map(|one| age(one.lifetime, now)),
    }
}

fn leaf_flaw(leaf: &Leaf, cas: &[Certificate], existing: &Existing, input: &Input, now: Timestamp) -> Option<Flaw> {
    let held = match leaf::find(leaf, existing) {
        Err(error) => return Some(unreadable(&error)),
        Ok(Stored::Nothing) => return Some(Flaw::Missing),
        Ok(Stored::Elsewhere) => return None,
        Ok(Stored::Held(held)) => held,
    };
    let certificate = &held.certificate;
    let trusted = || trust_flaw(certificate, held.key.as_ref(), cas);
    let names = || {
        let missing: Vec<String> = input.names(leaf.names).difference(&certificate.names).map(show_san).collect();
        let has = certificate.names.iter().map(show_san).collect();
        (!missing.is_empty()).then_some(Flaw::Names { lacks: missing, has })
    };
    let subject = || {
        let is_right = certificate.common_name.as_deref() == Some(&leaf.common_name(&input.node))
            && certificate.organizations.iter().map(String::as_str).eq(leaf.organization)
            && certificate.is_good_for(leaf.usage);
        (!is_right).then(|| Flaw::Subject { subject: certificate.subject.clone() })
    };
    let astray = || {
        let (Kept::Kubeconfig { server, .. }, Some(connection)) = (leaf.kept, &held.connection) else { return None };
        let expected = input.server_url(server);
        if connection.server != expected {
            return Some(Flaw::OtherServer { server: connection.server.clone(), expected });
        }
        let trusts_another = existing.bytes(&CLUSTER.certificate()).is_some_and(|pem| pem != connection.ca_pem);
        trusts_another.then_some(Flaw::OtherCa)
    };
    trusted().or_else(|| age(certificate.lifetime, now)).or_else(names).or_else(subject).or_else(astray)
}

/// Whether a certificate, its key and one of the CAs belong together. Where none is known, any would do.
fn trust_flaw(certificate: &Certificate, key: Option<&KeyPair>, cas: &[Certificate]) -> Option<Flaw> {
    if !cas.is_empty() && !cas.iter().any(|ca| certificate.is_signed_by(ca)) {
        return Some(Flaw::Foreign { issuer: certificate.issuer.clone() });
    }
    (!key.is_some_and(|key| key::belongs_to(key, certificate))).then_some(Flaw::KeyMismatch)
}

fn age(lifetime: Lifetime, now: Timestamp) -> Option<Flaw> {
    let (start, end) = (timestamp(lifetime.not_before), timestamp(lifetime.not_after));
    match lifetime.urgency(now) {
        _ if !lifetime.has_begun(now) => Some(Flaw::NotYetValid { start }),
        Urgency::Expired => Some(Flaw::Expired { end }),
        Urgency::Urgent => Some(Flaw::EndsSoon { end }),
        Urgency::Soon | Urgency::Ok => None,
    }
}

fn unreadable(error: &PkiError) -> Flaw {
    let why = match error {
        PkiError::Unreadable { why, .. } => why,
        _ => "it cannot be used",
    };
    Flaw::Unreadable { why }
}
