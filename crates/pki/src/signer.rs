//! Signing for other machines with the cluster's CA.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use rcgen::{Issuer, KeyPair};
use secrecy::SecretString;
use spec::San;

use crate::{
    Contents, Existing, PkiError, PkiErrors, Request, Subject,
    ca::{self, CaState},
    certificate::Certificate,
    certificate_flaw, issue,
    lifetime::check_clock,
    table::{CLUSTER, Usage},
};

/// The cluster's CA with its key, checked like everywhere else.
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
        let CaState::Whole(ca) = ca::find(&CLUSTER, existing, cluster, now)? else {
            return Err(missing().into());
        };
        let issuer = ca.issuer.ok_or_else(missing)?;
        Ok(Self { certificate: ca.certificate, pem: ca.pem, path: ca.certificate_path, issuer })
    }

    /// The CA's certificate, PEM.
    pub fn ca_pem(&self) -> &[u8] {
        &self.pem
    }

    /// A client certificate for the key of the request, made out to `subject`. Whatever else the request asks for is
    /// not in it. It lasts `days`, or as long as the CA if that is shorter.
    pub fn client_certificate(
        &self,
        request: &Request,
        subject: &Subject,
        days: i64,
        now: Timestamp,
    ) -> Result<String, PkiErrors> {
        let (subject, lasts) = (subject.clone(), SignedDuration::from_hours(24 * days));
        self.certificate(request, &Contents { subject, usage: Usage::Client, names: BTreeSet::new(), lasts }, now)
    }

    /// A certificate for the key of the request. Nothing else of the request gets into it.
    pub fn certificate(&self, request: &Request, contents: &Contents, now: Timestamp) -> Result<String, PkiErrors> {
        check_clock(now)?;
        issue::for_key(contents, request.public_key_info(), &self.certificate, &self.issuer, now)
            .map_err(|source| PkiError::Issue { path: self.path.clone(), source }.into())
    }

    /// A certificate and its key, one PEM text, for a server of these names, which also shows it to its like. It lasts until
    /// `end`, or as long as the CA.
    pub fn server(
        &self,
        common_name: &str,
        names: &BTreeSet<San>,
        end: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<SecretString, PkiErrors> {
        check_clock(now)?;
        issue::serving(common_name, names, &self.certificate, &self.issuer, end, now)
            .map(|issued| format!("{}{}", issued.certificate_pem, issued.key_pem).into())
            .map_err(|source| PkiError::Issue { path: self.path.clone(), source }.into())
    }

    /// True if such a text is still good for a server of these names, and to be shown by it, and lasts until `end` or as long
    /// as the CA.
    pub fn still_serves(&self, pem: &[u8], names: &BTreeSet<San>, end: Option<Timestamp>, now: Timestamp) -> bool {
        let last = end.map_or(i64::MAX, Timestamp::as_second).min(self.certificate.lifetime.not_after);
        let is_made_so = |made: Certificate| {
            names.is_subset(&made.names) && made.is_good_for(Usage::Both) && made.lifetime.not_after >= last
        };
        Certificate::from_pem(pem).is_ok_and(is_made_so) && certificate_flaw(pem, &self.pem, now).is_none()
    }
}
