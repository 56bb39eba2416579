//! Rotation: every stage leaves nothing to do, also after a crash anywhere in it, and what is shown fits what is trusted
//! before and after.

use std::path::Path;

use pki::{Stage, Successors, table};

use crate::{
    machine::{Machine, days_later, input, now, outcome, written},
    openssl::verify_at,
};

fn rotate(machine: &Machine, successors: &Successors, stage: Stage) -> Vec<host::Change> {
    pki::rotation(&machine.existing(), &input(), successors, stage, now()).unwrap()
}

fn everything() -> Successors {
    Successors::of_cas(&input().cluster, now()).unwrap().with_service_account().unwrap()
}

fn text(machine: &Machine, name: &str) -> String {
    String::from_utf8(machine.read(name)).unwrap()
}

fn certificates(machine: &Machine, name: &str) -> usize {
    text(machine, name).matches("BEGIN CERTIFICATE").count()
}

#[test]
fn every_stage_writes_what_it_must_and_converges() {
    let machine = Machine::complete(&input());
    let successors = everything();
    for stage in Stage::ALL {
        let changes = rotate(&machine, &successors, stage);
        let names = written(&changes).join("\n");
        insta::assert_snapshot!(format!("rotation_{}", stage.name()), names);
        machine.apply(&changes);
        assert_eq!(rotate(&machine, &successors, stage), [], "{stage:?} converges");
        assert_eq!(outcome(&machine.plan(&input(), now())), "nothing to do", "{stage:?} is a state like any other");
        let trusted = if stage == Stage::Drop { 1 } else { 2 };
        for row in table::CAS {
            assert_eq!(certificates(&machine, &row.certificate()), trusted, "{stage:?} {}", row.name);
        }
        assert_eq!(certificates(&machine, table::SIGNER), 1, "{stage:?}");
        let public = text(&machine, table::SERVICE_ACCOUNT.public);
        assert_eq!(public.matches("BEGIN PUBLIC KEY").count(), trusted, "{stage:?}");
        assert_eq!(pki::faults(&machine.existing(), &input(), now()), [], "{stage:?}");
        let inventory = pki::inventory(&machine.existing(), now());
        assert!(inventory.iter().all(|entry| entry.state == pki::State::Ok), "{stage:?}: {inventory:#?}");
    }
    assert_eq!(text(&machine, "pki/ca.crt"), successors.cluster());
    assert_eq!(text(&machine, table::SIGNER), successors.cluster());
}

/// A node that is a stage behind or ahead is trusted.
#[test]
fn neighbours_believe_each_other() {
    let machine = Machine::complete(&input());
    let successors = everything();
    let servers = ["pki/apiserver.crt", "pki/etcd/peer.crt", "pki/front-proxy-client.crt"];
    let cas = ["pki/ca.crt", "pki/etcd/ca.crt", "pki/front-proxy-ca.crt"];
    let mut earlier = [servers.map(|name| machine.read(name)), cas.map(|name| machine.read(name))];
    for stage in Stage::ALL {
        machine.apply(&rotate(&machine, &successors, stage));
        for (index, (server, ca)) in servers.into_iter().zip(cas).enumerate() {
            machine.write("shown-before", &earlier[0][index]);
            machine.write("trusted-before", &earlier[1][index]);
            verify_at(now(), &machine, ca, &machine.at("shown-before"), &[]).unwrap();
            verify_at(now(), &machine, "trusted-before", &machine.at(server), &[]).unwrap();
        }
        earlier = [servers.map(|name| machine.read(name)), cas.map(|name| machine.read(name))];
    }
    let end = Machine::complete(&input());
    machine.write("shown-before", end.read("pki/apiserver.crt"));
    assert!(verify_at(now(), &machine, "pki/ca.crt", Path::new(&machine.at("shown-before")), &[]).is_err());
}

#[test]
fn a_crash_anywhere_is_gone_on_from() {
    let successors = everything();
    let machine = Machine::complete(&input());
    for stage in Stage::ALL {
        let before: Vec<(String, Vec<u8>)> =
            table::files().into_iter().map(|name| (name.clone(), machine.read(&name))).collect();
        let whole = rotate(&machine, &successors, stage);
        for done in 0..=whole.len() {
            for (name, bytes) in &before {
                machine.restore(name, bytes);
            }
            machine.apply(&whole[..done]);
            // A machine that boots in between completes what is there, at whatever stage it finds itself.
            let boot = machine.plan(&input(), now()).unwrap_or_else(|error| panic!("{stage:?} {done}: {error:?}"));
            machine.apply(&boot);
            machine.apply(&rotate(&machine, &successors, stage));
            assert_eq!(rotate(&machine, &successors, stage), [], "{stage:?} after {done} changes");
        }
    }
}

/// One that was off while the others went on.
#[test]
fn stages_can_be_skipped() {
    let successors = everything();
    let machine = Machine::complete(&input());
    machine.apply(&rotate(&machine, &successors, Stage::Drop));
    assert_eq!(rotate(&machine, &successors, Stage::Drop), []);
    assert_eq!(machine.plan(&input(), now()).unwrap(), []);
}

#[test]
fn a_ca_whose_key_is_elsewhere_is_not_rotated() {
    let machine = Machine::complete(&input());
    let check = || outcome(&pki::check_rotatable(&machine.existing(), &input().cluster, now()).map(|()| Vec::new()));
    assert_eq!(check(), "nothing to do");
    machine.remove("pki/etcd/ca.key");
    insta::assert_snapshot!(check());
}

#[test]
fn a_successor_is_as_good_as_a_first_one() {
    let successors = everything();
    let machine = Machine::complete(&input());
    machine.apply(&rotate(&machine, &successors, Stage::Drop));
    assert_eq!(outcome(&machine.plan(&input(), days_later(100))), "nothing to do");
    let again = everything();
    assert_ne!(again.cluster(), successors.cluster());
    for stage in Stage::ALL {
        machine.apply(&rotate(&machine, &again, stage));
    }
    assert_eq!(text(&machine, "pki/ca.crt"), again.cluster());
}

/// What is not rotated stays as it is, byte for byte.
#[test]
fn only_what_has_a_successor_is_replaced() {
    let [cas, service_account] =
        [Successors::of_cas(&input().cluster, now()).unwrap(), Successors::default().with_service_account().unwrap()];
    for (what, successors, moves) in [
        ("nothing", Successors::default(), [false, false]),
        ("CAs", cas, [true, false]),
        ("service account", service_account, [false, true]),
    ] {
        let machine = Machine::complete(&input());
        let state = || {
            let of = |names: &[&str]| names.iter().map(|name| machine.read(name)).collect::<Vec<_>>();
            [of(&["pki/ca.crt", "pki/ca.key", "pki/etcd/ca.crt"]), of(&["pki/sa.pub", "pki/sa.key"])]
        };
        let before = state();
        for stage in Stage::ALL {
            machine.apply(&rotate(&machine, &successors, stage));
        }
        let after = state();
        assert_eq!([before[0] != after[0], before[1] != after[1]], moves, "{what}");
    }
}

/// Tokens of either key are believed until the last stage, and the first key of the file is the one in use.
#[test]
fn the_key_of_tokens_goes_the_same_way() {
    let machine = Machine::complete(&input());
    let old = (text(&machine, "pki/sa.pub"), text(&machine, "pki/sa.key"));
    let successors = Successors::default().with_service_account().unwrap();
    machine.apply(&rotate(&machine, &successors, Stage::Trust));
    let both = text(&machine, "pki/sa.pub");
    let new = both.strip_prefix(&old.0).unwrap().to_owned();
    assert_eq!(text(&machine, "pki/sa.key"), old.1);
    machine.apply(&rotate(&machine, &successors, Stage::Sign));
    assert_eq!(text(&machine, "pki/sa.pub"), format!("{new}{}", old.0));
    assert_ne!(text(&machine, "pki/sa.key"), old.1);
    machine.apply(&rotate(&machine, &successors, Stage::Drop));
    assert_eq!(text(&machine, "pki/sa.pub"), new);
}
