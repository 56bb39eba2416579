//! More nodes than may be worked on at once, and one of them dies in its turn. And names that two of them have.
//!
//! A process holds dpkg's lock on every machine, so a run stands still until it is let on: who works, who waits and who dies
//! is no matter of luck.

use jiff::Timestamp;
use prep::{Prep, Report, State, paths};
use serde_json::{Value, json};

use crate::{
    MASTER,
    node::{
        NAME, NAME_NOTE, WAITING, await_whole, copy, hold_lock, initiator_name, invocation, log_since, release_lock,
        report, runs, write,
    },
    pods::{await_running, bring_manifests, log},
    support::{Check, Cluster, eventually},
    turns::holders,
};

const NODES: [&str; 5] = [MASTER, "worker-01", "worker-02", "worker-03", "worker-04"];

/// How many are worked on at once.
const LIMIT: usize = 2;

/// As the guide shows how to change what the manifests say.
const LIMITED: &str = r#"resources: [infrastructure/node-bootstrap/iscsi]
patches:
  - patch: |
      apiVersion: apps/v1
      kind: DaemonSet
      metadata: {name: rke2-node-bootstrap-iscsi, namespace: kube-system}
      spec: {template: {spec: {containers: [{name: installer, env: [{name: MAX_CONCURRENT, value: "2"}]}]}}}
"#;

/// A slot is free a minute after it was last renewed, which may have been a while before its holder died.
const SOONEST: u64 = 30;

/// In this order: each begins where the one before it has ended.
const CHECKS: &[Check] = &[
    ("of five nodes two are worked on, and the others wait for their turn", others_wait),
    ("a second run on a machine is refused, and names the first", second_run),
    ("a machine that dies in its turn keeps no other, and is prepared when it is back", dies),
    ("never were more than two nodes worked on, and every slot was given back", never_more),
    ("two nodes of one initiator name are reported, until each has its own", same_name),
];

#[test]
#[ignore = "five machines, and a lease has to run out: in `cargo xtask test --full`, or with `--ignored`"]
fn of_many_nodes_few_are_worked_on() {
    crate::check(made, &[CHECKS]);
}

fn made() -> Cluster {
    let cluster = Cluster::sealed(1, 4);
    for machine in NODES {
        cluster.install(&cluster.sealed_dir(machine), machine);
    }
    cluster.await_ready(&NODES);
    cluster
}

fn others_wait(cluster: &Cluster) {
    for node in NODES {
        hold_lock(cluster, node);
    }
    let moment = Timestamp::now();
    bring_manifests(cluster);
    write(cluster, MASTER, "/root/kustomization.yaml", LIMITED);
    cluster.kubectl(&["apply", "-k", "/root"]);
    await_running(cluster, Prep::Iscsi, &NODES);
    let waits_for_lock = |node: &String| log_since(cluster, node, Prep::Iscsi, moment).contains(WAITING);
    eventually("as many nodes as may have come as far as dpkg's lock", || {
        let turn = in_turn(cluster);
        turn.len() == LIMIT && turn.iter().all(waits_for_lock)
    });
    let turn = in_turn(cluster);
    eprintln!("  it is the turn of {}", turn.join(" and "));
    for node in others(&turn) {
        eventually(&format!("the pod of {node} says whom it waits for"), || {
            let log = log(cluster, node, Prep::Iscsi);
            log.contains("waiting for a slot; other nodes hold 2 of 2") && turn.iter().all(|node| log.contains(node))
        });
        assert!(report(cluster, node, Prep::Iscsi).is_none(), "{node} has not begun");
    }
    assert_eq!(in_turn(cluster), turn);
}

/// The nodes that hold a slot, in order.
fn in_turn(cluster: &Cluster) -> Vec<String> {
    let mut nodes: Vec<String> = holders(cluster, Prep::Iscsi).into_iter().map(|(_, node)| node).collect();
    nodes.sort_unstable();
    nodes
}

fn others(nodes: &[String]) -> impl Iterator<Item = &'static str> {
    NODES.into_iter().filter(|node| nodes.iter().all(|one| one != node))
}

fn second_run(cluster: &Cluster) {
    let node = &in_turn(cluster)[0];
    let first = invocation(cluster, node, Prep::Iscsi);
    let second = cluster.try_sh(node, "blackstart prep iscsi");
    second.refused(1, "BS-ENGINE-001");
    eprintln!("  {}", second.err.lines().next().unwrap_or_default());
    let process = cluster.sh(node, &format!("systemctl show -p MainPID --value {}", paths::unit(Prep::Iscsi)));
    assert!(second.err.contains(&format!("process {process}, ")), "{process}: {second:?}");
    assert_eq!(invocation(cluster, node, Prep::Iscsi), first, "the first one goes on");
    let state = report(cluster, node, Prep::Iscsi).map(|Report { state, .. }| state);
    assert_eq!(state, Some(State::Working), "and what there is to say is left to it");
}

/// The other node in turn stands still meanwhile: the only slot that can become free is that of the dead.
fn dies(cluster: &Cluster) {
    let turn = in_turn(cluster);
    let dead = turn.last().expect("a node in turn").as_str();
    let busy = turn[0].as_str();
    assert!(dead != MASTER && dead != busy, "{turn:?}");
    let of_busy = invocation(cluster, busy, Prep::Iscsi);
    cluster.lab.run("kill", &[dead]).ok();
    let moment = Timestamp::now();
    for node in others(&turn) {
        release_lock(cluster, node);
    }
    for node in others(&turn) {
        await_whole(cluster, node, moment);
    }
    let first = others(&turn).filter_map(|node| runs(cluster, node, Prep::Iscsi).first().map(|run| run.began)).min();
    let after = first.unwrap().saturating_sub(u64::try_from(moment.as_microsecond()).unwrap()) / 1_000_000;
    eprintln!("  {dead} died; {after} s later its slot was another's");
    assert!(after >= SOONEST, "a slot was taken from a run that may have been alive: after {after} s");
    assert_eq!(invocation(cluster, busy, Prep::Iscsi), of_busy, "{busy} has stood still all the time");
    assert!(in_turn(cluster).iter().any(|node| node == busy), "and has kept its slot");
    release_lock(cluster, busy);
    await_whole(cluster, busy, moment);

    cluster.lab.up(1, 4).ok();
    let back = Timestamp::now();
    let report = await_whole(cluster, dead, moment);
    assert_eq!(report.boot_id, cluster.lab.boot(dead), "it was prepared in this boot");
    eprintln!("  {dead} is prepared {} s after it is back", report.at.duration_since(back).as_secs());
}

fn never_more(cluster: &Cluster) {
    eventually("no node holds a slot", || in_turn(cluster).is_empty());
    let all: Vec<_> = NODES.into_iter().flat_map(|node| runs(cluster, node, Prep::Iscsi)).collect();
    assert!(all.len() > NODES.len(), "one for each, and one that died: {all:?}");
    // The most there are at once, there are when one begins.
    let at_once = |moment: u64| all.iter().filter(|run| run.began <= moment && moment < run.ended).count();
    let most = all.iter().map(|run| at_once(run.began)).max();
    eprintln!("  {} runs on {} nodes, {} at once", all.len(), NODES.len(), most.unwrap_or_default());
    assert_eq!(most, Some(LIMIT), "{all:?}");
}

/// Both ways to a name of its own: the program sees that the disk is another machine's, or the operator does as the hint says.
fn same_name(cluster: &Cluster) {
    let [_, one, other, ..] = NODES;
    let name = initiator_name(cluster, one);
    let fixes: [(&str, &dyn Fn()); 2] = [
        ("its disk is known to be another machine's", &|| copy(cluster, NAME_NOTE, one, other)),
        ("the name is removed", &|| drop(cluster.sh(other, &format!("rm {NAME}")))),
    ];
    for (fix, act) in fixes {
        // As an operator might have chosen it: the machine itself cannot know better.
        copy(cluster, NAME, one, other);
        run_by_hand(cluster, other);
        assert_eq!(initiator_name(cluster, other), name);
        eventually("`prep status` shows both", || {
            let shown = same_names(cluster);
            shown[0]["nodes"] == json!([one, other]) && shown[0]["initiatorName"] == name.as_str()
        });
        let shown = cluster.try_sh(MASTER, "blackstart prep status");
        let line = format!("BS-PREP-044: {one}, {other} have the same initiator name, {name}");
        assert!(shown.code == Some(1) && shown.out.contains(&line), "{shown:?}");
        eprintln!("  {line}");
        act();
        run_by_hand(cluster, other);
        eventually("`prep status` shows none", || same_names(cluster) == json!([]));
        assert_eq!(initiator_name(cluster, one), name);
        eprintln!("  {fix}: {other} is {}", initiator_name(cluster, other));
        assert_ne!(initiator_name(cluster, other), name);
    }
}

fn same_names(cluster: &Cluster) -> Value {
    let output = cluster.try_sh(MASTER, "blackstart prep status -o json");
    serde_json::from_str::<Value>(&output.out).unwrap_or_else(|error| panic!("{error}: {output:?}"))["sameNames"]
        .clone()
}

/// As the hint says; again, where the pod has just begun to look by itself.
fn run_by_hand(cluster: &Cluster, node: &str) {
    eventually(&format!("{node} is looked at"), || {
        !cluster.try_sh(node, "/usr/local/bin/iscsi-bootstrap.sh").err.contains("BS-ENGINE-001")
    });
}
