//! What three masters have in common, and what each has for itself.

use std::collections::BTreeSet;

use crate::{
    ETCDCTL, MASTERS, NODES, await_whole,
    support::{Check, Cluster, PROGRAM, run},
};

pub(crate) const CHECKS: &[Check] = &[
    ("switched on together, they are one cluster", is_one),
    ("every master notes the number of its own member", notes),
    ("they share the cluster's keys, and nothing else", shares),
    ("no key of the cluster is in a log, an event or a state file", is_silent),
    ("a second run and a second `lab up` change nothing", again),
];

fn is_one(cluster: &Cluster) {
    await_whole(cluster, &NODES);
    let ids: BTreeSet<String> = MASTERS
        .iter()
        .map(|master| {
            cluster.sh(master, &format!("{ETCDCTL} endpoint status -w json | grep -o '\"cluster_id\":[0-9]*'"))
        })
        .collect();
    assert_eq!(ids.len(), 1, "one cluster: {ids:?}");
}

fn notes(cluster: &Cluster) {
    for master in MASTERS {
        let noted = cluster.sh(master, "cat /var/lib/cluster-state/etcd-member-id");
        let listed = cluster.sh(master, &format!("{ETCDCTL} member list | grep ', {master},' | cut -d, -f1"));
        assert_eq!(noted, listed, "{master}");
    }
}

fn shares(cluster: &Cluster) {
    let of = |files: &str| -> BTreeSet<String> {
        MASTERS.iter().map(|master| cluster.sh(master, &format!("cd /etc/kubernetes && sha256sum {files}"))).collect()
    };
    let shared = "pki/ca.key pki/etcd/ca.key pki/front-proxy-ca.key pki/sa.key encryption.yaml";
    assert_eq!(of(shared).len(), 1);
    for own in ["pki/apiserver.key", "pki/etcd/peer.key", "super-admin.conf"] {
        assert_eq!(of(own).len(), MASTERS.len(), "{own}");
    }
    for master in &MASTERS[1..] {
        let modes =
            cluster.sh(master, "stat -c %a /etc/kubernetes/pki/*.key /etc/kubernetes/encryption.yaml | sort -u");
        assert_eq!(modes, "600", "{master}");
    }
    let sealed = cluster.sealed_dir("master-02");
    assert!(!sealed.join("pki").exists() && !sealed.join("join.key").exists(), "they came through the join service");
}

fn is_silent(cluster: &Cluster) {
    // A line from the middle of each key: enough to know it, and on one line wherever it may be.
    let find = "for key in $(find /etc/kubernetes -name '*.key' -not -name join.key); do sed -n 2p \"$key\"; done; \
                cat /etc/kubernetes/pki/join.key 2>/dev/null; sed -n 's/ *secret: //p' /etc/kubernetes/encryption.yaml";
    for master in MASTERS {
        let found = cluster.sh(
            master,
            &format!(
                "({find}) >/tmp/keys; journalctl --no-pager >/tmp/journal; \
                      grep -cFf /tmp/keys /tmp/journal; grep -rlFf /tmp/keys /var/lib/cluster-state || true"
            ),
        );
        assert_eq!(found, "0", "{master}");
        assert!(cluster.sh(master, "wc -l </tmp/keys").parse::<u32>().unwrap() >= 5);
        cluster.sh(master, "rm /tmp/keys /tmp/journal");
    }
}

fn again(cluster: &Cluster) {
    for master in MASTERS {
        let output = cluster.node_up(master, "").ok();
        assert!(output.contains("nothing was changed"), "{output}");
    }
    let up = run(PROGRAM, &[&["lab", "up", "--name", &cluster.lab.name], &crate::UP[..]].concat());
    assert!(up.ok().contains(MASTERS[2]));
    await_whole(cluster, &NODES);
}
