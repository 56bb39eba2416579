//! What all masters share, made before there is a machine; and what is signed for other machines.

use pki::{Existing, Request, Signer, Subject, plan_shared, table};
use rcgen::{CertificateParams, DnType, KeyPair, SanType};

use crate::machine::{Machine, days_later, input, now};

#[test]
fn only_what_is_shared_is_made_and_the_first_master_builds_on_it() {
    let machine = Machine::new();
    let shared = plan_shared(&machine.existing(), "demo", now()).unwrap();
    machine.apply(&shared);
    let is_there = |file: &String| machine.at(file).exists();
    let made: Vec<String> = table::files().into_iter().filter(is_there).collect();
    insta::assert_snapshot!(made.join("\n"), @r"
    pki/ca.key
    pki/ca.crt
    pki/front-proxy-ca.key
    pki/front-proxy-ca.crt
    pki/etcd/ca.key
    pki/etcd/ca.crt
    pki/sa.key
    pki/sa.pub
    ");
    assert_eq!(plan_shared(&machine.existing(), "demo", now()).unwrap(), [], "a second time, nothing");

    let ca = machine.read("pki/ca.crt");
    let bringing = pki::Input { shared: pki::Shared::Bring, ..input() };
    machine.apply(&machine.plan(&bringing, now()).unwrap());
    assert_eq!(machine.read("pki/ca.crt"), ca);
    assert_eq!(machine.plan(&input(), now()).unwrap(), []);
}

#[test]
fn a_signed_request_gets_its_key_and_our_names_and_nothing_else() {
    let machine = Machine::complete(&input());
    let key = KeyPair::generate().unwrap();
    let mut greedy = CertificateParams::default();
    greedy.distinguished_name.push(DnType::CommonName, "system:admin");
    greedy.distinguished_name.push(DnType::OrganizationName, "system:masters");
    greedy.subject_alt_names = vec![SanType::DnsName("kubernetes".try_into().unwrap())];
    let request = Request::from_pem(greedy.serialize_request(&key).unwrap().pem().unwrap().as_bytes()).unwrap();
    let subject = Subject { common_name: "system:node:worker-01".into(), organization: Some("system:nodes".into()) };

    let signer = Signer::new(&machine.existing(), "demo", now()).unwrap();
    let pem = signer.client_certificate(&request, &subject, 365, now()).unwrap();
    let der = x509_parser::pem::Pem::iter_from_buffer(pem.as_bytes()).next().unwrap().unwrap();
    let certificate = der.parse_x509().unwrap();
    assert_eq!(certificate.subject().to_string(), "O=system:nodes, CN=system:node:worker-01");
    assert!(certificate.subject_alternative_name().unwrap().is_none());
    assert!(!certificate.is_ca());
    let usage = certificate.extended_key_usage().unwrap().unwrap().value;
    assert!(usage.client_auth && !usage.server_auth);
    assert_eq!(certificate.public_key().subject_public_key.data.as_ref(), key.public_key_raw());
    let ca = x509_parser::pem::Pem::iter_from_buffer(signer.ca_pem()).next().unwrap().unwrap();
    let ca = ca.parse_x509().unwrap();
    assert!(certificate.verify_signature(Some(ca.public_key())).is_ok());

    let late = signer.client_certificate(&request, &subject, 365, days_later(3600)).unwrap();
    let late = x509_parser::pem::Pem::iter_from_buffer(late.as_bytes()).next().unwrap().unwrap();
    assert_eq!(late.parse_x509().unwrap().validity().not_after, ca.validity().not_after, "nothing outlives the CA");
}

#[test]
fn without_the_cas_key_nothing_is_signed() {
    let machine = Machine::complete(&input());
    machine.remove("pki/ca.key");
    let refused = |existing: &Existing| Signer::new(existing, "demo", now()).err().map(|error| error.to_string());
    let expected = Some("the CA's key /etc/kubernetes/pki/ca.key is not here".to_owned());
    assert_eq!(refused(&machine.existing()), expected);
    assert_eq!(refused(&Machine::new().existing()), expected);
}
