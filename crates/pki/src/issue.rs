//! Making certificates. What is made here passes every check of [`crate::evaluate`], or every plan would replace it.

use std::{collections::BTreeSet, error::Error};

use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType, SerialNumber, SubjectPublicKeyInfo,
};
use spec::San;
use time::OffsetDateTime;

use crate::{
    Input,
    certificate::Certificate,
    key,
    lifetime::Lifetime,
    table::{CaRow, Leaf, Usage},
};

/// Marks a CA with its cluster, in the organisational unit: the common name has to stay kubeadm's.
const MARK: &str = "blackstart:";

type Fault = Box<dyn Error + Send + Sync>;

/// Who a client certificate is made out to: user and group, as Kubernetes reads them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The user.
    pub common_name: String,
    /// The group.
    pub organization: Option<String>,
}

/// What a certificate for the key of another machine says. All of it is our own choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// Whom it is made out to.
    pub subject: Subject,
    /// What it is good for.
    pub usage: Usage,
    /// The names and addresses it is good for.
    pub names: BTreeSet<San>,
    /// How long it lasts; shorter, if the CA ends before.
    pub lasts: SignedDuration,
}

/// A certificate and its key, ready to be written.
pub(crate) struct Issued {
    pub(crate) certificate_pem: String,
    pub(crate) key_pem: String,
}

/// The cluster a CA says it belongs to. One that says nothing (kubeadm's, a company's) is taken as it is.
pub(crate) fn marked_cluster(ca: &Certificate) -> Option<&str> {
    ca.organizational_units.iter().find_map(|unit| unit.strip_prefix(MARK))
}

/// A self-signed certificate for a CA's key.
pub(crate) fn ca(row: &CaRow, cluster: &str, key: &KeyPair, now: Timestamp) -> Result<String, Fault> {
    let mut subject = DistinguishedName::new();
    subject.push(DnType::OrganizationalUnitName, format!("{MARK}{cluster}"));
    subject.push(DnType::CommonName, row.common_name);
    let mut params = params(subject, Lifetime::starting(now, row.days))?;
    // It signs leaves only: a CA below it would be one that was not asked for.
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params.self_signed(key)?.pem())
}

/// A certificate with a new key, signed by its CA and not outliving it.
pub(crate) fn leaf(
    leaf: &Leaf,
    input: &Input,
    ca: &Certificate,
    issuer: &Issuer<'_, KeyPair>,
    now: Timestamp,
) -> Result<Issued, Fault> {
    let key = key::generate()?;
    let lifetime = Lifetime::starting(now, leaf.days).within(ca.lifetime);
    let certificate = leaf_params(leaf, input, lifetime)?.signed_by(&key, issuer)?;
    Ok(Issued { certificate_pem: certificate.pem(), key_pem: key.serialize_pem() })
}

/// A certificate for a key that is not ours.
pub(crate) fn for_key(
    contents: &Contents,
    public_key_info: &[u8],
    ca: &Certificate,
    issuer: &Issuer<'_, KeyPair>,
    now: Timestamp,
) -> Result<String, Fault> {
    let Contents { subject, usage, names, lasts } = contents;
    let key = SubjectPublicKeyInfo::from_der(public_key_info)?;
    let lifetime = Lifetime::lasting(now, lasts.as_secs()).within(ca.lifetime);
    let mut params = signed_params(&subject.common_name, subject.organization.as_deref(), *usage, lifetime)?;
    params.subject_alt_names = san_types(names)?;
    Ok(params.signed_by(&key, issuer)?.pem())
}

/// A certificate with a new key for a server of these names.
pub(crate) fn serving(
    common_name: &str,
    names: &BTreeSet<San>,
    ca: &Certificate,
    issuer: &Issuer<'_, KeyPair>,
    end: Option<Timestamp>,
    now: Timestamp,
) -> Result<Issued, Fault> {
    let key = key::generate()?;
    let lifetime = Lifetime::until(end.unwrap_or(Timestamp::MAX), now).within(ca.lifetime);
    let mut params = signed_params(common_name, None, Usage::Both, lifetime)?;
    params.subject_alt_names = san_types(names)?;
    Ok(Issued { certificate_pem: params.signed_by(&key, issuer)?.pem(), key_pem: key.serialize_pem() })
}

fn leaf_params(leaf: &Leaf, input: &Input, lifetime: Lifetime) -> Result<CertificateParams, Fault> {
    let mut params = signed_params(&leaf.common_name(&input.node), leaf.organization, leaf.usage, lifetime)?;
    params.subject_alt_names = san_types(&input.names(leaf.names))?;
    Ok(params)
}

/// What every certificate that a CA signs has in common.
fn signed_params(
    common_name: &str,
    organization: Option<&str>,
    usage: Usage,
    lifetime: Lifetime,
) -> Result<CertificateParams, Fault> {
    let mut subject = DistinguishedName::new();
    if let Some(organization) = organization {
        subject.push(DnType::OrganizationName, organization);
    }
    subject.push(DnType::CommonName, common_name);
    let mut params = params(subject, lifetime)?;
    params.is_ca = IsCa::ExplicitNoCa;
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = match usage {
        Usage::Serve => vec![ExtendedKeyUsagePurpose::ServerAuth],
        Usage::Client => vec![ExtendedKeyUsagePurpose::ClientAuth],
        Usage::Both => vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth],
    };
    Ok(params)
}

fn params(subject: DistinguishedName, lifetime: Lifetime) -> Result<CertificateParams, Fault> {
    let mut params = CertificateParams::default();
    params.distinguished_name = subject;
    params.serial_number = Some(serial()?);
    params.not_before = OffsetDateTime::from_unix_timestamp(lifetime.not_before)?;
    params.not_after = OffsetDateTime::from_unix_timestamp(lifetime.not_after)?;
    Ok(params)
}

/// 128 random bits, the first of which make it positive and of full length.
fn serial() -> Result<SerialNumber, Fault> {
    let mut bytes = [0; 16];
    aws_lc_rs::rand::fill(&mut bytes)?;
    bytes[0] = (bytes[0] & 0x7f) | 0x40;
    Ok(SerialNumber::from_slice(&bytes))
}

fn san_types(names: &BTreeSet<San>) -> Result<Vec<SanType>, rcgen::Error> {
    let san_type = |san: &San| match san {
        San::Dns(name) => name.as_str().try_into().map(SanType::DnsName),
        San::Ip(ip) => Ok(SanType::IpAddress(*ip)),
    };
    names.iter().map(san_type).collect()
}
