//! What is refused: nothing is changed, and the node is given back.

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    MASTER, SERVER, WORKER, api, held, machine, node, rhel,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] = &[
    ("a label without a Secret waits for it by name, and the node is left alone", no_secret),
    ("a wrong token and a mirror that is away are named at once, and nothing is changed", unmet),
];

pub(crate) const IN_TURN: &[Check] = &[
    ("a pod that a budget holds is named, and the node is given back when the time is over", blocked),
    ("rhel stand-in: of two nodes one has a bad token and is given back, and the other is done", one_of_two),
];

/// A payload that would be fine.
const FINE: &str = "#!/bin/bash\necho stage $BOOTSTRAP_STAGE\n";

fn no_secret(cluster: &Cluster) {
    cluster.kubectl(&["label", "node", WORKER, "ibm-cloud.kubernetes.io/ipb-schedule=true"]);
    eventually("it waits for its Secret", || {
        let waits_for = &node::object(cluster)["status"]["waitsFor"];
        waits_for["code"] == "BS-UPG-001" && waits_for["message"].as_str().unwrap().contains("ipb-worker-01")
    });
    assert!(node::node(cluster)["spec"]["unschedulable"].is_null(), "not cordoned");
    let output = cluster.try_sh(MASTER, "blackstart reprovision status");
    assert_eq!(output.code, Some(1), "it is on its way: {output:?}");
    let output = output.out;
    assert!(output.contains("Pending") && output.contains("ipb-worker-01"), "{output}");
    cluster.kubectl(&["label", "node", WORKER, "ibm-cloud.kubernetes.io/ipb-schedule-"]);
    cluster.kubectl(&["delete", "nodeupgrade", WORKER, "--timeout=30s"]);
    let labels = &node::node(cluster)["metadata"]["labels"];
    assert!(labels["ibm-cloud.kubernetes.io/ipb-schedule"].is_null(), "{labels:#}");
}

fn unmet(cluster: &Cluster) {
    let (before, attempt) = (machine::packages(cluster), node::attempt(cluster));
    api::give(cluster, &[("bootstrap.sh", FINE)]);
    cluster.sh(SERVER, "systemctl stop repository");
    cluster.sh(SERVER, "echo another > /srv/api/token");
    node::start(cluster);
    let status = node::await_end(cluster, "Refused", attempt);
    let message = status["failure"]["message"].as_str().unwrap();
    assert_eq!(status["failure"]["code"], "BS-UPG-006", "{message}");
    assert!(message.contains("BS-IPB-060") && message.contains("BS-IPB-07"), "both problems: {message}");
    node::assert_given_back(cluster);
    assert_eq!(machine::packages(cluster), before);
    let (code, problems) = by_hand(cluster);
    let has = |part: &str| problems.iter().any(|code| code.starts_with(part));
    assert!(code == Some(3) && has("BS-IPB-060") && has("BS-IPB-07"), "by hand, the same: {code:?} {problems:?}");
    api::write(cluster, SERVER, "/srv/api/token", api::TOKEN.as_bytes());
    cluster.sh(SERVER, "systemd-run --quiet --collect --unit=repository python3 -m http.server --bind 0.0.0.0 --directory /srv/packages 8000
        until curl -sf -o /dev/null http://127.0.0.1:8000/repodata/repomd.xml; do sleep 0.1; done");
    assert_eq!(by_hand(cluster), (Some(0), Vec::new()), "nothing is in the way any more");
    cluster.kubectl(&["delete", "nodeupgrade", WORKER, "--timeout=30s"]);
    cluster.kubectl(&["delete", "secret", "-n", "ipb-system", "ipb-worker-01"]);
}

/// `blackstart reprovision preflight` on the node, with the same keys: how it ended, and the codes of all problems. Nothing stays.
fn by_hand(cluster: &Cluster) -> (Option<i32>, Vec<String>) {
    cluster.sh(WORKER, "install -d -m 0700 /root/by-hand");
    for key in cluster.sh(MASTER, &format!("ls {}", node::KEYS)).lines() {
        let value = cluster.sh(MASTER, &format!("cat {}/{key}", node::KEYS));
        api::write(cluster, WORKER, &format!("/root/by-hand/{key}"), value.as_bytes());
    }
    let kept = "ls -lR --full-time /var/lib/blackstart-reprovision";
    let before = cluster.sh(WORKER, kept);
    let output =
        cluster.try_sh(WORKER, "blackstart reprovision preflight --driver rhel --secret /root/by-hand -o json");
    assert!(!output.out.contains(api::TOKEN) && !output.err.contains(api::TOKEN), "{output:?}");
    let left = cluster.sh(WORKER, "rm -r /root/by-hand; ls /var/tmp | grep blackstart || true");
    assert_eq!((left.as_str(), cluster.sh(WORKER, kept)), ("", before), "nothing stays, and a run loses nothing");
    let found: Value = serde_json::from_str(&output.out).unwrap_or_else(|_| unreachable!("{output:?}"));
    let problems = found["problems"].as_array().unwrap().iter();
    (output.code, problems.map(|problem| problem["code"].as_str().unwrap().to_owned()).collect())
}

fn blocked(cluster: &Cluster) {
    held::pod(cluster);
    let object = "{\"apiVersion\":\"blackstart.io/v1alpha1\",\"kind\":\"NodeUpgrade\",\"metadata\":{\"name\":\"worker-01\"},\
                  \"spec\":{\"drain\":{\"timeoutSeconds\":15}}}";
    cluster.apply(object);
    node::start(cluster);
    let named = named_after(cluster);
    eprintln!("the pod and its budget are named {named:.1} s after the drain has begun");
    // Five on a machine that does nothing else: the controller asks at once, and notes the answer a second later.
    assert!(named < 12.0, "{named} s");
    let status = node::await_end(cluster, "Refused", 0);
    assert_eq!(status["failure"]["code"], "BS-UPG-008", "{status:#}");
    node::assert_given_back(cluster);
    held::nothing(cluster);
    cluster.kubectl(&["delete", "nodeupgrade/worker-01", "--timeout=60s"]);
    cluster.kubectl(&["delete", "secret", "-n", "ipb-system", "ipb-worker-01"]);
}

/// Seconds from the beginning of the phase, as the object has it, until what holds the drain back is read by name.
fn named_after(cluster: &Cluster) -> f64 {
    let path = "{.status.phase}|{.status.since}|{.status.waitsFor.message}";
    let line = format!(
        "for try in $(seq 900); do
             seen=$(kubectl get nodeupgrade {WORKER} -o jsonpath='{path}')
             case $seen in
             Draining*default/held*budget*) date +%s%N; echo \"$seen\"; exit ;;
             Armed*|Refused*) echo \"$seen\"; exit 1 ;;
             esac
         done; exit 1"
    );
    let seen = cluster.sh(MASTER, &line);
    let mut lines = seen.lines();
    let now: i128 = lines.next().unwrap().parse().unwrap();
    let since: Timestamp = lines.next().unwrap().split('|').nth(1).unwrap().parse().unwrap();
    Timestamp::from_nanosecond(now).unwrap().duration_since(since).as_secs_f64()
}

/// The bad one is begun first, and only one may be away at a time.
fn one_of_two(cluster: &Cluster) {
    rhel::afresh(cluster);
    for node in [SERVER, WORKER] {
        cluster.try_kubectl(&["delete", "nodeupgrade", node, "--timeout=60s"]);
    }
    api::secret(cluster, node::KEYS);
    let (good, bad) = (node::KEYS, "/root/keys-bad");
    cluster.sh(MASTER, &format!("rm -rf {bad}; cp -r {good} {bad}; echo of-another-worker > {bad}/bootstrap-token"));
    cluster.sh(MASTER, &format!("blackstart reprovision start {SERVER} --secret {bad}"));
    eventually("the bad one has the only slot", || node::object_of(cluster, SERVER)["status"]["attempt"] == 1);
    cluster.sh(MASTER, &format!("blackstart reprovision start {WORKER} --secret {good}"));
    node::await_end(cluster, "Done", 0);
    rhel::assert_upgraded(cluster);
    node::assert_given_back(cluster);
    let status = node::object_of(cluster, SERVER)["status"].clone();
    assert_eq!((&status["phase"], &status["failure"]["code"]), (&"Refused".into(), &"BS-UPG-006".into()), "{status:#}");
    assert!(status["failure"]["message"].as_str().unwrap().contains("BS-IPB-060"), "{status:#}");
    let node: Value = serde_json::from_str(&cluster.kubectl(&["get", "node", SERVER, "-o", "json"])).unwrap();
    assert!(!node["spec"]["unschedulable"].as_bool().unwrap_or_default(), "{node:#}");
    assert!(node["metadata"]["labels"]["ibm-cloud.kubernetes.io/ipb-schedule"].is_null(), "{node:#}");
    cluster.kubectl(&["delete", "nodeupgrade", SERVER, WORKER, "--timeout=60s"]);
    cluster.kubectl(&["delete", "secret", "-n", "ipb-system", &format!("ipb-{SERVER}")]);
}
