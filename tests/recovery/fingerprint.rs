//! What a node is made of, as lines that are the same for every undisturbed run: names, modes and states, not numbers
//! that was drawn by hand.

use std::{
    sync::LazyLock,
    thread::sleep,
    time::{Duration, Instant},
};

use regex::Regex;
use serde_json::Value;

use crate::proving::Ground;

/// Lines, sorted; one that is there twice is there twice.
pub(crate) type Fingerprint = Vec<String>;

/// Controllers follow at their own pace.
const STABLE_WITHIN: Duration = Duration::from_mins(2);

/// Everything on the machine itself that a run makes or starts. `runs` is the history, which is longer after a crash. The
/// kubelet keeps its former certificates under their dates; a first one that it found at its start it does not renew at once,
/// so after a power cut there may be one less. What counts is that those in use are there and good.
const MACHINE: &str = r#"
find /etc /opt /root /usr/local /var/lib/cluster-state /var/lib/kubelet/pki /var/lib/etcd -xdev \
    -not -path '/var/lib/cluster-state/runs*' -not -path '/var/lib/etcd/member/*' \
    -not -name 'kubelet-client-2*.pem' -not -name 'kubelet-server-2*.pem' -printf 'file %p %y %m\n'
for kind in client server; do
    openssl x509 -noout -checkend 0 -in /var/lib/kubelet/pki/kubelet-$kind-current.pem > /dev/null && echo "certificate $kind"
done
sha256sum /etc/kubernetes/pki/ca.crt | sed 's/^/ca /'
for unit in cluster-detect cluster-bootstrap blackstart-agent containerd etcd kube-apiserver kube-controller-manager \
    kube-scheduler kubelet kube-proxy; do
    echo "unit $unit $(systemctl is-enabled $unit 2>/dev/null) $(systemctl is-active $unit)"
done
systemctl --failed --no-legend --plain | sed 's/^/failed /'
ps -eo comm= | grep -x -e containerd -e etcd -e 'kube.*' -e blackstart | sed 's/^/process /'
echo "kernel ip_forward $(sysctl -n net.ipv4.ip_forward)"
echo "host $(hostname)"
ip -o -4 address show dev eth0 | awk '{ print "address", $4 }'
"#;

/// What there is in the API. Pods, leases and requests for certificates come and go; workloads are asked how they are.
const CLUSTER: &str = r#"
set -e
kubectl get -A -o jsonpath='{range .items[*]}object {.kind} {.metadata.namespace}/{.metadata.name}{"\n"}{end}' \
    nodes,namespaces,configmaps,secrets,serviceaccounts,services,daemonsets,deployments,roles,rolebindings,clusterroles,clusterrolebindings,priorityclasses
kubectl get nodes -o jsonpath='{range .items[*]}ready {.metadata.name} {.status.conditions[?(@.type=="Ready")].status} {.spec.podCIDR} {.spec.taints}{"\n"}{end}'
kubectl get -A deployments -o jsonpath='{range .items[*]}workload {.metadata.name} {.status.readyReplicas} of {.spec.replicas}{"\n"}{end}'
kubectl get -A pods -o jsonpath='{range .items[*]}pod {.metadata.namespace} {.metadata.ownerReferences[0].kind} {.status.phase} {.status.containerStatuses[*].state.waiting.reason}{"\n"}{end}'
kubectl get csr -o jsonpath='{range .items[*]}{.metadata.name} {.status.conditions[*].type}{"\n"}{end}' | awk 'NF < 2 { print "pending", $1 }'
p=/etc/kubernetes/pki/etcd
curl -sS --cacert $p/ca.crt --cert $p/healthcheck-client.crt --key $p/healthcheck-client.key -d '{}' \
    https://127.0.0.1:2379/v3/cluster/member/list | grep -o '"name":"[^"]*"' | sed 's/^/etcd member /'
"#;

impl Ground {
    /// Of an undisturbed run: when two readings in a row agree.
    pub(crate) fn stable_fingerprint(&self, machine: &str) -> Fingerprint {
        let deadline = Instant::now() + STABLE_WITHIN;
        let mut last = self.fingerprint(machine);
        loop {
            sleep(Duration::from_secs(3));
            let now = self.fingerprint(machine);
            if now == last || Instant::now() > deadline {
                return now;
            }
            last = now;
        }
    }

    /// After a disturbed one: like the other as soon as it is, or what it has come to in the end.
    pub(crate) fn fingerprint_like(&self, machine: &str, other: &Fingerprint) -> Fingerprint {
        let deadline = Instant::now() + STABLE_WITHIN;
        loop {
            let now = self.fingerprint(machine);
            if now == *other || Instant::now() > deadline {
                return now;
            }
            sleep(Duration::from_millis(500));
        }
    }

    /// As it is now.
    fn fingerprint(&self, machine: &str) -> Fingerprint {
        let mut lines: Vec<String> = self.ledger(machine);
        let cluster = self.within("master-01", CLUSTER);
        if cluster.code != Some(0) {
            lines.push(format!("the API answers: {}", cluster.err.trim()));
        }
        let machine = self.within(machine, MACHINE).out;
        lines.extend(machine.lines().chain(cluster.out.lines()).map(|line| without_random_names(line.trim_end())));
        lines.sort();
        lines
    }

    /// The steps, and what it takes to undo them: a reset after a crash must undo as much.
    fn ledger(&self, machine: &str) -> Vec<String> {
        let text = self.within(machine, "cat /var/lib/cluster-state/ledger.json").out;
        let ledger: Value = serde_json::from_str(&text).unwrap_or_default();
        let mut lines = Vec::new();
        for (step, record) in ledger["ledger"]["steps"].as_object().into_iter().flatten() {
            lines.push(format!("step {step} {}", record["progress"]));
            let undo = record["undo"].as_array().into_iter().flatten();
            // What was started may also have been restarted; undoing is the same.
            let files = undo.filter(|entry| entry.get("act").is_none());
            lines.extend(files.map(|entry| format!("undo {step} {entry}")));
        }
        lines
    }
}

/// Without what is drawn.
fn without_random_names(line: &str) -> String {
    static TOKEN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"bootstrap-token-[a-z0-9]{6}").unwrap());
    TOKEN.replace_all(line, "bootstrap-token-*").into_owned()
}

/// A check that shows nothing of a kind has not looked, and would be equal to another one.
#[track_caller]
pub(crate) fn assert_complete(fingerprint: &Fingerprint) {
    for kind in [
        "step",
        "undo",
        "file",
        "ca",
        "certificate",
        "unit",
        "process",
        "address",
        "object",
        "ready",
        "workload",
        "etcd member",
    ] {
        let is_known = fingerprint.iter().any(|line| line.strip_prefix(kind).is_some_and(|rest| rest.starts_with(' ')));
        assert!(is_known, "nothing is known of any `{kind}`");
    }
}

/// What one has and the other has not, as `diff` would show it.
pub(crate) fn differences(wanted: &Fingerprint, found: &Fingerprint) -> String {
    let count = |lines: &Fingerprint, line: &String| lines.iter().filter(|one| *one == line).count();
    let more = |sign: &str, some: &Fingerprint, others: &Fingerprint| -> String {
        let mut lines: Vec<&String> = some.iter().filter(|line| count(some, line) > count(others, line)).collect();
        lines.dedup();
        lines.iter().map(|line| format!("{sign} {line}\n")).collect()
    };
    more("-", wanted, found) + &more("+", found, wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[&str]) -> Fingerprint {
        lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_line_that_is_there_twice_differs_from_one() {
        let (one, two) = (lines(&["a", "b", "c"]), lines(&["a", "a", "c"]));
        assert_eq!(differences(&one, &two), "- b\n+ a\n");
        assert_eq!(differences(&one, &one), "");
    }

    #[test]
    fn what_is_drawn_is_left_out() {
        for (line, expected) in [
            ("object Secret kube-system/bootstrap-token-ab12cd", "object Secret kube-system/bootstrap-token-*"),
            ("file /etc/hosts f 644", "file /etc/hosts f 644"),
        ] {
            assert_eq!(without_random_names(line), expected);
        }
    }
}
