//! What people and scripts are shown.

use pki::{inventory, show};

use crate::machine::{Machine, days_later, input, now};

fn damaged() -> Machine {
    let machine = Machine::complete(&input());
    let other = Machine::complete(&pki::Input { cluster: "other".into(), ..input() });
    machine.remove("pki/front-proxy-ca.key");
    machine.take("pki/etcd/ca.key", &other);
    machine.remove("pki/sa.key");
    machine.remove("pki/apiserver.key");
    machine.remove("pki/apiserver-etcd-client.crt");
    machine.take("pki/etcd/peer.crt", &other);
    machine.take("pki/etcd/server.key", &other);
    machine.write("scheduler.conf", "nonsense");
    machine
}

#[test]
fn a_healthy_pki() {
    let machine = Machine::complete(&input());
    insta::assert_snapshot!(show(&inventory(&machine.existing(), now()), false));
}

#[test]
fn urgency_is_a_word_and_a_colour() {
    let machine = Machine::complete(&input());
    let renewed = pki::renewal(&machine.existing(), &input(), days_later(300), pki::Which::One("apiserver")).unwrap();
    machine.apply(&renewed);
    let renewed = pki::renewal(&machine.existing(), &input(), days_later(100), pki::Which::One("etcd-peer")).unwrap();
    machine.apply(&renewed);
    for day in [100, 250, 350, 400] {
        let entries = inventory(&machine.existing(), days_later(day));
        let plain = show(&entries, false);
        let coloured = show(&entries, true);
        assert!(coloured.contains('\u{1b}'));
        assert_eq!(uncoloured(&coloured), plain, "colour changes nothing else");
    }
    let coloured = show(&inventory(&machine.existing(), days_later(350)), true);
    insta::assert_snapshot!(coloured.replace('\u{1b}', "^"));
}

fn uncoloured(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap().to_owned();
    first + &parts.map(|part| part.split_once('m').unwrap().1).collect::<String>()
}

#[test]
fn a_damaged_pki() {
    insta::assert_snapshot!(show(&inventory(&damaged().existing(), now()), false));
}

#[test]
fn an_empty_machine() {
    insta::assert_snapshot!(show(&inventory(&Machine::new().existing(), now()), false));
}

#[test]
fn scripts_get_the_same_as_json() {
    let entries = inventory(&damaged().existing(), now());
    let chosen: Vec<_> = entries.iter().filter(|entry| ["ca", "sa", "apiserver"].contains(&entry.name)).collect();
    insta::assert_snapshot!(serde_json::to_string_pretty(&chosen).unwrap());
}
