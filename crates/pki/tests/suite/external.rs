//! CAs whose key is elsewhere, and CAs that were not made by us.

use std::{fs, process::Command};

use jiff::Timestamp;
use pki::{Shared, Which, table};
use spec::San;

use crate::{
    machine::{Machine, days_later, input, now, outcome},
    openssl::verify_at,
};

#[test]
fn a_ca_without_key_is_respected() {
    let machine = Machine::complete(&input());
    let certificate = machine.read("pki/ca.crt");
    machine.remove("pki/ca.key");
    assert_eq!(machine.plan(&input(), now()).unwrap(), []);
    assert_eq!(machine.read("pki/ca.crt"), certificate);
}

#[test]
fn its_leaves_have_to_be_brought() {
    let machine = Machine::complete(&input());
    machine.remove("pki/ca.key");
    let edited = pki::Input { extra_sans: vec![San::Dns("k8s.example.org".into())], ..input() };
    let mut lines = vec![
        format!("another name: {}", outcome(&machine.plan(&edited, now()))),
        format!("ends soon: {}", outcome(&machine.plan(&input(), days_later(350)))),
        format!("expired: {}", outcome(&machine.plan(&input(), days_later(366)))),
    ];
    machine.remove("pki/apiserver.key");
    machine.remove("admin.conf");
    lines.push(format!("missing: {}", outcome(&machine.plan(&input(), now()))));
    let renew = |which| outcome(&pki::renewal(&machine.existing(), &input(), now(), which));
    lines.push(format!("renew one: {}", renew(Which::One("scheduler.conf"))));
    lines.push(format!("renew all: {}", renew(Which::All)));
    insta::assert_snapshot!(lines.join("\n"));
}

/// As an operator may bring it: RSA, PKCS#1, no mark of ours. OpenSSL lets it begin at the real time.
fn foreign_ca(machine: &Machine, subject: &str) {
    for row in table::CAS {
        let (key, certificate) = (machine.at(&row.key()), machine.at(&row.certificate()));
        fs::create_dir_all(key.parent().unwrap()).unwrap();
        let made = Command::new("openssl")
            .args([
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "9000",
                "-multivalue-rdn",
                "-addext",
                "keyUsage=critical,keyCertSign,cRLSign",
                "-subj",
                subject,
            ])
            .arg("-keyout")
            .arg(&key)
            .arg("-out")
            .arg(&certificate)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let traditional = Command::new("openssl").args(["rsa", "-traditional", "-in"]).arg(&key).output().unwrap();
        fs::write(&key, traditional.stdout).unwrap();
    }
}

#[test]
fn an_external_ca_is_used_as_it_is() {
    let machine = Machine::new();
    foreign_ca(&machine, "/O=Example/OU=Infrastructure/CN=Example Root");
    let (key, now) = (machine.read("pki/ca.key"), Timestamp::now());
    machine.apply(&machine.plan(&input(), now).unwrap());
    assert_eq!(machine.plan(&input(), now).unwrap(), []);
    assert_eq!(machine.read("pki/ca.key"), key);
    let certificate = machine.at("pki/apiserver.crt");
    verify_at(now, &machine, "pki/ca.crt", &certificate, &["-purpose", "sslserver"]).unwrap();
}

#[test]
fn a_subject_that_cannot_be_repeated_is_refused() {
    for subject in ["/DC=org/DC=example/CN=Example Root", "/O=Example+OU=Two in one/CN=Example Root"] {
        let machine = Machine::new();
        foreign_ca(&machine, subject);
        let reported = outcome(&machine.plan(&input(), Timestamp::now()));
        assert_eq!(
            reported.matches("BS-PKI-014 the subject of /etc/kubernetes/pki/").count(),
            3,
            "{subject}: {reported}"
        );
        assert_eq!(reported.matches("BS-").count(), 3, "reported once per CA: {reported}");
    }
}

#[test]
fn a_key_without_certificate_is_not_completed_by_a_master_that_joins() {
    let machine = Machine::complete(&input());
    machine.remove("pki/etcd/ca.crt");
    let joining = pki::Input { shared: Shared::Bring, ..input() };
    assert_eq!(
        outcome(&machine.plan(&joining, now())),
        "BS-PKI-010 missing, and must not be made again here: /etc/kubernetes/pki/etcd/ca.crt"
    );
}

#[test]
fn a_kubeconfig_that_the_kubelet_has_taken_over_is_left_to_it() {
    let machine = Machine::complete(&input());
    let text = String::from_utf8(machine.read("kubelet.conf")).unwrap();
    let taken_over: String = text
        .lines()
        .map(|line| match line.split_once("-data: ") {
            Some((key, _)) if key.trim().starts_with("client-") => format!("{key}: /var/lib/kubelet/pki/current.pem\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    machine.write("kubelet.conf", &taken_over);
    assert_eq!(machine.plan(&input(), now()).unwrap(), []);
    let all = pki::renewal(&machine.existing(), &input(), now(), Which::All).unwrap();
    assert!(!outcome(&Ok(all)).contains("kubelet.conf"));
}

fn openssl(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("openssl").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn keys_are_read_in_the_forms_that_openssl_writes() {
    let machine = Machine::complete(&input());
    let path = machine.at("pki/ca.key").display().to_string();
    let parameters = openssl(&["ecparam", "-name", "prime256v1"]);
    let traditional = openssl(&["pkey", "-traditional", "-in", &path]);
    let encrypted = openssl(&["pkcs8", "-topk8", "-passout", "pass:secret", "-in", &path]);

    machine.restore("pki/ca.key", &[parameters, traditional].concat());
    assert_eq!(outcome(&machine.plan(&input(), now())), "nothing to do");
    machine.restore("pki/ca.key", &encrypted);
    let reported = outcome(&machine.plan(&input(), now()));
    assert_eq!(reported, "BS-PKI-002 cannot use /etc/kubernetes/pki/ca.key: its private key is encrypted");
}

#[test]
fn a_certificate_that_is_good_for_something_else_is_made_again() {
    // OpenSSL signs with the clock of the machine, so this test has to live by it too.
    let machine = Machine::new();
    machine.apply(&machine.plan(&input(), Timestamp::now()).unwrap());
    let at = |name: &str| machine.at(name).display().to_string();
    let (key, request, usage) = (at("pki/front-proxy-client.key"), at("request"), at("usage"));
    openssl(&["req", "-new", "-key", &key, "-subj", "/CN=front-proxy-client", "-out", &request]);
    for (extended, expected) in [
        ("clientAuth", "nothing to do"),
        ("serverAuth", "writes pki/front-proxy-client.key, pki/front-proxy-client.crt"),
    ] {
        fs::write(&usage, format!("extendedKeyUsage={extended}\n")).unwrap();
        let (ca, signer) = (at("pki/front-proxy-ca.crt"), at("pki/front-proxy-ca.key"));
        let sign = ["x509", "-req", "-in", &request, "-CA", &ca, "-CAkey", &signer, "-extfile", &usage];
        let certificate = openssl(&[&sign[..], &["-days", "365", "-set_serial", "1"]].concat());
        machine.restore("pki/front-proxy-client.crt", &certificate);
        assert_eq!(outcome(&machine.plan(&input(), Timestamp::now())), expected, "{extended}");
    }
}
