//! Without sealing: a token in cluster.yaml, and `node install` on machines that run already.

use std::fs;

use crate::support::{Check, Cluster, PROGRAM, eventually, run};

pub(crate) const CHECKS: &[Check] = &[
    ("a token in cluster.yaml is warned of, and cannot be sealed", warned),
    ("machines become a cluster with it", becomes_a_cluster),
];

/// Of no other node.
const TOKEN: &str = "q7w3xk.5f8j2m9n4p6r1t0v";

/// The machines of the lab but the last, which is not in cluster.yaml.
pub(crate) fn configuration(cluster: &Cluster, more: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(cluster.lab.dir().join("config/cluster.yaml")).unwrap();
    let (listed, _) = text.split_once("  - name: worker-02").unwrap();
    let name = format!("  name: {}\n", cluster.lab.name);
    let text = listed.replace(&name, &format!("{name}  bootstrap:\n    token: {TOKEN}\n{more}"));
    fs::create_dir(dir.path().join("plain")).unwrap();
    fs::write(dir.path().join("plain/cluster.yaml"), text).unwrap();
    dir
}

fn warned(cluster: &Cluster) {
    let dir = configuration(cluster, "");
    let plain = dir.path().join("plain").display().to_string();
    let checked = run(PROGRAM, &["check", &plain]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let output = format!("{}{}", checked.out, checked.err);
    assert!(output.contains("warning[BS-SPEC-057]") && !output.contains(TOKEN), "{output}");
    let out = dir.path().join("sealed").display().to_string();
    run(PROGRAM, &["config", "seal", &plain, "--out", &out]).refused(1, "BS-JOIN-027");
}

fn becomes_a_cluster(cluster: &Cluster) {
    let dir = configuration(cluster, "");
    for machine in ["worker-01", "master-01"] {
        let output = cluster.install(&dir.path().join("plain"), machine);
        assert!(output.contains("installed and started"), "{output}");
    }
    for machine in ["master-01", "worker-01"] {
        eventually(&format!("{machine} is done"), || cluster.is_up(machine));
    }
    cluster.await_ready(&["master-01", "worker-01"]);
    for machine in ["master-01", "worker-01"] {
        let (_, secret) = TOKEN.split_once('.').unwrap();
        assert!(!cluster.sh(machine, "journalctl --no-pager -o cat").contains(secret), "{machine}");
        assert_eq!(cluster.sh(machine, "stat -c %a /etc/cluster-config/cluster.yaml"), "600");
        cluster.lab.run("cp", &[&dir.path().join("plain").display().to_string(), &format!("{machine}:/root")]).ok();
        let again = cluster.sh(machine, "blackstart node install --config /root/plain");
        assert!(again.contains("everything was installed already"), "{again}");
    }
}
