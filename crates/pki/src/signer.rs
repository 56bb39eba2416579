//! Signing for other machines with the cluster's authority.

use jiff::Timestamp;
use rcgen::{Issuer, KeyPair};

use crate::{
    Existing, PkiError, PkiErrors, Request,
    authority::{self, Standing},
    certificate::Certificate,
    issue,
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
}
