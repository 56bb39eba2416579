//! A cluster that can be used: nodes, pods, names, services, and the tools people look at them with.

use std::{
    io::{Read, Write},
    net::TcpListener,
};

use crate::support::{Check, Cluster, NODE_PORT, Probe, eventually, run, text};

pub(crate) const CHECKS: &[Check] = &[
    ("every machine is a Ready node with its role", nodes),
    ("a pod runs on every machine", Probe::start),
    ("pods of different machines reach each other and see who it is", pods),
    ("pods reach the outside under their node's address", outside),
    ("names of the cluster are resolved in a pod", names),
    ("a service is reached from a pod by address and by name", service),
    ("a port of every node leads to the service", node_port),
    ("kubectl logs, exec and port-forward", tools),
];

/// Asks a pod through a port of the master, and closes it again.
const FORWARD: &str = r"
output=$(mktemp)
kubectl port-forward pod/POD :8080 > $output 2>&1 & forward=$!
until port=$(sed -n 's/.*127.0.0.1:\([0-9]*\) .*/\1/p' $output | grep .); do sleep 0.1; done
curl -sS -m 10 http://127.0.0.1:$port/cgi-bin/who
kill $forward
";

fn nodes(cluster: &Cluster) {
    cluster.await_ready(&Cluster::MACHINES);
    // The agents see to the labels, a moment after the node is there.
    let labelled = |role: &str| cluster.get(&["nodes", "-l", &format!("node-role.kubernetes.io/{role}")]).len();
    eventually("the nodes have their roles", || [labelled("control-plane"), labelled("worker")] == [1, 2]);
    let version = cluster.sh("master-01", "kubelet --version").replace("Kubernetes ", "");
    for node in cluster.get(&["nodes"]) {
        let name = text(&node["metadata"]["name"]);
        let role = if name.starts_with("master") { "control-plane" } else { "worker" };
        let labels = node["metadata"]["labels"].as_object().unwrap();
        let roles: Vec<&str> = labels.keys().filter_map(|key| key.strip_prefix("node-role.kubernetes.io/")).collect();
        assert_eq!(roles, [role], "{name}");
        let has_taint = node["spec"]["taints"].to_string().contains("node-role.kubernetes.io/control-plane");
        assert_eq!(has_taint, role == "control-plane", "{name}: {}", node["spec"]["taints"]);
        assert_eq!(node["status"]["nodeInfo"]["kubeletVersion"], *version, "{name}");
        let addresses = node["status"]["addresses"].as_array().unwrap();
        let ip = addresses.iter().find(|address| address["type"] == "InternalIP").unwrap();
        assert_eq!(ip["address"], *cluster.ip(&name), "{name}");
    }
}

fn pods(cluster: &Cluster) {
    let all = Probe::all(cluster);
    assert_eq!(all.iter().map(|probe| &*probe.node).collect::<Vec<_>>(), Cluster::MACHINES);
    for from in &all {
        for to in all.iter().filter(|to| to.node != from.node) {
            let answer = from.ask(cluster, &format!("{}:8080", to.ip));
            let (who, asked_by) = answer.split_once(" asked by ").unwrap();
            assert_eq!(who, to.name);
            assert!(asked_by.contains(&format!(":{}]", from.ip)), "{} is seen as {asked_by}", from.ip);
        }
    }
}

fn outside(cluster: &Cluster) {
    let host = cluster.host_ip();
    let listener = TcpListener::bind((host.as_str(), 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // Closing with something unread would drop the answer.
            let read = stream.read(&mut [0; 4096]);
            let answer = format!("HTTP/1.0 200 OK\r\n\r\n{}", stream.peer_addr().unwrap().ip());
            read.and_then(|_| stream.write_all(answer.as_bytes())).unwrap();
        }
    });
    for probe in Probe::all(cluster) {
        let seen = probe.sh(cluster, &format!("timeout 10 wget -qO- http://{host}:{port}/"));
        assert_eq!(seen, cluster.ip(&probe.node), "{probe:?}");
    }
}

fn names(cluster: &Cluster) {
    let api = cluster.kubectl(&["get", "service", "kubernetes", "-o", "jsonpath={.spec.clusterIP}"]);
    for probe in Probe::all(cluster) {
        let output = probe.sh(cluster, "nslookup kubernetes.default.svc.cluster.local");
        assert!(output.contains(&format!("Address: {api}")), "{probe:?}: {output}");
        let unknown =
            cluster.try_kubectl(&["exec", &probe.name, "--", "nslookup", "missing.default.svc.cluster.local"]);
        assert!(unknown.code != Some(0) && unknown.out.contains("NXDOMAIN"), "{unknown:?}");
    }
}

fn service(cluster: &Cluster) {
    let address = cluster.kubectl(&["get", "service", "probe", "-o", "jsonpath={.spec.clusterIP}"]);
    let from = Probe::on(cluster, "worker-01");
    for at in [&*address, "probe", "probe.default.svc.cluster.local"] {
        Probe::assert_all_answer(cluster, at, || from.ask(cluster, at));
    }
}

fn node_port(cluster: &Cluster) {
    let url = |machine: &str| format!("http://{}:{NODE_PORT}/cgi-bin/who", cluster.ip(machine));
    for machine in Cluster::MACHINES {
        let url = url(machine);
        Probe::assert_all_answer(cluster, "the host", || run("curl", &["-sS", "-m", "10", &url]).ok());
    }
    let url = url("worker-02");
    let line = format!("curl -sS -m 10 {url}");
    Probe::assert_all_answer(cluster, "another machine", || cluster.sh("worker-01", &line));
}

fn tools(cluster: &Cluster) {
    for probe in Probe::all(cluster) {
        assert_eq!(cluster.kubectl(&["logs", &probe.name]), format!("probe starts on {}", probe.name));
        assert_eq!(probe.sh(cluster, "echo $HOSTNAME"), probe.name);
        let forward = FORWARD.replace("POD", &probe.name);
        eventually("a forwarded port leads to the pod", || {
            cluster.try_sh("master-01", &forward).out.starts_with(&probe.name)
        });
    }
}
