//! The evaluation of OpenSSL, which shares no code with us. Where it is not installed, these tests fail.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use jiff::Timestamp;
use pki::table::{self, Kept, Leaf, Names, Usage};
use spec::San;

use crate::machine::{Machine, days_later, input, now};

fn openssl(arguments: &[&str], file: &Path) -> Output {
    Command::new("openssl").args(arguments).arg(file).output().expect("openssl has to be installed")
}

/// What OpenSSL says of a certificate under a CA; `Err` with its output if it refuses.
pub(crate) fn verify_at(
    at: Timestamp,
    machine: &Machine,
    ca: &str,
    certificate: &Path,
    conditions: &[&str],
) -> Result<(), String> {
    let ca = machine.at(ca).display().to_string();
    let at = at.as_second().to_string();
    let mut arguments = vec!["verify", "-x509_strict", "-attime", &at, "-CAfile", &ca];
    arguments.extend(conditions);
    let output = openssl(&arguments, certificate);
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn verify(machine: &Machine, ca: &str, certificate: &Path, conditions: &[&str]) -> Result<(), String> {
    verify_at(now(), machine, ca, certificate, conditions)
}

fn stdout(arguments: &[&str], file: &Path) -> String {
    let output = openssl(arguments, file);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Certificate and key of a leaf as files; those of a kubeconfig are taken out of it.
fn pair(machine: &Machine, leaf: &Leaf) -> (PathBuf, PathBuf) {
    match leaf.kept {
        Kept::Pair { stem } => (machine.at(&format!("{stem}.crt")), machine.at(&format!("{stem}.key"))),
        Kept::Kubeconfig { path, .. } => {
            let text = String::from_utf8(machine.read(path)).unwrap();
            let extract = |key: &str| {
                let data = text.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap();
                let file = machine.at(&format!("{path}.{key}.pem"));
                fs::write(&file, BASE64_STANDARD.decode(data.trim()).unwrap()).unwrap();
                file
            };
            (extract("client-certificate-data:"), extract("client-key-data:"))
        }
    }
}

#[test]
fn every_leaf_is_good_for_its_purpose_and_no_other() {
    let machine = Machine::complete(&input());
    for leaf in table::LEAVES {
        let (certificate, _) = pair(&machine, leaf);
        let good_for = |purpose| verify(&machine, &leaf.ca.certificate(), &certificate, &["-purpose", purpose]);
        let (server, client) = (good_for("sslserver"), good_for("sslclient"));
        assert_eq!(server.is_ok(), leaf.usage != Usage::Client, "{} as a server: {server:?}", leaf.name);
        assert_eq!(client.is_ok(), leaf.usage != Usage::Serve, "{} as a client: {client:?}", leaf.name);
        for row in table::CAS.iter().filter(|row| row.name != leaf.ca.name) {
            let refused = verify(&machine, &row.certificate(), &certificate, &[]).unwrap_err();
            assert!(refused.contains("unable to get local issuer certificate"), "{}: {refused}", leaf.name);
        }
    }
}

#[test]
fn every_name_of_a_server_is_accepted_and_a_foreign_one_is_not() {
    let input = pki::Input {
        hostname: "m1.example.org".into(),
        extra_sans: vec![San::Dns("k8s.example.org".into()), San::Ip("fd00::9".parse().unwrap())],
        ..input()
    };
    let machine = Machine::complete(&input);
    for leaf in table::LEAVES.iter().filter(|leaf| leaf.names != Names::None) {
        let (certificate, _) = pair(&machine, leaf);
        let ca = leaf.ca.certificate();
        for name in input.names(leaf.names) {
            let condition = match &name {
                San::Dns(name) => ["-verify_hostname".to_owned(), name.clone()],
                San::Ip(ip) => ["-verify_ip".to_owned(), ip.to_string()],
            };
            verify(&machine, &ca, &certificate, &condition.each_ref().map(String::as_str)).unwrap();
        }
        for foreign in [["-verify_hostname", "elsewhere.example.org"], ["-verify_ip", "192.0.2.1"]] {
            verify(&machine, &ca, &certificate, &foreign).unwrap_err();
        }
    }
}

#[test]
fn every_key_belongs_to_its_certificate_and_is_p256() {
    let machine = Machine::complete(&input());
    let cas = table::CAS.iter().map(|row| (machine.at(&row.certificate()), machine.at(&row.key())));
    for (certificate, key) in cas.chain(table::LEAVES.iter().map(|leaf| pair(&machine, leaf))) {
        let of_certificate = stdout(&["x509", "-noout", "-pubkey", "-in"], &certificate);
        let of_key = stdout(&["pkey", "-pubout", "-in"], &key);
        assert_eq!(of_certificate, of_key, "{}", certificate.display());
        assert!(stdout(&["pkey", "-noout", "-text", "-in"], &key).contains("prime256v1"));
    }
    let public = stdout(&["pkey", "-pubout", "-in"], &machine.at(table::SERVICE_ACCOUNT.key));
    assert_eq!(public.as_bytes(), machine.read(table::SERVICE_ACCOUNT.public));
}

#[test]
fn certificates_say_what_the_table_says() {
    let machine = Machine::complete(&input());
    let cas = table::CAS.iter().map(|row| (row.name, machine.at(&row.certificate())));
    let leaves = table::LEAVES.iter().map(|leaf| (leaf.name, pair(&machine, leaf).0));
    let mut lines = Vec::new();
    for (name, certificate) in cas.chain(leaves) {
        let shown = stdout(
            &[
                "x509",
                "-noout",
                "-subject",
                "-issuer",
                "-nameopt",
                "RFC2253",
                "-dates",
                "-ext",
                "basicConstraints,keyUsage,extendedKeyUsage",
                "-in",
            ],
            &certificate,
        );
        let output: Vec<&str> = shown.lines().map(str::trim).collect();
        lines.push(format!("{name}\n  {}", output.join("\n  ")));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn serial_numbers_have_128_bits_and_differ() {
    let machine = Machine::complete(&input());
    let serial = |path: &Path| stdout(&["x509", "-noout", "-serial", "-in"], path);
    let mut serials: Vec<String> = table::LEAVES.iter().map(|leaf| serial(&pair(&machine, leaf).0)).collect();
    assert!(serials.iter().all(|serial| serial.trim().len() == "serial=".len() + 32), "{serials:?}");
    serials.sort();
    serials.dedup();
    assert_eq!(serials.len(), table::LEAVES.len());
}

#[test]
fn a_leaf_does_not_outlive_its_ca() {
    let machine = Machine::complete(&input());
    machine.apply(&pki::renewal(&machine.existing(), &input(), days_later(3600), pki::Which::All).unwrap());
    let end = |name: &str| stdout(&["x509", "-noout", "-enddate", "-in"], &machine.at(name));
    assert_eq!(end("pki/apiserver.crt"), end("pki/ca.crt"));
}

#[test]
fn the_pin_is_the_hash_of_the_public_key() {
    let machine = Machine::complete(&input());
    let public = stdout(&["x509", "-noout", "-pubkey", "-in"], &machine.at("pki/ca.crt"));
    machine.write("public.pem", public);
    let der = openssl(&["pkey", "-pubin", "-outform", "DER", "-in"], &machine.at("public.pem")).stdout;
    machine.write("public.der", der);
    let digest = stdout(&["dgst", "-sha256", "-r"], &machine.at("public.der"));
    let expected = format!("sha256:{}", digest.split_whitespace().next().unwrap());
    assert_eq!(pki::spki_pin(&machine.read("pki/ca.crt")).unwrap(), expected);
    assert!(pki::spki_pin(b"nonsense").is_err());
}
