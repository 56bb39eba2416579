//! What a node reports of itself: `node status` and `node timeline`, on machines that are well and on machines that are not.

use serde_json::Value;

use crate::support::{Check, Cluster, CommandOutput, eventually};

/// On a cluster that works; it works again at the end.
pub(crate) const CHECKS: &[Check] = &[
    ("a Ready node says so, master and worker", ready),
    ("the timeline of a run has every step, as bars, JSON and SVG", timeline),
    ("a user who is not root sees what cannot be read", not_root),
    ("without etcd and API server, the status says what is wrong", without_a_control_plane),
    ("a run that fails is shown by status and timeline", failed_run),
    ("a run that is killed was interrupted", killed_run),
];

/// On machines that only booted.
pub(crate) const BEFORE: &[Check] = &[("where nothing was ever started, the status says so", never_started)];

/// The exit code and what was printed.
fn status(cluster: &Cluster, machine: &str) -> (i32, Value) {
    let output = cluster.try_sh(machine, "blackstart node status -o json");
    let printed = serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (output.code.unwrap(), printed)
}

fn ready(cluster: &Cluster) {
    for (machine, role, unit) in
        [("master-01", "master-first", "etcd.service"), ("worker-01", "worker", "kubelet.service")]
    {
        eventually(&format!("{machine} is Ready and nothing is wrong"), || status(cluster, machine).0 == 0);
        let (_, status) = status(cluster, machine);
        assert_eq!(
            (&status["state"], &status["role"], &status["node"]),
            (&"ready".into(), &role.into(), &machine.into())
        );
        assert_eq!(status["problems"], Value::Array(Vec::new()));
        assert_eq!(status["inconclusive"], Value::Array(Vec::new()));
        let noted = cluster.sh(machine, "cat /var/lib/cluster-state/cluster-joined");
        assert_eq!(status["joined_at"], noted);
        let units = status["units"].as_array().unwrap();
        assert!(units.iter().any(|found| found["name"] == unit), "{units:#?}");
        assert!(units.iter().all(|unit| unit["health"] == "ok"), "{units:#?}");
        assert!(units.iter().all(|unit| unit["since"].is_string()), "{units:#?}");
        assert_eq!(units.iter().any(|unit| unit["name"] == "kube-apiserver.service"), role != "worker");
        let conditions = status["api"]["conditions"].as_array().unwrap();
        assert!(conditions.iter().any(|found| found["type"] == "Ready" && found["status"] == "True"), "{status:#}");
        assert_eq!(status["api"]["nodes"].as_object().unwrap().len(), Cluster::MACHINES.len());
        assert!(status["certificates"]["next"]["days_left"].as_i64().unwrap() > 0, "{status:#}");

        let text = cluster.sh(machine, "blackstart node status");
        assert!(text.starts_with(&format!("{machine} ({role}) is Ready\n")), "{text}");
        assert!(!text.contains('\u{1b}'), "no colours in a pipe: {text}");
    }
}

fn timeline(cluster: &Cluster) {
    for machine in ["master-01", "worker-01"] {
        let run = cluster.last_up(machine).unwrap();
        let shown: Value = serde_json::from_str(&cluster.sh(machine, "blackstart node timeline -o json")).unwrap();
        assert_eq!((&shown["run"], &shown["outcome"]), (&run.run.clone().into(), &"done".into()));
        let steps = shown["steps"].as_array().unwrap();
        assert_eq!(steps.len(), run.total);
        assert!(steps.iter().all(|step| step["started"].is_string() && step["ended"].is_string()), "{shown:#}");

        let bars = cluster.sh(machine, "blackstart node timeline");
        let svg = cluster.sh(machine, &format!("blackstart node timeline {} -o svg", run.run));
        for step in &run.steps {
            assert!(bars.lines().any(|line| line.starts_with(&format!("{} ", step.id))), "{}:\n{bars}", step.id);
            assert!(svg.contains(&format!(" {}</text>", step.id)), "{}:\n{svg}", step.id);
        }
        let list = cluster.sh(machine, "blackstart node timeline --list");
        assert!(list.contains(&run.run) && list.contains("node detect"), "{list}");
    }
    cluster.try_sh("worker-01", "blackstart node timeline 20000101T000000Z-1").refused(1, "BS-CLI-011");
    cluster.try_sh("worker-01", "blackstart node status -o svg").refused(2, "BS-CLI-012");
}

fn not_root(cluster: &Cluster) {
    let as_user = "setpriv --reuid=nobody --clear-groups blackstart node status -o json";
    for machine in ["master-01", "worker-01"] {
        let output = cluster.try_sh(machine, as_user);
        let status: Value = serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        assert_eq!((output.code, &status["state"]), (Some(1), &"joined".into()), "{status:#}");
        assert_eq!(status["run"]["outcome"], "done", "{status:#}");
        assert!(status["units"].as_array().unwrap().iter().all(|unit| unit["health"] == "ok"), "{status:#}");
        assert!(status["api"]["why"].as_str().unwrap().contains("root may"), "{status:#}");
    }
}

fn without_a_control_plane(cluster: &Cluster) {
    cluster.sh("master-01", "systemctl stop kube-apiserver etcd");
    let (code, master) = status(cluster, "master-01");
    let worker = cluster.try_sh("worker-01", "blackstart node status");
    cluster.sh("master-01", "systemctl start etcd kube-apiserver");

    assert_eq!(
        (code, &master["state"], &master["api"]["reachable"]),
        (1, &"joined".into(), &false.into()),
        "{master:#}"
    );
    let problems = master["problems"].to_string();
    for wrong in ["etcd.service does not run", "kube-apiserver.service does not run", "API not reachable: "] {
        assert!(problems.contains(wrong), "{wrong} in {master:#}");
    }
    assert_eq!(worker.code, Some(1), "{worker:?}");
    assert!(worker.out.contains("API not reachable: "), "{worker:?}");
    eventually("the master is Ready again", || status(cluster, "master-01").0 == 0);
    eventually("the worker is Ready again", || status(cluster, "worker-01").0 == 0);
}

fn failed_run(cluster: &Cluster) {
    let machine = "worker-01";
    let output = cluster.try_sh(machine, "blackstart node up --skip no-such-check");
    assert_failed_run(cluster, machine, &output, "BS-PRE-001");
    // The machine is as Ready as before; the next run says so too.
    cluster.sh(machine, "blackstart node up");
    eventually("the node is as before", || status(cluster, machine).0 == 0);
}

#[track_caller]
fn assert_failed_run(cluster: &Cluster, machine: &str, output: &CommandOutput, error: &str) {
    output.refused(1, error);
    let (code, status) = status(cluster, machine);
    assert_eq!((code, &status["state"]), (1, &"degraded".into()), "{status:#}");
    assert_eq!(status["run"]["outcome"], "failed", "{status:#}");
    assert_eq!(status["run"]["last_error"]["code"], error, "{status:#}");
    let timeline = cluster.sh(machine, "blackstart node timeline");
    assert!(timeline.contains("FAILED") && timeline.contains(&format!("error[{error}]")), "{timeline}");
}

fn killed_run(cluster: &Cluster) {
    let machine = "worker-01";
    // A kubelet that is held still answers no request, so the run waits for it, and is killed while it does.
    cluster.sh(machine, "systemctl kill --signal=STOP kubelet");
    cluster.sh(machine, "systemd-run --collect --unit=killed-run blackstart node up");
    eventually("the run waits for the kubelet", || {
        let (code, status) = status(cluster, machine);
        code == 3 && status["run"]["steps"].as_array().is_some_and(|all| all.iter().any(|one| one["id"] == "kubelet"))
    });
    cluster.sh(machine, "systemctl kill --signal=KILL killed-run");
    eventually("the run was interrupted", || status(cluster, machine).1["run"]["outcome"] == "interrupted");
    assert!(cluster.sh(machine, "blackstart node timeline").contains("INTERRUPTED"));
    cluster.sh(machine, "systemctl kill --signal=CONT kubelet; blackstart node up");
    eventually("the node is as before", || status(cluster, machine).0 == 0);
}

fn never_started(cluster: &Cluster) {
    for machine in ["master-01", "worker-01"] {
        let (code, status) = status(cluster, machine);
        assert_eq!((code, &status["state"], &status["run"]), (4, &"never-started".into(), &Value::Null), "{status:#}");
        assert_eq!(status["problems"], Value::Array(Vec::new()), "{status:#}");
        let text = cluster.try_sh(machine, "blackstart node status").out;
        assert!(text.contains("nothing was ever started here"), "{text}");
        cluster.try_sh(machine, "blackstart node timeline").refused(1, "BS-CLI-011");
        assert!(cluster.sh(machine, "blackstart node timeline --list").contains("no run was ever kept"));
    }
}
