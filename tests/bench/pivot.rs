//! A temporary bootstrap node, three masters and a worker, all switched on at the same moment, until the bootstrap is complete.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    blackstart::install,
    machines::{MASTER, Machines, WORKER},
    running::Running,
    starting_point,
};

const BOOTSTRAP: &str = "bootstrap";
/// Reads and writes through the worker's balancer, each time over a new connection, and notes the answers.
const CLIENT: &str = include_str!("../ha/caller.sh");
const DIR: &str = "/tmp/client";
/// What the bootstrap node does until masters are all it waits for.
const RAISED: [&str; 8] = [
    "etcd-pod",
    "api-ready",
    "kube-controller-manager-pod",
    "namespaces",
    "definitions",
    "roles",
    "cluster-version-operator",
    "masters-ready",
];
/// What a master does until the bootstrap node may hand over to it.
const JOINED: [&str; 8] = [
    "cluster-keys",
    "etcd-join",
    "etcd-vote",
    "kube-apiserver",
    "api-ready",
    "node-ready",
    "kube-scheduler",
    "kube-controller-manager",
];

/// What one round shows.
pub(crate) struct Round {
    /// ConfigMap `kube-system/bootstrap` says so.
    pub(crate) complete: Duration,
    /// From the decision to hand over until then.
    pub(crate) hand_over: Duration,
    /// Every milestone, and when it was reached, in seconds since the first machine was started.
    pub(crate) laps: Vec<(String, f64)>,
    /// Writes that were acknowledged, from the first one on until there is a cluster without the bootstrap node.
    pub(crate) writes: usize,
    /// Those of them that are not in the API afterwards.
    pub(crate) lost: usize,
    /// The longest time without an acknowledged write, seconds.
    pub(crate) without_api: f64,
    /// When that began, in seconds since the first machine was started.
    pub(crate) without_api_from: f64,
    /// For each machine of the control plane, when the steps that others wait for ended.
    pub(crate) ended: Vec<String>,
    /// From the step that stops the bootstrap node's controllers until a master leads both Leases, seconds.
    pub(crate) without_controllers: f64,
}

pub(crate) fn round() -> Round {
    let machines = starting_point::pivot();
    install(&machines);
    starting_point::wait_until_quiet();
    let (began, at) = (Instant::now(), Timestamp::now());
    let up = |machine: &&str| machines.start(machine, &["blackstart", "node", "up"]);
    let running: Vec<Running> = machines.names().iter().map(up).collect();
    begin_to_write(&machines);
    machines.sh(BOOTSTRAP, "blackstart bootstrap wait");
    let complete = began.elapsed();
    for one in running {
        one.finish();
    }
    let (writes, lost, without_api, without_api_from) = written(&machines);
    let parsed = |machine: &str, line: &str| -> Value { serde_json::from_str(&machines.sh(machine, line)).unwrap() };
    let status = parsed(BOOTSTRAP, "blackstart bootstrap status -o json");
    let since = |time: &Value| time.as_str().unwrap().parse::<Timestamp>().unwrap().duration_since(at).as_secs_f64();
    let lap = |one: &Value| (one["title"].as_str().unwrap().to_owned(), since(&one["reached"]));
    let record = |machine: &str| parsed(machine, "blackstart node timeline -o json");
    let step = |record: &Value, id: &str, what: &str| {
        let steps = record["steps"].as_array().unwrap();
        since(&steps.iter().find(|step| step["id"] == id).unwrap()[what])
    };
    let bootstrap = record(BOOTSTRAP);
    let hand_over = step(&bootstrap, "bootstrap-complete", "ended") - step(&bootstrap, "hand-over", "started");
    let released = step(&bootstrap, "controllers-released", "started");
    let ended = |name: &str, record: &Value, steps: [&str; 8]| {
        format!("{name}: {}", steps.map(|id| format!("{id} {:.1}", step(record, id, "ended"))).join(", "))
    };
    let masters = machines.names().into_iter().filter(|name| name.starts_with("master"));
    let masters = masters.map(|name| ended(name, &record(name), JOINED));
    let led = ["kube-controller-manager", "kube-scheduler"].map(|lease| {
        let line = format!("kubectl -n kube-system get lease {lease} -o jsonpath='{{.spec.acquireTime}}'");
        since(&machines.sh(MASTER, &line).into()) - released
    });
    Round {
        complete,
        hand_over: Duration::from_secs_f64(hand_over),
        laps: status["milestones"].as_array().unwrap().iter().map(lap).collect(),
        writes,
        lost,
        without_api,
        without_api_from: without_api_from - seconds(at),
        ended: [ended(BOOTSTRAP, &bootstrap, RAISED)].into_iter().chain(masters).collect(),
        without_controllers: led.into_iter().fold(0.0, f64::max),
    }
}

/// From the moment on in which the bootstrap node has made a kubeconfig; until there is an API, calls fail and do not count.
fn begin_to_write(machines: &Machines) {
    let made =
        "until test -s /etc/kubernetes/super-admin.conf; do sleep 0.1; done; cat /etc/kubernetes/super-admin.conf";
    let kubeconfig = machines.sh(BOOTSTRAP, &format!("timeout 60 sh -c '{made}'"));
    let through_balancer = |line: &str| match line.split_once("server: ") {
        Some((before, _)) => format!("{before}server: https://127.0.0.1:7443\n"),
        None => format!("{line}\n"),
    };
    let kubeconfig: String = kubeconfig.lines().map(through_balancer).collect();
    machines.write(WORKER, "/root/caller.conf", &kubeconfig);
    machines.write(WORKER, "/root/caller.sh", CLIENT);
    machines.sh(WORKER, &format!("setsid sh /root/caller.sh {DIR} </dev/null >/dev/null 2>&1 &"));
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of this century")]
fn seconds(at: Timestamp) -> f64 {
    at.as_millisecond() as f64 / 1000.0
}

/// Ends the writing: how many were acknowledged, how many of these are lost, the longest time between two of them, and when that began.
fn written(machines: &Machines) -> (usize, usize, f64, f64) {
    machines.sh(WORKER, &format!("touch {DIR}/stop"));
    let log = machines.sh(WORKER, &format!("cat {DIR}/log"));
    let there = machines.sh(MASTER, "kubectl get configmaps -l by=caller -o name | sed 's#.*/##'");
    let there: BTreeSet<&str> = there.lines().collect();
    let acknowledged = log.lines().filter_map(|line| {
        let mut fields = line.split_whitespace();
        let (at, status, name) = (fields.next()?.parse::<f64>().ok()?, fields.next()?, fields.next()?);
        (status == "201").then_some((at / 1000.0, name))
    });
    let acknowledged: Vec<(f64, &str)> = acknowledged.collect();
    let lost = acknowledged.iter().filter(|(_, name)| !there.contains(name)).count();
    let gaps = acknowledged.windows(2).map(|pair| (pair[1].0 - pair[0].0, pair[0].0));
    let (longest, from) = gaps.max_by(|one, next| one.0.total_cmp(&next.0)).unwrap_or_default();
    (acknowledged.len(), lost, longest, from)
}
