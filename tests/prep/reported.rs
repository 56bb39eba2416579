//! What a node that was prepared says of itself: in its report, the pod's log, Events, label and annotation of its Node,
//! metrics, and `prep status`. All of them say the same.

use prep::{Prep, Report, State, Verdict, names};
use serde_json::Value;

use crate::{
    MASTER, WORKER,
    node::{PACKAGE, report, runs},
    pods::{await_running, ensure_whole, is_ready, log, name, pod, pods},
    support::{Check, Cluster, eventually, text},
};

pub(crate) const CHECKS: &[Check] = &[
    ("open-iscsi has come from apt, on every node", packages),
    ("a node whose kernel has no iSCSI says so, with one code, wherever one looks", incapable),
    ("what is required of a node was looked at", required),
    ("a pod on such a node runs, is not ready, and has probes that say why", not_ready),
    ("the commands of the documents show it", commands),
    ("`prep status` has one row per node", status),
    ("Nodes can be selected by how far they are", selected),
    ("the metrics say the same", metrics),
    ("nothing is tried again and again on a node that cannot", no_storm),
    ("a node without an Intel GPU is left as it is, and its pod is ready", not_applicable),
];

/// The kernel has no iSCSI initiator.
pub(crate) const NO_ISCSI: &str = "BS-PREP-003";

fn packages(cluster: &Cluster) {
    ensure_whole(cluster);
    for machine in [MASTER, WORKER] {
        let history = cluster.sh(machine, "cat /var/log/apt/history.log");
        assert!(
            history.contains(&format!("Install: {PACKAGE}:")) || history.contains(&format!(", {PACKAGE}:")),
            "{history}"
        );
    }
}

fn incapable(cluster: &Cluster) {
    ensure_whole(cluster);
    for machine in [MASTER, WORKER] {
        let report = report(cluster, machine, Prep::Iscsi).unwrap();
        assert_eq!(report.state, State::Incapable, "{report:?}");
        let code = report.code().unwrap_or_default().to_owned();
        assert_eq!(code, NO_ISCSI, "{report:?}");
        let kernel = cluster.sh(machine, "uname -r");
        assert!(report.text.message().contains(&kernel) && report.text.message().contains("open-iscsi"), "{report:?}");
        eventually(&format!("the pod's log of {machine} says {code}"), || {
            log(cluster, machine, Prep::Iscsi).contains(&code)
        });
        eventually(&format!("an Event of {machine} says {code}"), || events(cluster, machine).contains(&code));
        eventually(&format!("the Node {machine} says {code}"), || is_reported_by_node(cluster, machine, &report));
        let reported = in_status(cluster, machine, Prep::Iscsi);
        assert_eq!(
            (reported["state"].as_str(), reported["code"].as_str()),
            (Some("incapable"), Some(code.as_str())),
            "{reported}"
        );
    }
    let explained = cluster.sh(MASTER, &format!("blackstart explain {NO_ISCSI}"));
    assert!(explained.contains("iSCSI"), "{explained}");
}

/// Whether label and annotation of a Node say what the report on the machine says.
fn is_reported_by_node(cluster: &Cluster, machine: &str, report: &Report) -> bool {
    let node = node(cluster, machine);
    let label = &node["metadata"]["labels"][names::label(report.prep)];
    let annotation = node["metadata"]["annotations"][names::annotation(report.prep)].as_str().unwrap_or_default();
    let reported: Option<Report> = serde_json::from_str(annotation).ok();
    *label == report.state.name()
        && reported.is_some_and(|reported| {
            (reported.code(), reported.text.message()) == (report.code(), report.text.message())
        })
}

/// What the documents require of a node, each with a verdict.
fn required(cluster: &Cluster) {
    ensure_whole(cluster);
    for machine in [MASTER, WORKER] {
        let node = node(cluster, machine);
        let annotation = text(&node["metadata"]["annotations"][names::annotation(Prep::Iscsi)]);
        let report: Report = serde_json::from_str(&annotation).unwrap();
        for name in ["operating-system", "architecture", "memory", "disk", "package-source", "api"] {
            let found = report.requirements.iter().find(|requirement| requirement.name == name);
            let found = found.unwrap_or_else(|| panic!("{name} in {annotation}"));
            assert!(matches!(found.verdict, Verdict::Met | Verdict::Warning), "{machine}: {found:?}");
        }
    }
}

fn node(cluster: &Cluster, machine: &str) -> Value {
    serde_json::from_str(&cluster.kubectl(&["get", "node", machine, "-o", "json"])).unwrap()
}

/// What the Events of a Node say.
pub(crate) fn events(cluster: &Cluster, machine: &str) -> String {
    let of_node = format!("involvedObject.kind=Node,involvedObject.name={machine}");
    cluster.kubectl(&[
        "get",
        "events",
        "-A",
        "--field-selector",
        &of_node,
        "-o",
        "jsonpath={range .items[*]}{.reason}: {.message}{\"\\n\"}{end}",
    ])
}

/// What `prep status` says of a node.
pub(crate) fn in_status(cluster: &Cluster, machine: &str, prep: Prep) -> Value {
    let output = cluster.try_sh(MASTER, "blackstart prep status -o json");
    let reported: Value = serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let mut nodes = reported["nodes"].as_array().unwrap().iter();
    nodes.find(|node| node["name"] == machine).unwrap_or_else(|| panic!("{machine} in {reported}"))[prep.name()].clone()
}

fn not_ready(cluster: &Cluster) {
    ensure_whole(cluster);
    await_running(cluster, Prep::Iscsi, &[MASTER, WORKER]);
    for machine in [MASTER, WORKER] {
        let named = || pod(cluster, machine, Prep::Iscsi).unwrap();
        let failed = || {
            let of_pod = format!("involvedObject.uid={}", named()["metadata"]["uid"].as_str().unwrap());
            cluster.kubectl(&[
                "get",
                "events",
                "-n",
                "kube-system",
                "--field-selector",
                &of_pod,
                "-o",
                "jsonpath={.items[*].message}",
            ])
        };
        eventually(&format!("the readiness of the pod on {machine} was asked for"), || {
            failed().contains("Readiness probe failed")
        });
        let pod = named();
        assert!(!is_ready(&pod), "{pod}");
        assert_eq!(pod["status"]["containerStatuses"][0]["restartCount"], 0, "{pod}");
    }
}

fn commands(cluster: &Cluster) {
    ensure_whole(cluster);
    for prep in Prep::ALL {
        let name = name(prep);
        let shown = cluster.sh(MASTER, &format!("kubectl get daemonset {name} -n kube-system"));
        let row: Vec<&str> = shown.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(row[0], name, "{shown}");
        assert_eq!(row[1], row[2], "as many as there are nodes: {shown}");
        let listed = cluster.sh(MASTER, &format!("kubectl get pods -n kube-system -l app={name}"));
        assert_eq!(listed.lines().skip(1).count(), pods(cluster, prep).len(), "{listed}");
        assert!(listed.lines().skip(1).all(|line| line.starts_with(&name) && line.contains("Running")), "{listed}");
        let state = if prep == Prep::Iscsi { State::Incapable } else { State::NotApplicable };
        eventually("the logs end with how far the nodes are", || {
            let logs = cluster.sh(MASTER, &format!("kubectl logs -n kube-system -l app={name}"));
            logs.matches(state.name()).count() >= 2
        });
    }
}

fn status(cluster: &Cluster) {
    ensure_whole(cluster);
    let output = cluster.try_sh(MASTER, "blackstart prep status");
    assert_eq!(output.code, Some(1), "not all is well: {output:?}");
    for machine in [MASTER, WORKER] {
        let rows: Vec<&str> = output.out.lines().filter(|line| line.starts_with(machine)).collect();
        assert_eq!(rows.len(), 1, "{output:?}");
        assert!(rows[0].contains("incapable"), "{output:?}");
    }
}

fn selected(cluster: &Cluster) {
    ensure_whole(cluster);
    let selected = |selector: &str| cluster.kubectl(&["get", "nodes", "-l", selector, "-o", "name"]);
    let label = names::label(Prep::Iscsi);
    assert_eq!(selected(&format!("{label}=ready")), "", "no volume is put where it could not be attached");
    let all = format!("node/{MASTER}\nnode/{WORKER}");
    eventually("those that cannot are found", || selected(&format!("{label}=incapable")).starts_with(&all));
}

fn metrics(cluster: &Cluster) {
    ensure_whole(cluster);
    for prep in Prep::ALL {
        let state = if prep == Prep::Iscsi { State::Incapable } else { State::NotApplicable };
        for machine in [MASTER, WORKER] {
            let ip = text(&pod(cluster, machine, prep).unwrap()["status"]["podIP"]);
            let address = format!("http://{ip}:{}/metrics", names::metrics_port(prep));
            let line = format!("state=\"{state}\"}} 1");
            let mut output = String::new();
            eventually(&format!("the metrics of {machine} say that it is {state}"), || {
                output = cluster.try_sh(MASTER, &format!("curl -sS -m 5 {address}")).out;
                output.lines().any(|metric| metric.ends_with(&line))
            });
            for metric in output.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
                let value = metric.rsplit_once(' ').and_then(|(_, value)| value.parse::<f64>().ok());
                assert!(value.is_some(), "{metric}");
            }
            let reached: Vec<&str> =
                output.lines().filter(|metric| metric.contains("state=\"") && metric.ends_with(" 1")).collect();
            assert_eq!(reached.len(), 1, "a node is in one state: {output}");
            let is_known =
                output.contains("blackstart_prep_requirement{") && output.contains("name=\"memory\",verdict=");
            assert!(is_known, "what the node should have is reported, too: {output}");
        }
    }
}

/// With the manifests as they are, nodes are looked at again after ten minutes only.
fn no_storm(cluster: &Cluster) {
    ensure_whole(cluster);
    let runs = runs(cluster, MASTER, Prep::Iscsi);
    let now = u64::try_from(jiff::Timestamp::now().as_microsecond()).unwrap();
    let seconds = |micros: u64| micros / 1_000_000;
    let since = seconds(now - runs[0].ended);
    eprintln!("  {} run(s) on {MASTER}, the first one {since} s ago", runs.len());
    assert!(runs.len() as u64 <= 1 + since / (9 * 60), "{runs:?}");
}

fn not_applicable(cluster: &Cluster) {
    ensure_whole(cluster);
    for machine in [MASTER, WORKER] {
        eventually(&format!("{machine} has a report of its GPU"), || {
            report(cluster, machine, Prep::Gpu).is_some_and(|report| report.state == State::NotApplicable)
        });
        let marker: Value = serde_json::from_str(&cluster.sh(machine, "cat /var/lib/gpu-bootstrap.done")).unwrap();
        assert!(marker.to_string().contains("not-applicable"), "{marker}");
        let installed =
            cluster.sh(machine, "dpkg-query -W -f='${Package} ' 'libva*' 'intel-*' vainfo 2>/dev/null || true");
        assert_eq!(installed, "", "nothing is installed");
        eventually(&format!("the pod on {machine} is ready"), || {
            pod(cluster, machine, Prep::Gpu).is_some_and(|pod| is_ready(&pod))
        });
        let reported = in_status(cluster, machine, Prep::Gpu);
        assert_eq!(reported["state"], "not-applicable", "{reported}");
    }
    let selected =
        cluster.kubectl(&["get", "nodes", "-l", &format!("{}=not-applicable", names::label(Prep::Gpu)), "-o", "name"]);
    assert!(selected.contains(MASTER) && selected.contains(WORKER), "{selected}");
}
