//! `lab up` over what something else has left behind.

use std::{collections::BTreeSet, fs, process::Stdio};

use crate::support::{Picture, TestLab, run, turn};

#[test]
fn a_bridge_and_a_table_are_left_over() {
    let _turn = turn();
    let before = Picture::take();
    let lab = TestLab::unmade();
    let bridge = format!("bs-{}", lab.name);
    run("ip", &["link", "add", &bridge, "type", "bridge"]).ok();
    run("ip", &["addr", "add", "10.87.255.1/24", "dev", &bridge]).ok();
    run("nft", &["add", "table", "ip", &format!("blackstart_lab_{}", lab.name)]).ok();
    run("nft", &["add", "table", "bridge", &format!("blackstart_cut_{}", lab.name)]).ok();
    lab.up(1, 0).ok();
    assert_eq!(lab.state("master-01"), "running");
    let addresses = run("ip", &["-o", "-4", "addr", "show", "dev", &bridge]).ok();
    assert!(!addresses.contains("10.87.255.1"), "{addresses}");
    lab.destroy().ok();
    before.assert_back("after a lab on a bridge that was left over");
}

#[test]
fn machines_are_half_made_or_left_over() {
    let _turn = turn();
    let before = Picture::take();
    let lab = TestLab::with(1, 1);

    lab.run("kill", &["worker-01"]).ok();
    let machine = lab.dir().join("machines/worker-01");
    fs::remove_file(machine.join("created")).unwrap();
    fs::remove_dir_all(machine.join("upper/etc")).unwrap();
    assert_eq!(lab.state("worker-01"), "missing");
    lab.run("up", &[]).ok();
    assert_eq!(lab.sh("worker-01", "hostname"), "worker-01", "made again as a whole");

    let left: BTreeSet<i32> = lab.processes("master-01").into_iter().collect();
    fs::remove_dir_all(lab.dir()).unwrap();
    lab.up(1, 1).ok();
    let now: BTreeSet<i32> = lab.processes("master-01").into_iter().collect();
    assert!(left.is_disjoint(&now), "what ran of the old machine is ended");
    assert_eq!(lab.state("master-01"), "running");
    lab.destroy().ok();
    before.assert_back("after machines that were left over");
}

#[test]
fn two_at_once_do_not_disturb_each_other() {
    let _turn = turn();
    let (one, other) = (TestLab::unmade(), TestLab::unmade());
    let begin = |lab: &TestLab| {
        let mut up = lab.command("up");
        up.args(TestLab::shape(1, 0)).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let all = [begin(&one), begin(&other), begin(&one)];
    let codes: Vec<_> =
        all.map(|up| up.wait_with_output().unwrap()).into_iter().map(crate::support::CommandOutput::from).collect();
    let of_one = [&codes[0], &codes[2]];
    assert!(of_one.iter().any(|output| output.code == Some(0)), "{codes:?}");
    for output in of_one.iter().filter(|output| output.code != Some(0)) {
        output.refused(1, "BS-LAB-013");
    }
    assert_eq!(codes[1].code, Some(0), "{codes:?}");
    assert_ne!(one.status()["subnet"], other.status()["subnet"]);
    assert_eq!([one.state("master-01"), other.state("master-01")], ["running", "running"]);
}
