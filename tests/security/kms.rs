//! Secrets encrypted by a KMS v2 plugin: from the first boot on, with another key of the KMS, without it, and with it again.
//!
//! The plugin is a program of our own on Kubernetes' own library for plugins (`kms-plugin/`), compiled from Go modules.

use std::{fs, path::Path, process::Command};

use crate::support::{Check, Cluster, PROGRAM, TestLab, eventually, run};

pub(crate) const CHECKS: &[Check] = &[
    ("a first boot waits for the KMS plugin, and says so", waits),
    ("every Secret is encrypted by the KMS", encrypts),
    ("a KMS plugin that does not answer is named by diagnose", silent),
    ("after a rotation nothing is encrypted with the KMS's old key", other_key),
    ("a cluster leaves its KMS, and needs it no more", leaves),
    ("a running cluster takes up a KMS", comes),
];

const MASTER: &str = "master-01";
const SECTION: &str = "  encryption: {kms: {name: suite, endpoint: 'unix:///run/kms/plugin.sock'}}";
const CONFIG: &str = "/etc/cluster-config/cluster.yaml";

/// One master whose cluster.yaml names a KMS, and nothing runs on it yet.
pub(crate) fn machine() -> Cluster {
    let lab = TestLab::with(1, 0);
    let [config, out] = ["config", "sealed"].map(|name| lab.dir().join(name));
    let file = config.join("cluster.yaml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("cluster:\n", &format!("cluster:\n{SECTION}\n"), 1)).unwrap();
    run(PROGRAM, &["config", "seal", &config.display().to_string(), "--out", &out.display().to_string()]).ok();
    let cluster = Cluster { lab };
    let plugin = compiled();
    cluster.lab.run("cp", &[&plugin, "master-01:/usr/local/bin"]).ok();
    cluster.sh(MASTER, "mkdir -m 700 /run/kms /root/kms-keys; head -c 32 /dev/urandom >/root/kms-keys/1");
    cluster
}

/// Without Go there is no plugin, and that must not look like success.
fn compiled() -> String {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kms-plugin");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/security/kms-plugin");
    let built = Command::new("go")
        .args(["build", "-buildvcs=false", "-trimpath", "-o"])
        .args([&program, Path::new(".")])
        .current_dir(source)
        .envs([("GOFLAGS", "-mod=readonly"), ("CGO_ENABLED", "0")])
        .output()
        .unwrap_or_else(|error| panic!("the plugin needs `go` (apt-get install golang-go): {error}"));
    assert!(built.status.success(), "go build: {}", String::from_utf8_lossy(&built.stderr));
    program.display().to_string()
}

fn start_plugin(cluster: &Cluster) {
    let run = "systemd-run --unit kms-plugin --collect kms-plugin /run/kms/plugin.sock /root/kms-keys";
    cluster.sh(MASTER, run);
}

/// What the Secrets in etcd begin with, each once.
fn prefixes(cluster: &Cluster) -> String {
    let etcd = "/etc/kubernetes/pki/etcd";
    cluster.sh(
        MASTER,
        &format!(
            "etcdctl --cacert {etcd}/ca.crt --cert {etcd}/healthcheck-client.crt --key {etcd}/healthcheck-client.key \
             get /registry/secrets/ --prefix --print-value-only | grep -ao 'k8s:enc:[^:]*:v[12]:[^:]*:' | sort -u"
        ),
    )
}

/// Every Secret is read by an API server that has just started, so nothing of it can be remembered.
fn assert_all_read(cluster: &Cluster) {
    cluster.sh(MASTER, "systemctl restart kube-apiserver");
    eventually("the API server is back", || cluster.try_kubectl(&["get", "--raw", "/readyz"]).code == Some(0));
    let secrets = cluster.kubectl(&["get", "secrets", "-A", "--no-headers"]);
    assert!(secrets.lines().count() > 2, "{secrets}");
    assert_eq!(cluster.kubectl(&["get", "secret", "kept", "-o", "jsonpath={.data.word}"]), "aGlkZGVu");
}

fn rotate(cluster: &Cluster) {
    let line = "blackstart pki rotate encryption --yes";
    let output = cluster.lab.run("exec", &[MASTER, "--", "timeout", "600", "sh", "-c", line]).ok();
    eprintln!("  {}", output.trim().replace('\n', "\n  "));
}

fn waits(cluster: &Cluster) {
    cluster.install(&cluster.sealed_dir(MASTER), MASTER);
    eventually("it waits for the plugin", || {
        cluster.try_sh(MASTER, "blackstart node status").out.contains("/run/kms/plugin.sock to accept connections")
    });
    start_plugin(cluster);
    cluster.await_ready(&[MASTER]);
    eventually("its first run is over", || cluster.is_up(MASTER));
}

fn encrypts(cluster: &Cluster) {
    cluster.kubectl(&["create", "secret", "generic", "kept", "--from-literal=word=hidden"]);
    assert_eq!(prefixes(cluster), "k8s:enc:kms:v2:suite:");
    assert_all_read(cluster);
}

fn silent(cluster: &Cluster) {
    cluster.sh(MASTER, "systemctl stop kms-plugin; rm -f /run/kms/plugin.sock");
    let output = cluster.try_sh(MASTER, "blackstart diagnose");
    assert!(output.out.contains("BS-DIAG-079") && output.out.contains("/run/kms/plugin.sock"), "{output:?}");
    start_plugin(cluster);
    eventually("all is well again", || !cluster.try_sh(MASTER, "blackstart diagnose").out.contains("BS-DIAG-079"));
}

fn other_key(cluster: &Cluster) {
    cluster.sh(MASTER, "head -c 32 /dev/urandom >/root/kms-keys/2");
    rotate(cluster);
    assert_eq!(prefixes(cluster), "k8s:enc:kms:v2:suite:");
    cluster.sh(MASTER, "rm /root/kms-keys/1");
    assert_all_read(cluster);
}

fn leaves(cluster: &Cluster) {
    cluster.sh(MASTER, &format!("sed -i '/^  encryption:/d' {CONFIG} && systemctl restart blackstart-agent"));
    let output = cluster.try_sh(MASTER, "blackstart diagnose");
    assert!(
        output.out.contains("BS-DIAG-080") && output.out.contains("blackstart pki rotate encryption"),
        "{output:?}"
    );
    rotate(cluster);
    cluster.sh(MASTER, "systemctl stop kms-plugin; rm -rf /run/kms/plugin.sock /root/kms-keys/2");
    assert!(prefixes(cluster).starts_with("k8s:enc:secretbox:v1:key-"), "{}", prefixes(cluster));
    assert_all_read(cluster);
}

fn comes(cluster: &Cluster) {
    cluster.sh(MASTER, "head -c 32 /dev/urandom >/root/kms-keys/3");
    start_plugin(cluster);
    cluster.sh(MASTER, &format!("sed -i \"/^cluster:/a\\\\{SECTION}\" {CONFIG} && systemctl restart blackstart-agent"));
    rotate(cluster);
    assert_eq!(prefixes(cluster), "k8s:enc:kms:v2:suite:");
    assert_all_read(cluster);
    let output = cluster.try_sh(MASTER, "blackstart diagnose");
    assert!(!output.out.contains("BS-DIAG-08"), "{output:?}");
}
