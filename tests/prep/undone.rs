//! The way back: a DaemonSet that is deleted leaves the node as it is, and `prep undo` what was there before.

use prep::{Prep, paths};

use crate::{
    MASTER, WORKER,
    node::{BEFORE, INSTALLED, PACKAGE, package},
    pods::{MANIFESTS, bring_manifests, ensure_whole, pods},
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] = &[
    ("a node works on when the DaemonSets are deleted", deleted),
    ("`prep undo` removes what was installed, and nothing else", undone),
    ("`prep undo` where there is nothing to undo does no harm", again),
];

fn deleted(cluster: &Cluster) {
    ensure_whole(cluster);
    bring_manifests(cluster);
    for prep in Prep::ALL {
        cluster.kubectl(&["delete", "-k", &format!("{MANIFESTS}/{prep}")]);
        eventually("the pods are gone", || pods(cluster, prep).is_empty());
    }
    for machine in [MASTER, WORKER] {
        assert_eq!(package(cluster, machine, PACKAGE), "ii", "{machine}");
        assert_eq!(cluster.sh(machine, "systemctl is-active iscsid.socket"), "active", "{machine}");
    }
    let ready = cluster.ready();
    assert!([MASTER, WORKER].iter().all(|machine| ready.iter().any(|name| name == machine)), "{ready:?}");
}

fn undone(cluster: &Cluster) {
    for machine in [MASTER, WORKER] {
        let program = cluster.sh(machine, "sha256sum /usr/local/bin/blackstart");
        let planned = cluster.sh(machine, "blackstart prep undo iscsi --dry-run");
        assert!(planned.contains(PACKAGE), "{planned}");
        assert_eq!(package(cluster, machine, PACKAGE), "ii", "a dry run does nothing");
        for prep in Prep::ALL {
            let output = cluster.sh(machine, &format!("blackstart prep undo {prep} --yes"));
            // Its words are a command that works.
            let command = output
                .split('`')
                .find(|words| words.starts_with("kubectl label"))
                .unwrap_or_else(|| panic!("{output}"));
            cluster.sh(MASTER, &command.replace("NODE", machine));
        }
        assert_as_before(cluster, machine);
        assert!(cluster.sh(MASTER, &format!("kubectl get node {machine} --show-labels")).contains("hostname="));
        assert!(
            !cluster.sh(MASTER, &format!("kubectl get node {machine} --show-labels")).contains("blackstart.io/prep-")
        );
        assert_eq!(cluster.sh(machine, "sha256sum /usr/local/bin/blackstart"), program, "{machine}");
    }
    assert!(cluster.ready().len() >= 2, "the nodes are as well as before");
}

fn again(cluster: &Cluster) {
    for machine in [MASTER, WORKER] {
        for prep in Prep::ALL {
            cluster.sh(machine, &format!("blackstart prep undo {prep} --yes"));
        }
        assert_as_before(cluster, machine);
    }
}

/// The packages of before, and none of the files that came with the preparation.
fn assert_as_before(cluster: &Cluster, machine: &str) {
    let changed = cluster.sh(machine, &format!("{INSTALLED} | diff {BEFORE} - || true"));
    assert_eq!(changed, "", "{machine} has the packages of before");
    assert_eq!(cluster.sh(machine, "dpkg --audit"), "", "{machine}");
    let left = Prep::ALL.map(|prep| {
        let files = [paths::report(prep), paths::script(prep), paths::program(prep)];
        files.map(|file| file.display().to_string()).join(" ")
    });
    let left = cluster.sh(
        machine,
        &format!(
            "ls -d {} /etc/modules-load.d/*iscsi* /etc/modules-load.d/*gpu* /etc/apt/sources.list.d/*gpu* \
             /var/lib/gpu-bootstrap.done 2>/dev/null || true",
            left.join(" ")
        ),
    );
    assert_eq!(left, "", "{machine}");
}
