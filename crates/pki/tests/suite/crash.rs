//! A crash after any number of changes is followed by a plan that leaves nothing to do, and never replaces what is
//! shared.

use host::Change;
use pki::{Which, table};

use crate::machine::{Machine, input, now, written};

fn complete_and_check(machine: &Machine, applied: &[Change]) {
    let shared: Vec<String> =
        table::CAS.iter().map(|row| row.key()).chain([table::SERVICE_ACCOUNT.key.into()]).collect();
    let next = machine.plan(&input(), now()).unwrap();
    for name in written(applied).iter().filter(|name| shared.contains(name)) {
        assert!(!written(&next).contains(name), "{name} is written twice");
    }
    machine.apply(&next);
    assert_eq!(machine.plan(&input(), now()).unwrap(), [], "after {} changes", applied.len());
}

#[test]
fn while_everything_is_made() {
    let whole = Machine::new().plan(&input(), now()).unwrap();
    for done in 0..=whole.len() {
        let machine = Machine::new();
        machine.apply(&whole[..done]);
        complete_and_check(&machine, &whole[..done]);
    }
}

#[test]
fn while_everything_is_renewed() {
    let machine = Machine::complete(&input());
    let whole = pki::renewal(&machine.existing(), &input(), now(), Which::All).unwrap();
    for done in 0..=whole.len() {
        machine.apply(&whole[..done]);
        complete_and_check(&machine, &whole[..done]);
    }
}
