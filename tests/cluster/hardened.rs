//! A cluster that is closed where it should be: what is written, who may ask, what listens, who can read which file.

use std::collections::BTreeSet;

use crate::support::{Check, Cluster};

pub(crate) const CHECKS: &[Check] = &[
    ("secrets are encrypted in etcd and absent from the audit log", secrets_at_rest),
    ("without credentials only health is answered", anonymous),
    ("kubelets refuse strangers and show a certificate of the cluster", kubelets),
    ("what can be reached from outside speaks TLS of the cluster", sockets),
    ("files with secrets are root's alone", modes),
    ("the cluster's keys are on masters only", keys),
    ("no secret is in a journal or a ledger", journals),
    ("the state files say how far each node has come", state_files),
];

const ETCDCTL: &str = "cd /etc/kubernetes/pki/etcd && etcdctl --endpoints https://127.0.0.1:2379 --cacert ca.crt \
                       --cert healthcheck-client.crt --key healthcheck-client.key";
const CURL: &str = "curl -sS -m 10 --cacert /etc/kubernetes/pki/ca.crt";

fn secrets_at_rest(cluster: &Cluster) {
    cluster.kubectl(&["create", "secret", "generic", "hidden", "--from-literal=word=plainly-written"]);
    let stored =
        cluster.sh("master-01", &format!("{ETCDCTL} get /registry/secrets/default/hidden | tr -c '[:print:]' ?"));
    assert!(stored.contains("k8s:enc:") && !stored.contains("plainly-written"), "{stored}");
    let audit = "/var/log/kubernetes/audit.log";
    let lines =
        cluster.sh("master-01", &format!("grep '\"create\"' {audit} | grep '\"resource\":\"secrets\".*\"hidden\"'"));
    assert!(!lines.is_empty());
    let content = "plainly-written|cGxhaW5seS13cml0dGVu";
    assert_eq!(cluster.try_sh("master-01", &format!("grep -cE '{content}' {audit}")).out.trim(), "0");
}

fn anonymous(cluster: &Cluster) {
    let api = format!("https://{}:6443", cluster.ip("master-01"));
    for path in ["/readyz", "/livez", "/healthz"] {
        assert_eq!(cluster.sh("worker-01", &format!("{CURL} {api}{path}")), "ok", "{path}");
    }
    for path in ["/", "/api", "/api/v1/nodes", "/version", "/metrics", "/readyz/etcd"] {
        let code = cluster.sh("worker-01", &format!("{CURL} -o /dev/null -w '%{{http_code}}' {api}{path}"));
        assert_eq!(code, "401", "{path}");
    }
}

fn kubelets(cluster: &Cluster) {
    for machine in Cluster::MACHINES {
        let url = format!("https://{}:10250", cluster.ip(machine));
        for path in ["/pods", "/metrics", "/run/default/x/y", "/healthz"] {
            let code = cluster.sh("master-01", &format!("{CURL} -o /dev/null -w '%{{http_code}}' {url}{path}"));
            assert_eq!(code, "401", "{machine}{path}");
        }
        // One node's certificate is nothing to another node's kubelet.
        let other = "--cert /var/lib/kubelet/pki/kubelet-client-current.pem";
        let code = cluster.sh("worker-01", &format!("{CURL} {other} -o /dev/null -w '%{{http_code}}' {url}/pods"));
        assert_eq!(code, "403", "{machine}");
    }
}

fn sockets(cluster: &Cluster) {
    for machine in Cluster::MACHINES {
        let listed = cluster.sh(machine, "ss -ltnH | awk '{print $4}' | grep -v -e '^127\\.' -e '^\\[::1\\]'");
        let ports: BTreeSet<&str> = listed.lines().filter_map(|line| Some(line.rsplit_once(':')?.1)).collect();
        let expected: &[&str] =
            if machine.starts_with("master") { &["10250", "2379", "2380", "6443", "7444"] } else { &["10250"] };
        assert_eq!(ports.iter().copied().collect::<Vec<_>>(), expected, "{machine}");
        for port in expected {
            let ca = if port.starts_with("23") { "etcd/ca.crt" } else { "ca.crt" };
            let line = format!(
                "openssl s_client -connect {}:{port} -CAfile /etc/kubernetes/pki/{ca} < /dev/null 2>&1 | grep 'Verify return code'",
                cluster.ip(machine)
            );
            assert!(cluster.sh("master-01", &line).contains("code: 0 (ok)"), "{machine}:{port}");
        }
    }
}

fn modes(cluster: &Cluster) {
    let paths = "/etc/cluster-config /etc/kubernetes /var/lib/cluster-state /var/lib/kubelet/pki /root/.kube/config";
    for machine in Cluster::MACHINES {
        let holds_a_secret = "PRIVATE KEY|client-key-data|secret: |kubeadm join .*--token";
        let mut secrets: BTreeSet<String> = cluster
            .sh(machine, &format!("grep -rslE '{holds_a_secret}' {paths} || true"))
            .lines()
            .map(str::to_owned)
            .collect();
        let named = "find /etc/cluster-config /var/lib/cluster-state -name '*.key' -o -name join-secret -o -name bootstrap-token";
        secrets.extend(cluster.sh(machine, named).lines().map(str::to_owned));
        assert!(secrets.len() > 3, "{machine}: {secrets:?}");
        for path in secrets {
            assert_eq!(cluster.sh(machine, &format!("stat -Lc %a:%U {path}")), "600:root", "{machine}: {path}");
        }
        for dir in ["/etc/cluster-config", "/etc/kubernetes/pki"] {
            assert_eq!(cluster.sh(machine, &format!("stat -c %a:%U {dir}")), "700:root", "{machine}: {dir}");
        }
    }
    for path in ["/var/lib/etcd", "/var/log/kubernetes"] {
        let open = cluster.sh("master-01", &format!("find {path} -type f -perm /077"));
        assert_eq!(open, "", "others can read what is below {path}");
    }
}

fn keys(cluster: &Cluster) {
    let find =
        "find / -xdev \\( -name ca.key -o -name join.key -o -name encryption.key -o -name sa.key \\) -print | wc -l";
    assert_ne!(cluster.sh("master-01", find), "0");
    for worker in Cluster::WORKERS {
        assert_eq!(cluster.sh(worker, find), "0", "{worker}");
    }
}

/// Every line of every secret of a machine, looked for in everything the machine has noted down.
fn journals(cluster: &Cluster) {
    let secrets = "cat /etc/cluster-config/*.key /etc/cluster-config/join-secret /var/lib/cluster-state/bootstrap-token; \
                   find /etc/kubernetes /etc/cluster-config -name '*.key' -exec cat {} +; cat /var/lib/kubelet/pki/*.pem | \
                   sed -n '/PRIVATE/,/END/p'; grep -rhoE 'client-key-data: .*' /etc/kubernetes | cut -d ' ' -f 2";
    let noted = "journalctl --no-pager -o cat; cat /var/lib/cluster-state/*.json /var/lib/cluster-state/lock";
    for machine in Cluster::MACHINES {
        let secrets = cluster.try_sh(machine, &format!("({secrets}) 2>/dev/null")).out;
        let mut words: BTreeSet<&str> =
            secrets.lines().map(str::trim).filter(|line| line.len() >= 20 && !line.starts_with("-----")).collect();
        // A token's secret part alone is as good as the whole.
        let parts: Vec<&str> = words.iter().filter_map(|word| Some(word.split_once('.')?.1)).collect();
        words.extend(parts);
        assert!(words.len() >= 3, "{machine}: {}", words.len());
        let noted = cluster.sh(machine, noted);
        assert!(noted.contains("Ready") && noted.len() > 10_000, "{machine}");
        let leaked = words.iter().filter(|word| noted.contains(**word)).count();
        assert_eq!(leaked, 0, "{machine} has noted down {leaked} secrets");
    }
}

fn state_files(cluster: &Cluster) {
    let read = |machine: &str, file: &str| cluster.sh(machine, &format!("cat /var/lib/cluster-state/{file}"));
    let [master, workers @ ..] = Cluster::MACHINES;
    assert_eq!(read(master, "bootstrap-state"), "bootstrapped");
    assert_eq!(read(master, "node-role"), "master-first");
    assert_eq!(read(master, "cluster-initialized-by"), master);
    let members = cluster.sh(master, &format!("{ETCDCTL} member list"));
    assert!(members.starts_with(&format!("{}, started, {master}, ", read(master, "etcd-member-id"))), "{members}");
    let token = read(master, "bootstrap-token");
    let command = read(master, "worker-join-command");
    let pin = cluster.sh(master, "cat /etc/cluster-config/ca-pin");
    let line = format!("kubeadm join {}:6443 --token {token} --discovery-token-ca-cert-hash {pin}", cluster.ip(master));
    assert_eq!(command.lines().last(), Some(&*line));
    for worker in workers {
        assert_eq!(read(worker, "bootstrap-state"), "joined");
        assert_eq!(read(worker, "node-role"), "worker");
        let others = "cd /var/lib/cluster-state; ls etcd-member-id bootstrap-token worker-join-command cluster-initialized-by 2>/dev/null";
        assert_eq!(cluster.try_sh(worker, others).out, "", "{worker}");
    }
    for machine in Cluster::MACHINES {
        // `date` understands it, and it was after the boot.
        let age = "expr $(date +%s) - $(date -d \"$(cat /var/lib/cluster-state/cluster-joined)\" +%s)";
        assert!(cluster.sh(machine, age).parse::<u32>().unwrap() < 3600, "{machine}");
        assert!(cluster.is_up(machine), "{machine}");
    }
}
