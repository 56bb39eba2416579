//! Processes that are killed, one by one and in pairs, come back without help, and the cluster works as before.

use std::{
    env,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    MASTER,
    support::{Check, Cluster, seed},
};

pub(crate) const CHECKS: &[Check] = &[("what is killed comes back by itself", recovered)];

/// What is killed.
const UNITS: [&str; 7] = [
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "containerd",
    "blackstart-agent",
];

/// So many are killed when not all are: a cluster takes its time to show that it is well.
const SAMPLE: usize = 4;

const DEADLINE: Duration = Duration::from_mins(3);

/// One or two units.
type Case = Vec<&'static str>;

fn recovered(cluster: &Cluster) {
    let all = all_cases();
    assert_eq!(all.len(), 28);
    let chosen = chosen(&all);
    let before = cluster.sh(MASTER, "cat /var/lib/cluster-state/etcd-member-id; sha256sum /etc/kubernetes/pki/*.crt");
    let mut failed = Vec::new();
    for (number, case) in chosen.iter().enumerate() {
        let started = Instant::now();
        match play(cluster, number, case) {
            Ok(()) => {
                eprintln!("  killed {}: recovered ({:.1} s)", case.join(" and "), started.elapsed().as_secs_f64());
            }
            Err(why) => {
                eprintln!("  killed {}: FAILED: {why}", case.join(" and "));
                failed.push(case.join(" and "));
            }
        }
    }
    eprintln!("recovered {} of {} ({} in all)", chosen.len() - failed.len(), chosen.len(), all.len());
    assert!(failed.is_empty(), "{failed:?}");
    let after = cluster.sh(MASTER, "cat /var/lib/cluster-state/etcd-member-id; sha256sum /etc/kubernetes/pki/*.crt");
    assert_eq!(after, before, "it is the same cluster");
    assert_eq!(cluster.sh(MASTER, "systemctl --failed --plain --no-legend"), "");
}

fn all_cases() -> Vec<Case> {
    let alone = UNITS.iter().map(|unit| vec![*unit]);
    let pairs = UNITS.iter().enumerate().flat_map(|(at, one)| UNITS[at + 1..].iter().map(|other| vec![*one, *other]));
    alone.chain(pairs).collect()
}

/// All of them, or a few that the seed chooses.
fn chosen(all: &[Case]) -> Vec<Case> {
    if env::var_os("BLACKSTART_TEST_FULL").is_some() {
        return all.to_vec();
    }
    let first = usize::try_from(seed()).unwrap() % all.len() * SAMPLE;
    // A step that shares no factor with the number of cases: neighbours in the list are alike.
    (0..SAMPLE).map(|number| all[(first + number) * 5 % all.len()].clone()).collect()
}

fn play(cluster: &Cluster, number: usize, case: &Case) -> Result<(), String> {
    let before: Vec<String> = case.iter().map(|unit| process(cluster, unit)).collect();
    if before.iter().any(|pid| pid == "0") {
        return Err(format!("not running before: {before:?}"));
    }
    let moment = Timestamp::now();
    cluster.sh(MASTER, &format!("kill -9 {}", before.join(" ")));
    until("all units run", || {
        let states = cluster.try_sh(MASTER, &format!("systemctl is-active {} kube-proxy", UNITS.join(" "))).out;
        let is_new = case.iter().zip(&before).all(|(unit, old)| process(cluster, unit) != *old);
        (is_new && states.lines().all(|state| state == "active")).then_some(()).ok_or(states)
    })?;
    until("the API is ready", || {
        let output = cluster.try_kubectl(&["get", "--raw", "/readyz"]);
        (output.out == "ok").then_some(()).ok_or(output.err)
    })?;
    until("the node is alive", || heartbeat(cluster, moment))?;
    let pod = format!("after-{number}");
    until("a pod is created", || {
        let output = cluster.lab.feed(
            "exec",
            &[MASTER, "--", "kubectl", "apply", "-f", "-"],
            manifest(cluster, &pod).as_bytes(),
        );
        (output.code == Some(0)).then_some(()).ok_or(output.err)
    })?;
    until("the pod runs", || {
        let output = cluster.try_kubectl(&["get", "pod", &pod, "-o", "json"]);
        let object: Value = serde_json::from_str(&output.out).unwrap_or_default();
        (object["status"]["phase"] == "Running").then_some(()).ok_or(format!("{}{}", object["status"], output.err))
    })?;
    cluster.try_kubectl(&["delete", "pod", &pod, "--grace-period=0", "--force", "--wait=false"]);
    Ok(())
}

/// The node is Ready and has reported so after that moment.
fn heartbeat(cluster: &Cluster, moment: Timestamp) -> Result<(), String> {
    let lease = ["get", "lease", MASTER, "-n", "kube-node-lease", "-o", "jsonpath={.spec.renewTime}"];
    let renewed = cluster.try_kubectl(&lease).out;
    let is_new = renewed.parse::<Timestamp>().is_ok_and(|renewed| renewed > moment);
    let ready = cluster.ready();
    let is_ready = ready.iter().any(|name| name == MASTER);
    (is_new && is_ready).then_some(()).ok_or(format!("lease renewed {renewed}, killed {moment}, Ready are {ready:?}"))
}

fn process(cluster: &Cluster, unit: &str) -> String {
    cluster.try_sh(MASTER, &format!("systemctl show -p MainPID --value {unit}")).out.trim().to_owned()
}

/// A pod that only holds its namespaces: every node has the image.
fn manifest(cluster: &Cluster, name: &str) -> String {
    let image = cluster.sh(MASTER, "ctr -n k8s.io images list -q | grep pause: | head -n 1");
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{ name: {name} }}\nspec:\n  nodeSelector: {{ kubernetes.io/hostname: {MASTER} }}\n  \
         tolerations: [{{ operator: Exists }}]\n  containers: [{{ name: pause, image: \"{image}\", imagePullPolicy: Never }}]\n"
    )
}

/// Waits until something is true, or says what was seen last.
fn until(what: &str, mut check: impl FnMut() -> Result<(), String>) -> Result<(), String> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        match check() {
            Ok(()) => return Ok(()),
            Err(seen) if Instant::now() > deadline => return Err(format!("not in time: {what}; seen last: {seen}")),
            Err(_) => std::thread::sleep(Duration::from_millis(200)),
        }
    }
}
