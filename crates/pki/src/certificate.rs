//! Reading certificates: the few facts that matter here, out of X.509.

use std::{collections::BTreeSet, net::IpAddr};

use spec::San;
use x509_parser::{
    certificate::X509Certificate,
    extensions::{ExtendedKeyUsage, GeneralName},
    parse_x509_certificate,
    x509::X509Name,
};

use crate::{lifetime::Lifetime, pem, table::Usage};

/// What is known of a certificate.
pub(crate) struct Certificate {
    der: Vec<u8>,
    pub(crate) subject: String,
    pub(crate) issuer: String,
    pub(crate) common_name: Option<String>,
    pub(crate) organizations: Vec<String>,
    pub(crate) organizational_units: Vec<String>,
    pub(crate) names: BTreeSet<San>,
    pub(crate) lifetime: Lifetime,
    pub(crate) is_ca: bool,
    /// The key itself, without its algorithm.
    pub(crate) public_key: Vec<u8>,
    /// Key and algorithm, as pins are made of.
    pub(crate) public_key_info: Vec<u8>,
    subject_der: Vec<u8>,
    issuer_der: Vec<u8>,
    serves: bool,
    identifies: bool,
}

impl Certificate {
    /// The first certificate in a PEM file.
    pub(crate) fn from_pem(bytes: &[u8]) -> Result<Self, &'static str> {
        let block = first_block(bytes, |label| label == "CERTIFICATE")?.ok_or("it holds no PEM certificate")?;
        Self::from_der(block.contents)
    }

    /// Every certificate in a PEM file, at least one.
    pub(crate) fn all_from_pem(bytes: &[u8]) -> Result<Vec<Self>, &'static str> {
        let blocks = pem::blocks(bytes)?.into_iter().filter(|block| block.label == "CERTIFICATE");
        let all = blocks.map(|block| Self::from_der(block.contents)).collect::<Result<Vec<_>, _>>()?;
        if all.is_empty() { Err("it holds no PEM certificate") } else { Ok(all) }
    }

    /// As text.
    pub(crate) fn pem(&self) -> String {
        pem::certificate(&self.der)
    }

    fn from_der(der: Vec<u8>) -> Result<Self, &'static str> {
        const DAMAGED: &str = "its certificate is damaged";
        let (rest, x509) = parse_x509_certificate(&der).map_err(|_| DAMAGED)?;
        if !rest.is_empty() {
            return Err(DAMAGED);
        }
        let usage = x509.extended_key_usage().map_err(|_| DAMAGED)?.map(|extension| extension.value);
        // A certificate that does not say what it is good for is good for anything: so verifiers take it.
        let allows = |purpose: fn(&ExtendedKeyUsage<'_>) -> bool| usage.is_none_or(|usage| usage.any || purpose(usage));
        Ok(Self {
            subject: x509.subject().to_string(),
            issuer: x509.issuer().to_string(),
            common_name: texts(x509.subject(), X509Name::iter_common_name).into_iter().next(),
            organizations: texts(x509.subject(), X509Name::iter_organization),
            organizational_units: texts(x509.subject(), X509Name::iter_organizational_unit),
            names: names(&x509).ok_or(DAMAGED)?,
            lifetime: Lifetime {
                not_before: x509.validity().not_before.timestamp(),
                not_after: x509.validity().not_after.timestamp(),
            },
            is_ca: x509.is_ca(),
            public_key: x509.public_key().subject_public_key.data.to_vec(),
            public_key_info: x509.public_key().raw.to_vec(),
            subject_der: x509.subject().as_raw().to_vec(),
            issuer_der: x509.issuer().as_raw().to_vec(),
            serves: allows(|usage| usage.server_auth),
            identifies: allows(|usage| usage.client_auth),
            der,
        })
    }

    pub(crate) fn der(&self) -> &[u8] {
        &self.der
    }

    /// True if the CA's key made this certificate's signature and the names agree to the byte, which is how
    /// verifiers compare them.
    pub(crate) fn is_signed_by(&self, ca: &Self) -> bool {
        let (Ok((_, own)), Ok((_, signer))) = (parse_x509_certificate(&self.der), parse_x509_certificate(&ca.der))
        else {
            return false;
        };
        self.is_issued_in_the_name_of(ca) && own.verify_signature(Some(signer.public_key())).is_ok()
    }

    pub(crate) fn is_issued_in_the_name_of(&self, ca: &Self) -> bool {
        self.issuer_der == ca.subject_der
    }

    /// False for a subject such as `DC=org, DC=example`, of which the issuing library keeps only one `DC`. A verifier
    /// would look in vain for an issuer of that shortened name.
    pub(crate) fn can_be_named_as_issuer(&self) -> bool {
        let mut seen = BTreeSet::new();
        parse_x509_certificate(&self.der).is_ok_and(|(_, x509)| {
            x509.subject().iter_attributes().all(|attribute| seen.insert(attribute.attr_type().as_bytes().to_vec()))
        })
    }

    pub(crate) fn is_good_for(&self, usage: Usage) -> bool {
        match usage {
            Usage::Serve => self.serves,
            Usage::Client => self.identifies,
            Usage::Both => self.serves && self.identifies,
        }
    }
}

/// The first block of a PEM file whose label fits; other blocks, such as curve parameters, are passed over.
pub(crate) fn first_block(bytes: &[u8], fits: impl Fn(&str) -> bool) -> Result<Option<pem::Block>, &'static str> {
    Ok(pem::blocks(bytes)?.into_iter().find(|block| fits(&block.label)))
}

/// As in a certificate's description: a name as it is, an address as it is written.
pub(crate) fn show_san(san: &San) -> String {
    match san {
        San::Dns(name) => name.clone(),
        San::Ip(ip) => ip.to_string(),
    }
}

pub(crate) fn texts<'a, I>(name: &'a X509Name<'a>, attributes: fn(&'a X509Name<'a>) -> I) -> Vec<String>
where
    I: Iterator<Item = &'a x509_parser::x509::AttributeTypeAndValue<'a>>,
{
    attributes(name).filter_map(|attribute| attribute.as_str().ok()).map(str::to_owned).collect()
}

fn names(x509: &X509Certificate<'_>) -> Option<BTreeSet<San>> {
    let Some(extension) = x509.subject_alternative_name().ok()? else { return Some(BTreeSet::new()) };
    // Kubernetes and etcd look at names and addresses only.
    Some(extension.value.general_names.iter().filter_map(san).collect())
}

/// A name or an address; `None` for mail addresses, URIs and the like.
pub(crate) fn san(name: &GeneralName<'_>) -> Option<San> {
    match name {
        GeneralName::DNSName(name) => Some(San::Dns((*name).to_owned())),
        GeneralName::IPAddress(bytes) => address(bytes).map(San::Ip),
        _ => None,
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}
