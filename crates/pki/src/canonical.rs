//! The one form in which kubelets' requests are believed: byte for byte what Go's `x509.CreateCertificateRequest` writes
//! for what we have read.
//!
//! DER has one encoding for one value, but readers forgive different mistakes, and X.509 has many ways to say the same. A
//! request that two programs read differently shows an honest face to the approver and another one to the signer. So
//! what was read is written again, and only what comes out the same is taken:
//!
//! ```text
//! version 0 · O, if any · CN · an ECDSA key with a named curve and an uncompressed point · names, then addresses, if any ·
//! ecdsa-with-SHA256 for P-256, ecdsa-with-SHA384 for P-384
//! ```
//!
//! What the join service gets is made by rcgen, which writes every text as `UTF8String` and so is not of this form. It does
//! not have to be: that service signs itself, and takes nothing but the key out of the request.

use std::net::IpAddr;

use spec::San;
use x509_parser::{
    certification_request::X509CertificationRequest,
    oid_registry::{
        OID_EC_P256, OID_KEY_TYPE_EC_PUBLIC_KEY, OID_NIST_EC_P384, OID_PKCS9_EXTENSION_REQUEST,
        OID_SIG_ECDSA_WITH_SHA256, OID_SIG_ECDSA_WITH_SHA384, OID_X509_COMMON_NAME, OID_X509_EXT_SUBJECT_ALT_NAME,
        OID_X509_ORGANIZATION_NAME, Oid,
    },
};

use crate::der::{OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, SET, bits, text, value};

const VERSION: &[u8] = &[0x02, 1, 0];
const ATTRIBUTES: u8 = 0xa0;
const DNS_NAME: u8 = 0x82;
const IP_ADDRESS: u8 = 0x87;
const UNCOMPRESSED: u8 = 4;

/// A curve, what is signed with its keys, and how long a point of it is.
struct Curve {
    oid: Oid<'static>,
    signature: Oid<'static>,
    point: usize,
}

static CURVES: [Curve; 2] = [
    Curve { oid: OID_EC_P256, signature: OID_SIG_ECDSA_WITH_SHA256, point: 65 },
    Curve { oid: OID_NIST_EC_P384, signature: OID_SIG_ECDSA_WITH_SHA384, point: 97 },
];

/// The request as it is written in that form, if it can be at all. `names` are all that it asks for, in their order.
pub(crate) fn encode(request: &X509CertificationRequest<'_>, names: &[San]) -> Option<Vec<u8>> {
    let info = &request.certification_request_info;
    let key = &info.subject_pki;
    let curve = key.algorithm.parameters.as_ref()?.as_oid().ok()?;
    let curve = CURVES.iter().find(|known| known.oid == curve)?;
    let point = key.subject_public_key.data.as_ref();
    if point.len() != curve.point || point.first() != Some(&UNCOMPRESSED) {
        return None;
    }
    let algorithm = value(SEQUENCE, &[&oid(&OID_KEY_TYPE_EC_PUBLIC_KEY), &oid(&curve.oid)]);
    let info = value(
        SEQUENCE,
        &[
            VERSION,
            &subject(request)?,
            &value(SEQUENCE, &[&algorithm, &bits(point)]),
            &value(ATTRIBUTES, &[&extension_request(names)?]),
        ],
    );
    // The signature's own bytes were read strictly when it was verified.
    Some(value(
        SEQUENCE,
        &[&info, &value(SEQUENCE, &[&oid(&curve.signature)]), &bits(request.signature_value.data.as_ref())],
    ))
}

/// At most one organisation, then one common name, each on its own.
fn subject(request: &X509CertificationRequest<'_>) -> Option<Vec<u8>> {
    let mut parts = Vec::new();
    let mut expected = [OID_X509_ORGANIZATION_NAME, OID_X509_COMMON_NAME].into_iter();
    for attribute in request.certification_request_info.subject.iter_attributes() {
        let kind = expected.find(|kind| kind == attribute.attr_type())?;
        let output = attribute.as_str().ok().filter(|output| !output.is_empty())?;
        parts.push(value(SET, &[&value(SEQUENCE, &[&oid(&kind), &text(output)])]));
    }
    Some(value(SEQUENCE, &[&parts.concat()]))
}

/// Nothing, or one attribute with one extension.
fn extension_request(names: &[San]) -> Option<Vec<u8>> {
    if names.is_empty() {
        return Some(Vec::new());
    }
    let is_address = |name: &San| matches!(name, San::Ip(_));
    let is_repeated = |(index, name): (usize, &San)| names[..index].contains(name);
    if !names.is_sorted_by_key(is_address) || names.iter().enumerate().any(is_repeated) {
        return None;
    }
    let names = names.iter().map(general_name).collect::<Option<Vec<_>>>()?.concat();
    let names = value(OCTET_STRING, &[&value(SEQUENCE, &[&names])]);
    let extension = value(SEQUENCE, &[&oid(&OID_X509_EXT_SUBJECT_ALT_NAME), &names]);
    let extensions = value(SET, &[&value(SEQUENCE, &[&extension])]);
    Some(value(SEQUENCE, &[&oid(&OID_PKCS9_EXTENSION_REQUEST), &extensions]))
}

fn general_name(name: &San) -> Option<Vec<u8>> {
    match name {
        San::Dns(name) => is_host_name(name).then(|| value(DNS_NAME, &[name.as_bytes()])),
        San::Ip(IpAddr::V4(ip)) => Some(value(IP_ADDRESS, &[&ip.octets()])),
        // An IPv4 address in the clothes of an IPv6 address is another text for the same machine.
        San::Ip(IpAddr::V6(ip)) => ip.to_ipv4_mapped().is_none().then(|| value(IP_ADDRESS, &[&ip.octets()])),
    }
}

/// As names of machines are written: labels of lower-case letters, digits and hyphens.
fn is_host_name(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(is_inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

fn oid(oid: &Oid<'_>) -> Vec<u8> {
    value(OBJECT_IDENTIFIER, &[oid.as_bytes()])
}
