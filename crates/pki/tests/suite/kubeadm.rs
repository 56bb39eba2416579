//! The evaluation of kubeadm, where it is at hand.

use std::process::Command;

use crate::machine::{Machine, input};

#[test]
fn it_finds_every_certificate_in_its_place() {
    if Command::new("kubeadm").arg("version").output().is_err() {
        println!("kubeadm is not at hand: its view of the layout was not asked for");
        return;
    }
    let machine = Machine::new();
    machine.apply(&machine.plan(&input(), jiff::Timestamp::now()).unwrap());
    let output = Command::new("kubeadm")
        .args(["certs", "check-expiration", "--cert-dir"])
        .arg(machine.at("pki"))
        .output()
        .unwrap();
    let reported = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // kubeadm looks for kubeconfigs in its own directory only, so they are not asked for here.
    let pairs = pki::table::LEAVES.iter().filter(|leaf| matches!(leaf.kept, pki::table::Kept::Pair { .. }));
    for name in pairs.map(|leaf| leaf.name).chain(pki::table::CAS.iter().map(|row| row.name)) {
        let line = reported.lines().find(|line| line.split_whitespace().next() == Some(name));
        assert!(line.is_some_and(|line| !line.contains("MISSING")), "{name}: {reported}");
    }
}
