//! Renewal: what is chosen, and that it is new.

use explain::Explain;
use pki::Which;

use crate::machine::{Machine, days_later, input, now, outcome};

fn renew(machine: &Machine, day: i64, which: Which<'_>) -> String {
    outcome(&pki::renewal(&machine.existing(), &input(), days_later(day), which))
}

#[test]
fn due_is_two_thirds_of_the_lifetime() {
    let machine = Machine::complete(&input());
    assert_eq!(renew(&machine, 243, Which::Due), "nothing to do");
    assert_eq!(renew(&machine, 244, Which::Due), renew(&machine, 0, Which::All));

    let one = pki::renewal(&machine.existing(), &input(), days_later(100), Which::One("etcd-peer")).unwrap();
    machine.apply(&one);
    assert!(!renew(&machine, 244, Which::Due).contains("pki/etcd/peer"));
    assert_eq!(renew(&machine, 344, Which::Due), renew(&machine, 0, Which::All));
}

/// The clock was a day ahead, and was set right.
#[test]
fn what_a_wrong_clock_has_made_is_due() {
    let machine = Machine::complete(&input());
    machine.apply(&pki::renewal(&machine.existing(), &input(), days_later(1), Which::One("apiserver")).unwrap());
    let due = pki::renewal(&machine.existing(), &input(), now(), Which::Due).unwrap();
    assert_eq!(due.len(), 2, "key and certificate of one: {due:?}");
    machine.apply(&due);
    assert_eq!(renew(&machine, 0, Which::Due), "nothing to do");
    assert_eq!(machine.plan(&input(), now()).unwrap(), []);
}

#[test]
fn all_are_the_leaves_and_only_they() {
    insta::assert_snapshot!(renew(&Machine::complete(&input()), 0, Which::All));
}

#[test]
fn key_and_certificate_are_new_and_fit() {
    let machine = Machine::complete(&input());
    let before = (machine.read("pki/apiserver.key"), machine.read("pki/apiserver.crt"), machine.read("pki/ca.crt"));
    machine.apply(&pki::renewal(&machine.existing(), &input(), days_later(1), Which::One("apiserver")).unwrap());
    assert_ne!(machine.read("pki/apiserver.key"), before.0);
    assert_ne!(machine.read("pki/apiserver.crt"), before.1);
    assert_eq!(machine.read("pki/ca.crt"), before.2);
    assert_eq!(machine.plan(&input(), days_later(1)).unwrap(), []);
}

#[test]
fn one_that_is_asked_for_by_name_is_made_in_whatever_state_it_is() {
    let machine = Machine::complete(&input());
    machine.write("pki/apiserver.crt", "nonsense");
    machine.take("scheduler.conf", &Machine::complete(&input()));
    for name in ["apiserver", "scheduler.conf"] {
        machine.apply(&pki::renewal(&machine.existing(), &input(), now(), Which::One(name)).unwrap());
    }
    assert_eq!(machine.plan(&input(), now()).unwrap(), []);
}

#[test]
fn a_broken_file_does_not_keep_the_others_from_renewal() {
    let machine = Machine::complete(&input());
    machine.write("pki/apiserver.crt", "nonsense");
    machine.take("scheduler.conf", &Machine::complete(&input()));
    let due = renew(&machine, 300, Which::Due);
    assert!(due.starts_with("writes pki/apiserver-kubelet-client.key"), "{due}");
    assert!(!due.contains("scheduler.conf"), "a certificate of an external CA is not ours to renew");
}

#[test]
fn a_wrong_name_is_answered_with_the_right_one() {
    let machine = Machine::complete(&input());
    let mut lines = Vec::new();
    for name in ["apisever", "etcd/peer", "admin", "nonsense", "", "ca", "etcd-ca", "sa"] {
        let problems = pki::renewal(&machine.existing(), &input(), now(), Which::One(name)).unwrap_err();
        let hint = problems.advice();
        lines.push(format!("{} {problems}\n  hint: {hint}", problems.code()));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_ca_that_cannot_sign_is_reported_once() {
    let machine = Machine::complete(&input());
    machine.write("pki/etcd/ca.key", "nonsense");
    assert_eq!(
        renew(&machine, 0, Which::All),
        "BS-PKI-002 cannot use /etc/kubernetes/pki/etcd/ca.key: it holds no PEM private key"
    );
}
