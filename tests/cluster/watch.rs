//! `watch` shows every node from anywhere: what it does before it has joined, that it is silent and that it is back.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use secrecy::ExposeSecret;
use serde_json::Value;

use crate::support::{Check, Cluster, CommandOutput, PROGRAM, eventually, run, text};

/// Made while worker-02 waits for a master that is off.
pub(crate) const WITHOUT_A_MASTER: Check = ("`watch` shows for whom a worker waits, for how long, and why", waits);

/// Made when worker-01 has never joined and the others have.
pub(crate) const BEFORE_JOINING: &[Check] = &[
    ("a machine that has not joined is heard", heard_early),
    ("no node reports for another, and no report counts twice", forged),
];

/// Made when all have joined.
pub(crate) const CHECKS: &[Check] = &[
    ("all nodes are shown from every node and from the computer of the lab", from_everywhere),
    ("changes are shown as they happen, until Ctrl-C", stream),
    ("a paused machine is silent, and comes back", paused),
    ("a machine that is cut off is silent, and comes back", cut_off),
    ("a unit that fails is shown", failing_unit),
];

fn waits(cluster: &Cluster) {
    for check in [|cluster: &Cluster| from_machine(cluster, "worker-02"), from_lab] {
        // What follows is asked of one view: a moment later the worker may be at a step that needs no master.
        let mut view = Value::Null;
        eventually("it only waits", || {
            view = check(cluster);
            node(&view, "worker-02")["state"] == "waiting"
        });
        let worker = node(&view, "worker-02");
        let run = &worker["run"];
        assert!(run["done"].as_u64() > Some(0) && run["done"].as_u64() < run["total"].as_u64(), "{view:#}");
        let step = &run["steps"][0];
        assert_eq!((text(&step["id"]).as_str(), text(&step["state"]).as_str()), ("await-master", "waiting"));
        let whom = format!("the master at {}:7444 to answer (since ", cluster.ip("master-01"));
        assert!(text(&step["what"]).starts_with(&whom), "{view:#}");
        assert!(step["since"].is_string(), "{view:#}");
    }
    let view = from_machine(cluster, "worker-02");
    assert_eq!(view["masters"][0]["state"], "silent", "{view:#}");
    assert_eq!(view["masters"][0]["code"], "BS-JOIN-019", "{view:#}");
    assert_eq!(node(&view, "worker-01")["state"], "unknown", "{view:#}");
    let shown = cluster.sh("worker-02", "blackstart watch");
    assert!(shown.contains("await-master  waiting ") && shown.contains(" for the master at "), "{shown}");
    assert!(shown.contains("master-01 does not answer for "), "{shown}");
    assert_eq!(node(&from_lab(cluster), "worker-01")["state"], "starting", "it is on, and nothing was started");
}

fn heard_early(cluster: &Cluster) {
    cluster.bring(&cluster.sealed_dir("worker-01"), "worker-01");
    cluster.sh("worker-01", "systemd-run --unit early-agent blackstart agent --node worker-01");
    let seen = || node(&from_machine(cluster, "master-01"), "worker-01");
    eventually("the masters have heard of it", || seen()["joined"] == false);
    let seen = seen();
    assert_eq!(seen["state"], "starting", "{seen:#}");
    assert!(seen["version"].is_string() && seen["heard"].is_string(), "{seen:#}");
    assert_eq!(cluster.kubectl(&["get", "nodes", "worker-01", "--ignore-not-found"]), "", "and that is all");
    cluster.sh("worker-01", "systemctl stop early-agent");
}

fn forged(cluster: &Cluster) {
    let own = |node: &str| cluster.secret(node).claimed();
    let before = node(&from_lab(cluster), "worker-01")["version"].clone();
    let lie = r#"{"node":"worker-01","role":"worker","units":{},"version":"forged"}"#;

    let mut of_another = cluster.early_report("worker-01", own("worker-02"), lie);
    of_another.prove(cluster.secret("worker-02").bytes().expose_secret());
    assert_eq!(cluster.send_report_from("worker-02", &of_another), Err("BS-JOIN-004".to_owned()));
    let mut posing = cluster.early_report("worker-01", own("worker-01"), lie);
    posing.prove(cluster.secret("worker-02").bytes().expose_secret());
    assert_eq!(cluster.send_report_from("worker-02", &posing), Err("BS-JOIN-002".to_owned()));
    let mut elsewhere = cluster.early_report("worker-01", own("worker-01"), lie);
    elsewhere.prove(cluster.secret("worker-01").bytes().expose_secret());
    assert_eq!(cluster.send_report_from("worker-02", &elsewhere), Err("BS-JOIN-007".to_owned()));
    assert_eq!(node(&from_lab(cluster), "worker-01")["version"], before, "nothing of it is shown");

    let honest = lie.replace("forged", "honest");
    let mut recorded = cluster.early_report("worker-01", own("worker-01"), &honest);
    recorded.prove(cluster.secret("worker-01").bytes().expose_secret());
    assert_eq!(cluster.send_report_from("worker-01", &recorded), Ok(()));
    assert_eq!(node(&from_lab(cluster), "worker-01")["version"], "honest");
    assert_eq!(cluster.send_report_from("worker-01", &recorded), Err("BS-JOIN-009".to_owned()));
    let journal = cluster.journal("master-01", "blackstart-agent");
    for code in ["BS-JOIN-002", "BS-JOIN-004", "BS-JOIN-007", "BS-JOIN-009"] {
        let is_it = |line: &str| line.contains(code) && line.contains("early report");
        assert!(journal.lines().any(is_it), "{code} in:\n{journal}");
    }
}

fn from_everywhere(cluster: &Cluster) {
    let all_ready = |view: &Value| Cluster::MACHINES.iter().all(|name| node(view, name)["state"] == "ready");
    eventually("a master sees all nodes", || all_ready(&from_machine(cluster, "master-01")));
    assert_eq!(from_machine(cluster, "master-01")["masters"][0]["state"], "answers");
    for machine in Cluster::WORKERS {
        let view = from_machine(cluster, machine);
        assert_eq!(
            (&node(&view, machine)["state"], &view["masters"][0]["state"]),
            (&"ready".into(), &"api-ready".into())
        );
        let shown = cluster.sh(machine, "blackstart watch --once");
        assert!(shown.contains("`blackstart watch` on a master shows all"), "{shown}");
    }
    let view = from_lab(cluster);
    assert!(all_ready(&view), "{view:#}");
    for name in Cluster::MACHINES {
        let node = node(&view, name);
        let run = &node["run"];
        assert_eq!((&run["done"], run["steps"].as_array().map(Vec::len)), (&run["total"], Some(0)), "{node:#}");
        assert!(node["version"].is_string() && node["heard"].is_string() && node["power"] == "on", "{node:#}");
    }
    let shown = run(PROGRAM, &["watch", "--lab", &cluster.lab.name]).ok();
    assert!(shown.contains("3 of 3 nodes ready") && shown.contains("heard "), "{shown}");
}

fn stream(cluster: &Cluster) {
    let mut watch = Command::new(PROGRAM);
    watch.args(["watch", "--lab", &cluster.lab.name, "-o", "json"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut watching = watch.spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["v"], 1);
    cluster.lab.run("pause", &["worker-02"]).ok();
    while node(&next(), "worker-02")["power"] != "paused" {}
    cluster.lab.run("resume", &["worker-02"]).ok();
    while node(&next(), "worker-02")["power"] != "on" {}
    run("kill", &["-INT", &watching.id().to_string()]).ok();
    assert_eq!(watching.wait().unwrap().code(), Some(130));
}

fn paused(cluster: &Cluster) {
    cluster.lab.run("pause", &["worker-02"]).ok();
    becomes_silent(cluster, "worker-02");
    assert_eq!(node(&from_lab(cluster), "worker-02")["note"], "the machine is paused");
    cluster.lab.run("resume", &["worker-02"]).ok();
    comes_back(cluster, "worker-02");
}

fn cut_off(cluster: &Cluster) {
    cluster.lab.run("cut", &["worker-02"]).ok();
    becomes_silent(cluster, "worker-02");
    let seen = node(&from_lab(cluster), "worker-02");
    assert_eq!(
        (text(&seen["note"]).as_str(), &seen["power"]),
        ("the machine is cut off from everything", &"on".into())
    );
    // A node that is cut off sees that, and the last reports stay as of then.
    let own = from_machine(cluster, "worker-02");
    assert_eq!(own["masters"][0]["state"], "silent", "{own:#}");
    assert_eq!(node(&own, "worker-02")["state"], "ready", "its own machine it still sees: {own:#}");
    cluster.lab.run("heal", &[]).ok();
    comes_back(cluster, "worker-02");
}

/// From a master and from the computer of the lab.
fn becomes_silent(cluster: &Cluster, name: &str) {
    let silent = |view: &Value| node(view, name)["state"] == "silent";
    eventually("it is silent for the master", || silent(&from_machine(cluster, "master-01")));
    eventually("it is silent for the lab", || silent(&from_lab(cluster)));
    for view in [from_machine(cluster, "master-01"), from_lab(cluster)] {
        let seen = node(&view, name);
        assert_eq!((seen["since"].is_string(), &seen["since"]), (true, &seen["heard"]), "since when: {seen:#}");
    }
    let shown = cluster.sh("master-01", "blackstart watch --once");
    let line = shown.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(line.contains("! silent") && line.contains("nothing heard since "), "{shown}");
}

fn comes_back(cluster: &Cluster, name: &str) {
    let ready = |view: &Value| node(view, name)["state"] == "ready";
    eventually("it is heard again by the master", || ready(&from_machine(cluster, "master-01")));
    eventually("it is heard again by the lab", || ready(&from_lab(cluster)));
}

fn failing_unit(cluster: &Cluster) {
    let drop_in = "/run/systemd/system/kube-proxy.service.d";
    let fail = format!(
        "mkdir -p {drop_in} && printf '[Service]\\nExecStart=\\nExecStart=/bin/false\\n' > {drop_in}/fail.conf"
    );
    cluster.sh("worker-01", &format!("{fail} && systemctl daemon-reload && systemctl restart kube-proxy; true"));
    let seen = || node(&from_machine(cluster, "master-01"), "worker-01");
    eventually("it is named", || {
        let seen = seen();
        seen["state"] == "not-ready" && seen["failing_units"]["kube-proxy.service"].is_string()
    });
    cluster.sh("worker-01", &format!("rm -r {drop_in} && systemctl daemon-reload && systemctl reset-failed kube-proxy; systemctl restart kube-proxy"));
    eventually("it is well again", || seen()["state"] == "ready");
}

fn from_machine(cluster: &Cluster, machine: &str) -> Value {
    parsed(cluster.try_sh(machine, "blackstart watch --once -o json"))
}

fn from_lab(cluster: &Cluster) -> Value {
    parsed(run(PROGRAM, &["watch", "--lab", &cluster.lab.name, "--once", "-o", "json"]))
}

#[track_caller]
fn parsed(output: CommandOutput) -> Value {
    serde_json::from_str(&output.ok()).unwrap()
}

#[track_caller]
fn node(view: &Value, name: &str) -> Value {
    let nodes = view["nodes"].as_array().unwrap();
    nodes.iter().find(|node| node["name"] == name).unwrap_or_else(|| panic!("{name} in {view:#}")).clone()
}
