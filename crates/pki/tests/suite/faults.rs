//! What is wrong is reported, once and where it is.

use jiff::Timestamp;
use pki::{Flaw, Input, certificate_flaw, faults, kubeconfig_flaw};

use crate::machine::{Machine, days_later, input, now};

fn reported(machine: &Machine, input: &Input, at: Timestamp) -> Vec<String> {
    let word = |flaw: &Flaw| match flaw {
        Flaw::Missing => "missing".to_owned(),
        Flaw::Unreadable { why } => format!("unreadable: {why}"),
        Flaw::KeyMismatch => "key mismatch".to_owned(),
        Flaw::Foreign { .. } => "foreign".to_owned(),
        Flaw::Exchanged => "exchanged".to_owned(),
        Flaw::NotYetValid { .. } => "not yet valid".to_owned(),
        Flaw::Expired { .. } => "expired".to_owned(),
        Flaw::EndsSoon { .. } => "ends soon".to_owned(),
        Flaw::Names { lacks, .. } => format!("lacks {}", lacks.join(", ")),
        Flaw::Subject { .. } => "subject".to_owned(),
        Flaw::OtherServer { server, .. } => format!("leads to {server}"),
        Flaw::OtherCa => "other CA".to_owned(),
    };
    faults(&machine.existing(), input, at)
        .iter()
        .map(|fault| format!("{}: {}", fault.name, word(&fault.flaw)))
        .collect()
}

#[test]
fn a_whole_pki_has_none() {
    assert_eq!(reported(&Machine::complete(&input()), &input(), now()), [""; 0]);
}

#[test]
fn each_fault_is_reported_once_and_where_it_is() {
    type Break = fn(&Machine, &Machine);
    let cases: &[(Break, &[&str])] = &[
        (|machine, _| machine.remove("pki/apiserver.crt"), &["apiserver: missing"]),
        (
            |machine, _| machine.write("pki/etcd/server.crt", "x"),
            &["etcd-server: unreadable: it holds no PEM certificate"],
        ),
        (|machine, _| machine.remove("pki/etcd/peer.key"), &["etcd-peer: key mismatch"]),
        (|machine, other| machine.take("pki/apiserver.key", other), &["apiserver: key mismatch"]),
        (|machine, other| machine.take("pki/apiserver.crt", other), &["apiserver: foreign"]),
        (|machine, other| machine.take("scheduler.conf", other), &["scheduler.conf: foreign"]),
        (|machine, other| machine.take("pki/ca.crt", other), &["ca: key mismatch"]),
        (
            |machine, other| {
                machine.take("pki/etcd/ca.crt", other);
                machine.take("pki/etcd/ca.key", other);
            },
            &["etcd-ca: exchanged"],
        ),
        (|machine, _| machine.remove("pki/ca.crt"), &["ca: missing"]),
    ];
    let other = Machine::complete(&input());
    for (number, (damage, expected)) in cases.iter().enumerate() {
        let machine = Machine::complete(&input());
        damage(&machine, &other);
        assert_eq!(reported(&machine, &input(), now()), *expected, "case {number}");
    }
}

#[test]
fn time_goes_by() {
    let machine = Machine::complete(&input());
    let words = |days| reported(&machine, &input(), days_later(days));
    assert_eq!(words(300), [""; 0]);
    assert!(words(340).iter().all(|reported| reported.ends_with("ends soon")) && !words(340).is_empty());
    assert!(words(366).iter().all(|reported| reported.ends_with("expired")) && !words(366).is_empty());
}

#[test]
fn an_address_that_changed_is_lacking() {
    let machine = Machine::complete(&input());
    let moved = Input { ip: [192, 0, 2, 77].into(), ..input() };
    let reported = reported(&machine, &moved, now());
    assert!(reported.contains(&"apiserver: lacks 192.0.2.77".to_owned()), "{reported:?}");
    assert!(reported.contains(&"etcd-server: lacks 192.0.2.77".to_owned()), "{reported:?}");
    assert!(reported.contains(&format!("scheduler.conf: leads to https://{}:6443", input().ip)), "{reported:?}");
}

#[test]
fn files_of_no_table_are_looked_at_one_by_one() {
    let (machine, other) = (Machine::complete(&input()), Machine::complete(&input()));
    let (file, ca) = (machine.read("kube-proxy.conf"), machine.read("pki/ca.crt"));
    let server = "https://127.0.0.1:7443";
    assert_eq!(kubeconfig_flaw(&file, &ca, server, now()), None);
    assert!(matches!(kubeconfig_flaw(&file, &ca, server, days_later(366)), Some(Flaw::Expired { .. })));
    assert!(matches!(kubeconfig_flaw(&file, &ca, "https://x", now()), Some(Flaw::OtherServer { .. })));
    let foreign = other.read("pki/ca.crt");
    assert!(matches!(kubeconfig_flaw(&file, &foreign, server, now()), Some(Flaw::Foreign { .. })));
    assert!(matches!(kubeconfig_flaw(b"x", &ca, server, now()), Some(Flaw::Unreadable { .. })));

    let pair = [machine.read("pki/apiserver.crt"), machine.read("pki/apiserver.key")].concat();
    assert_eq!(certificate_flaw(&pair, &ca, now()), None);
    assert!(matches!(certificate_flaw(&pair, &foreign, now()), Some(Flaw::Foreign { .. })));
    assert!(matches!(certificate_flaw(&pair, &ca, days_later(350)), Some(Flaw::EndsSoon { .. })));
    let mixed = [machine.read("pki/apiserver.crt"), other.read("pki/apiserver.key")].concat();
    assert_eq!(certificate_flaw(&mixed, &ca, now()), Some(Flaw::KeyMismatch));
}
