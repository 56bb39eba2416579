//! Signing for other machines with the cluster's authority.

use std::collections::BTreeSet;

use jiff::Timestamp;
use rcgen::{Issuer, KeyPair};
use secrecy::SecretString;
use spec::San;

use crate::{
    Existing, PkiError, PkiErrors, Request,
    authority::{self, Standing},
    certificate::Certificate,
    certificate_flaw, issue,
    lifetime::check_clock,
    table::CLUSTER,
};

/// Who a client certificate is made out to: user and group, as Kubernetes reads them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The user.
    pub common_name: String,
    /// The group.
    pub organization: Option<String>,
}

/// The cluster's authority with its key, checked like everywhere else.
pub struct Signer {
    certificate: Certificate,
    pem: Vec<u8>,
    path: std::path::PathBuf,
    issuer: Issuer<'static, KeyPair>,
}

impl Signer {
    /// From what is on this master.
    pub fn new(existing: &Existing, cluster: &str, now: Timestamp) -> Result<Self, PkiErrors> {
        let missing = || PkiError::NoKey { key: existing.path(&CLUSTER.key()) };
        let Standing::Whole(authority) = authority::find(&CLUSTER, existing, cluster, now)? else {
            return Err(missing().into());
        };
        let issuer = authority.issuer.ok_or_else(missing)?;
        Ok(Self { certificate: authority.certificate, pem: authority.pem, path: authority.certificate_path, issuer })
    }

    /// The authority's certificate, PEM.
    pub fn authority_pem(&self) -> &[u8] {
        &self.pem
    }

    /// A client certificate for the key of the request, made out to `subject`. Whatever else the request asks for is
    /// not in it. It lasts `days`, or as long as the authority if that is shorter.
    pub fn client_certificate(
        &self,
        request: &Request,
        subject: &Subject,
        days: i64,
        now: Timestamp,
    ) -> Result<String, PkiErrors> {
        check_clock(now)?;
        issue::client(subject, &request.public_key_info, &self.certificate, &self.issuer, days, now)
            .map_err(|source| PkiError::Issue { path: self.path.clone(), source }.into())
    }

    /// A certificate and its key, one PEM text, for a server of these names.
    pub fn server(
        &self,
        common_name: &str,
        names: &BTreeSet<San>,
        days: i64,
        now: Timestamp,
    ) -> Result<SecretString, PkiErrors> {
        check_clock(now)?;
        issue::serving(common_name, names, &self.certificate, &self.issuer, days, now)
            .map(|issued| format!("{}{}", issued.certificate_pem, issued.key_pem).into())
            .map_err(|source| PkiError::Issue { path: self.path.clone(), source }.into())
    }

    /// True if such a text is still good for a server of these names.
    pub fn still_serves(&self, pem: &[u8], names: &BTreeSet<San>, now: Timestamp) -> bool {
        let has_names = Certificate::from_pem(pem).is_ok_and(|certificate| names.is_subset(&certificate.names));
        has_names && certificate_flaw(pem, &self.pem, now).is_none()
    }
}
