//! A cluster that is there already: doing it all again changes nothing, and it comes back by itself.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{Check, Cluster, Probe, eventually, text};

pub(crate) const CHECKS: &[Check] = &[
    ("a second `lab up` changes nothing", lab_up),
    ("a second `node up` changes nothing", node_up),
    ("a Node that was deleted is registered again by `node up`", deleted_node),
    ("an agent that is killed comes back, and with it the way to the API", killed_agent),
    ("machines that reboot all at once come back as the same cluster", reboot),
];

fn lab_up(cluster: &Cluster) {
    let before = picture(cluster);
    let events = cluster.lab.run("up", &["-o", "json"]).ok();
    assert_nothing_changed(&events);
    assert_eq!(picture(cluster), before);
}

fn node_up(cluster: &Cluster) {
    let before = picture(cluster);
    for machine in Cluster::MACHINES {
        let output = cluster.sh(machine, "blackstart node up");
        assert!(output.ends_with("is a Ready node; nothing was changed"), "{output}");
        assert_nothing_changed(&cluster.sh(machine, "blackstart node up -o json"));
    }
    assert_eq!(picture(cluster), before);
}

/// No step of a run has changed anything.
fn assert_nothing_changed(events: &str) {
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ended: Vec<&Value> = events.iter().filter(|event| event["step"].is_string()).collect();
    let states = |event: &&Value| ["started", "waiting", "unchanged"].contains(&event["state"].as_str().unwrap());
    assert!(ended.iter().all(states), "{ended:#?}");
    let unchanged = ended.iter().filter(|event| event["state"] == "unchanged").count();
    let last = events.last().unwrap();
    assert_eq!(last["state"], "run-finished");
    assert_eq!(last["total"], unchanged, "{last}");
}

/// What a run would leave traces in: files with their times, and which process is whose.
fn picture(cluster: &Cluster) -> BTreeMap<String, String> {
    let files = "find /etc /opt /usr/local /root/.kube /var/lib/kubelet/pki /var/lib/cluster-state -type f -printf '%p %m %T@\\n' \
                 | grep -v -e cluster-state/ledger -e cluster-state/runs/ -e cluster-state/lock | sort";
    let units = "systemctl show -p Id,MainPID,InvocationID 'kube*' 'etcd*' containerd.service blackstart-agent.service";
    let all = Cluster::MACHINES.iter().flat_map(|machine| {
        [
            (format!("{machine}: files"), cluster.sh(machine, files)),
            (format!("{machine}: units"), cluster.sh(machine, units)),
        ]
    });
    all.collect()
}

/// The kubelet that runs would never register it.
fn deleted_node(cluster: &Cluster) {
    let node = "worker-02";
    cluster.kubectl(&["delete", "node", node]);
    let output = cluster.node_up(node, "");
    assert!(output.err.contains("restart the kubelet"), "{output:?}");
    cluster.await_ready(&Cluster::MACHINES);
    assert!(cluster.node_up(node, "").ok().contains("nothing was changed"));
}

fn killed_agent(cluster: &Cluster) {
    for machine in Cluster::MACHINES {
        let process = || cluster.sh(machine, "systemctl show -p MainPID --value blackstart-agent");
        let before = process();
        cluster.sh(machine, &format!("kill -9 {before}"));
        let through_the_balancer = "curl -sS -m 5 --cacert /etc/kubernetes/pki/ca.crt https://127.0.0.1:7443/readyz";
        eventually("the agent and its balancer are back", || {
            let output = cluster.try_sh(machine, through_the_balancer);
            process() != before && output.out == "ok"
        });
    }
    cluster.await_ready(&Cluster::MACHINES);
}

fn reboot(cluster: &Cluster) {
    cluster.kubectl(&["create", "configmap", "kept", "--from-literal=word=kept"]);
    let before = Identity::of(cluster);
    let boots = Cluster::MACHINES.map(|machine| cluster.lab.boot(machine));
    cluster.lab.run("reboot", &Cluster::MACHINES).ok();
    for (machine, boot) in Cluster::MACHINES.iter().zip(boots) {
        assert_ne!(cluster.lab.boot(machine), boot);
    }
    cluster.await_ready(&Cluster::MACHINES);
    assert_eq!(Identity::of(cluster), before);
    let kept = cluster.kubectl(&["get", "configmap", "kept", "-o", "jsonpath={.data.word}"]);
    assert_eq!(kept, "kept");
    cluster.kubectl(&["rollout", "status", "daemonset/probe", "--timeout=3m"]);
    cluster.kubectl(&["-n", "kube-system", "rollout", "status", "deployment/coredns", "--timeout=3m"]);
    let from = Probe::on(cluster, "worker-01");
    Probe::assert_all_answer(cluster, "by name after the reboot", || from.try_ask(cluster, "probe"));
    for machine in Cluster::MACHINES {
        assert!(cluster.is_up(machine), "{machine}");
        assert_eq!(cluster.sh(machine, "systemctl --failed --plain --no-legend"), "", "{machine}");
    }
}

/// What makes it this cluster and no other.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    ca: String,
    nodes: Vec<String>,
    etcd: String,
}

impl Identity {
    fn of(cluster: &Cluster) -> Self {
        Self {
            ca: cluster.sh("master-01", "sha256sum /etc/kubernetes/pki/ca.crt"),
            nodes: cluster.get(&["nodes"]).iter().map(|node| text(&node["metadata"]["uid"])).collect(),
            etcd: cluster.sh("master-01", "cat /var/lib/cluster-state/etcd-member-id"),
        }
    }
}
