//! Every file of a complete PKI, damaged in every way, and what the plan says of it.

use pki::table;

use crate::machine::{Machine, input, now, outcome, written};

type Damage = fn(&Machine, &str, &Machine);

const DAMAGES: &[(&str, Damage)] = &[
    ("deleted", |machine, name, _| machine.remove(name)),
    ("emptied", |machine, name, _| machine.write(name, "")),
    ("truncated", |machine, name, _| {
        let whole = machine.read(name);
        machine.write(name, &whole[..whole.len() / 2]);
    }),
    ("of another cluster", |machine, name, other| machine.take(name, other)),
    ("swapped with another of its kind", |machine, name, _| {
        let kind = name.rsplit_once('.').unwrap().1;
        let stand_in = match (kind, name) {
            ("key", "pki/apiserver.key") => "pki/etcd/peer.key",
            ("key", _) => "pki/apiserver.key",
            ("crt", "pki/apiserver.crt") => "pki/apiserver-kubelet-client.crt",
            ("conf", "scheduler.conf") => "admin.conf",
            ("conf", _) => "scheduler.conf",
            _ => "pki/apiserver.crt",
        };
        machine.write(name, machine.read(stand_in));
    }),
];

#[test]
fn every_file_in_every_way() {
    let other = Machine::complete(&pki::Input { cluster: "other".into(), ..input() });
    let machine = Machine::complete(&input());
    let whole = contents(&machine);
    let mut lines = Vec::new();
    for file in table::files() {
        for (what, damage) in DAMAGES {
            for (name, bytes) in &whole {
                machine.restore(name, bytes);
            }
            damage(&machine, &file, &other);
            let result = machine.plan(&input(), now());
            lines.push(format!("{file} {what}: {}", outcome(&result)));
            if let Ok(changes) = result {
                machine.apply(&changes);
                assert_eq!(outcome(&machine.plan(&input(), now())), "nothing to do", "{file} {what}");
            }
        }
    }
    insta::assert_snapshot!(lines.join("\n"));
}

fn contents(machine: &Machine) -> Vec<(String, Vec<u8>)> {
    table::files().into_iter().map(|name| (name.clone(), machine.read(&name))).collect()
}

#[test]
fn a_changed_byte_is_reported_or_repaired_and_never_costs_a_ca() {
    let machine = Machine::complete(&input());
    let whole = contents(&machine);
    let shared: Vec<String> = table::CAS
        .iter()
        .flat_map(|row| [row.key(), row.certificate()])
        .chain([table::SERVICE_ACCOUNT.key.into(), table::SERVICE_ACCOUNT.public.into()])
        .collect();
    for (file, bytes) in &whole {
        for position in (0..bytes.len()).step_by(bytes.len() / 8) {
            let mut changed = bytes.clone();
            changed[position] ^= 1;
            machine.write(file, changed);
            if let Ok(changes) = machine.plan(&input(), now()) {
                assert!(written(&changes).iter().all(|name| !shared.contains(name)), "{file} at {position}");
                machine.apply(&changes);
                assert_eq!(outcome(&machine.plan(&input(), now())), "nothing to do", "{file} at {position}");
            }
            machine.restore(file, bytes);
        }
    }
}

#[test]
fn all_problems_are_reported_at_once() {
    let machine = Machine::complete(&input());
    for name in ["pki/ca.crt", "pki/sa.pub", "pki/etcd/peer.key", "scheduler.conf"] {
        machine.write(name, "nonsense");
    }
    insta::assert_snapshot!(outcome(&machine.plan(&input(), now())).replace("; ", "\n"));
}
