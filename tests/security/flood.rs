//! Floods: strangers, a pod and a node that has turned hostile, each at full speed. Meanwhile honest nodes are served, the
//! memory of the master's agent has a bound, and calls through a node's balancer do not fail.
//!
//! Four seconds each, sixty with `BLACKSTART_TEST_FULL=1`. Load is made with `curl`, which the machines have, by this computer
//! (a stranger of one address) and inside of worker-01 (whose agent's certificate is good from there only).

use std::{
    env,
    io::Write,
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{Check, Cluster, Probe, eventually};

/// Needs a cluster of one master and two workers that are all Ready.
pub(crate) const CHECKS: &[Check] = &[
    ("strangers at full speed: nodes report, one joins, calls do not fail, memory is bounded", strangers),
    ("a hostile node at full speed holds back only itself", hostile_node),
    ("pods do not reach the join service, and their node goes on reporting", hostile_pod),
    ("silent connections to the balancer keep no client from the API", silent_at_the_balancer),
];

/// What the agent of a master may ever have had in memory, in MiB: 40 of its own, 68 for all strangers
/// (`join/src/server/limits.rs`), and what the allocator keeps.
const BOUND: u64 = 200;
const MASTER: &str = "master-01";
const HOSTILE: &str = "worker-01";
const HONEST: &str = "worker-02";
/// As large as a body may be, almost.
const LARGE: usize = 64_000;

fn long() -> Duration {
    Duration::from_secs(if env::var_os("BLACKSTART_TEST_FULL").is_some() { 60 } else { 4 })
}

fn strangers(cluster: &Cluster) {
    let url = |path: &str| format!("https://{}:7444/v1/{path}?flood=[1-100000000]", cluster.ip(MASTER));
    let dir = tempfile::tempdir().unwrap();
    let large = dir.path().join("large");
    std::fs::write(&large, " ".repeat(LARGE)).unwrap();
    let large = format!("@{}", large.display());
    let header = format!("x-flood: {}", "x".repeat(30_000));
    let (join, hello) = (url("join"), url("hello"));
    // The first three come before this address has failed too often; afterwards everything is refused at once.
    let kinds: [(&str, Vec<&str>); 6] = [
        ("slow bodies", vec!["--http1.1", "--limit-rate", "4k", "--data-binary", &large, &join]),
        ("many streams", vec!["--http2", "--limit-rate", "4k", "--data-binary", &large, &join]),
        ("new connections", vec!["--http1.1", "-H", "connection: close", &hello]),
        ("large headers", vec!["--http2", "-H", &header, &hello]),
        ("wrong JSON", vec!["--http2", "--data-binary", "{", &join]),
        ("queries", vec!["--http2", &hello]),
    ];
    forget_peak(cluster);
    for (kind, arguments) in kinds {
        let load = Load::curl(&arguments);
        during(cluster, kind, || thread::sleep(long()));
        drop(load);
    }
    let half = HalfHandshakes::start(&format!("{}:7444", cluster.ip(MASTER)));
    let load = Load::curl(&["--http1.1", "-H", "connection: close", &hello]);
    during(cluster, "half handshakes, while a node leaves and joins", || {
        cluster.sh(HONEST, "blackstart node reset --yes");
        cluster.sh(HONEST, "blackstart node up");
    });
    drop((half, load));
    cluster.await_ready(&Cluster::MACHINES);
    assert_peak(cluster, "strangers");
    assert_few_lines(cluster);
}

fn hostile_node(cluster: &Cluster) {
    // The certificate of its own agent, as root on the machine has it.
    let field = |name: &str| format!("sed -n 's/.*{name}: //p' /etc/kubernetes/agent.conf | base64 -d");
    let (certificate, key) = (field("client-certificate-data"), field("client-key-data"));
    cluster.sh(HOSTILE, &format!("{{ {certificate}; {key}; }} > /run/flood.pem && chmod 600 /run/flood.pem"));
    let report = format!("{{\"text\":\"{}\"}}", "x".repeat(LARGE));
    cluster.lab.feed("exec", &[HOSTILE, "--", "sh", "-c", "cat > /run/flood.json"], report.as_bytes()).ok();
    cluster.kubectl(&["taint", "node", HOSTILE, "flood=hostile:PreferNoSchedule"]);
    forget_peak(cluster);
    for (path, body) in [("report", "@/run/flood.json"), ("renew", "{}"), ("nodes", ""), ("leave", "{}")] {
        let url = format!("https://{}:7444/v1/{path}?flood=[1-100000000]", cluster.ip(MASTER));
        let data = if body.is_empty() { String::new() } else { format!("--data-binary {body}") };
        let line = format!(
            "timeout {} curl -sS -o /dev/null --parallel --parallel-max 60 --cacert /etc/kubernetes/pki/ca.crt \
             --cert /run/flood.pem {data} '{url}'",
            long().as_secs()
        );
        during(cluster, path, || drop(cluster.try_sh(HOSTILE, &line)));
    }
    assert_peak(cluster, "a hostile node");
    let taints = cluster.kubectl(&["get", "node", HOSTILE, "-o", "jsonpath={.spec.taints[*].key}"]);
    assert!(taints.contains("flood"), "its Node is still there, with what was set on it: {taints}");
    cluster.kubectl(&["taint", "node", HOSTILE, "flood-"]);
    cluster.sh(HOSTILE, "rm /run/flood.pem /run/flood.json");
}

fn hostile_pod(cluster: &Cluster) {
    Probe::start(cluster);
    let pod = Probe::on(cluster, HOSTILE);
    let ask = |at: &str| {
        // busybox knows no certificates; whether anybody takes the connection is what counts.
        let line = format!("timeout 5 wget -qO- http://{at}:7444/ 2>&1; echo $?");
        pod.sh(cluster, &line)
    };
    for machine in [MASTER, HOSTILE] {
        let output = ask(&cluster.ip(machine));
        assert!(output.ends_with("143") || output.ends_with("124"), "{machine} does not answer a pod at all: {output}");
    }
    assert!(
        pod.ask(cluster, &format!("{}:8080", Probe::on(cluster, HONEST).ip)).contains("asked by"),
        "pods reach pods"
    );
    // The rule was removed: it comes back.
    cluster.sh(HOSTILE, "nft delete table inet blackstart-shield");
    eventually("the rule is back", || {
        cluster.try_sh(HOSTILE, "nft list table inet blackstart-shield | grep -q 'dport 7444 drop'").code == Some(0)
    });
    // It may have to wait a minute for what it did before, and only it.
    eventually("the node itself is heard", || heard(cluster, HOSTILE));
}

fn silent_at_the_balancer(cluster: &Cluster) {
    // More than it has places, from inside of the machine, as a pod in its network would.
    let hold =
        "for i in $(seq 1 1300); do exec 3<>/dev/tcp/127.0.0.1/7443 || break; sleep 600 <&3 & exec 3>&-; done; wait";
    cluster.sh(HOSTILE, &format!("systemd-run --quiet --unit=silent bash -c '{hold}'"));
    thread::sleep(Duration::from_secs(5));
    assert_eq!(failed_calls(cluster, 20), 0, "calls through the balancer");
    cluster.sh(HOSTILE, "systemctl stop silent");
}

/// Does something, while calls through a node's balancer must not fail and the honest nodes must be heard.
fn during(cluster: &Cluster, kind: &str, what: impl FnOnce()) {
    let over = AtomicBool::new(false);
    let failed = thread::scope(|scope| {
        let calls = scope.spawn(|| {
            let mut failed = 0;
            while !over.load(Ordering::Relaxed) {
                failed += failed_calls(cluster, 5);
            }
            failed
        });
        what();
        let is_heard = heard(cluster, HONEST);
        over.store(true, Ordering::Relaxed);
        assert!(is_heard, "{kind}: {HONEST} reports all the while");
        calls.join().unwrap()
    });
    eprintln!("  {kind}: agent of {MASTER} at {} MiB, peak {} MiB", memory(cluster, "VmRSS"), memory(cluster, "VmHWM"));
    assert_eq!(failed, 0, "{kind}: calls through the balancer of {HOSTILE}");
}

/// How many of so many calls of the API through worker-01's balancer fail.
fn failed_calls(cluster: &Cluster, calls: u32) -> u32 {
    let call = "kubectl --kubeconfig /etc/kubernetes/agent.conf --request-timeout=10s get nodes -o name > /dev/null";
    let line = format!("failed=0; for i in $(seq {calls}); do {call} || failed=$((failed + 1)); done; echo $failed");
    cluster.sh(HOSTILE, &line).lines().last().unwrap().parse().unwrap()
}

/// Whether the master has a report of a node that is not old.
fn heard(cluster: &Cluster, node: &str) -> bool {
    let view = cluster.sh(MASTER, "blackstart watch --once -o json");
    let view: Value = serde_json::from_str(&view).unwrap();
    let found = view["nodes"].as_array().unwrap().iter().find(|found| found["name"] == node).unwrap();
    found["joined"] == true && found["state"] != "silent"
}

/// Of the agent on the master, in MiB.
fn memory(cluster: &Cluster, field: &str) -> u64 {
    let line = format!("awk '/{field}/ {{ print $2 }}' /proc/$({PID})/status");
    cluster.sh(MASTER, &line).parse::<u64>().unwrap() / 1024
}

const PID: &str = "systemctl show -p MainPID --value blackstart-agent";

/// From here on the peak is that of what follows.
fn forget_peak(cluster: &Cluster) {
    cluster.sh(MASTER, &format!("echo 5 > /proc/$({PID})/clear_refs"));
}

fn assert_peak(cluster: &Cluster, who: &str) {
    let peak = memory(cluster, "VmHWM");
    eprintln!("  {who}: the agent of {MASTER} never had more than {peak} MiB");
    assert!(peak < BOUND, "{who}: {peak} MiB");
}

/// Refusals are counted, not logged one by one. The summary comes once a minute, so it may still be due.
fn assert_few_lines(cluster: &Cluster) {
    let journal = || cluster.journal(MASTER, "blackstart-agent");
    eventually("a summary of the refusals", || journal().contains("more requests in"));
    let refused = journal().lines().filter(|line| line.contains("refused")).count();
    assert!(refused < 100, "{refused} lines of refusals");
}

/// curl, again and again, sixty at once, until it is dropped.
struct Load(Child);

impl Load {
    fn curl(arguments: &[&str]) -> Self {
        let mut curl = Command::new("curl");
        curl.args(["-sk", "-o", "/dev/null", "--parallel", "--parallel-immediate", "--parallel-max", "60", "-m", "30"]);
        curl.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(curl.spawn().unwrap())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Connections that begin a handshake and leave it there.
struct HalfHandshakes {
    over: std::sync::Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl HalfHandshakes {
    fn start(address: &str) -> Self {
        let over = std::sync::Arc::new(AtomicBool::new(false));
        let (address, stop) = (address.to_owned(), over.clone());
        let thread = thread::spawn(move || {
            let mut held = std::collections::VecDeque::new();
            while !stop.load(Ordering::Relaxed) {
                let begun = Instant::now();
                if let Ok(mut stream) = TcpStream::connect(&address) {
                    // The head of a record that promises more than ever comes.
                    let _ = stream.write_all(&[0x16, 0x03, 0x01, 0x40, 0x00, 0x01]);
                    held.push_back(stream);
                }
                if held.len() > 500 {
                    held.pop_front();
                }
                thread::sleep(Duration::from_millis(2).saturating_sub(begun.elapsed()));
            }
        });
        Self { over, thread: Some(thread) }
    }
}

impl Drop for HalfHandshakes {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.thread.take().map(thread::JoinHandle::join);
    }
}
