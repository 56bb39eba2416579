//! The API as the master has it and as a worker reaches it.

use crate::case::{Case, Deed, MASTER, WORKER};

pub(crate) const API: &[Case] = &[
    Case {
        name: "encryption key exchanged",
        provoke: sh!("kubectl -n default create secret generic kept --from-literal=a=b
                      keep /etc/kubernetes/encryption.yaml
                      sed -i \"s|secret: .*|secret: $(openssl rand -base64 32)|\" /etc/kubernetes/encryption.yaml
                      systemctl restart kube-apiserver"),
        codes: &["BS-DIAG-043"],
        evidence: "cannot read Secret default/kept",
        fix: sh!("back /etc/kubernetes/encryption.yaml
                   systemctl restart kube-apiserver
                   until kubectl -n default delete secret kept --ignore-not-found --timeout 5s; do :; done"),
        ..Case::PLAIN
    },
    Case {
        name: "API server of the master stopped, seen from a worker",
        machine: WORKER,
        provoke: on!(MASTER, "systemctl stop kube-apiserver"),
        codes: &["BS-API-002"],
        evidence: "no API server listens",
        fix: on!(MASTER, "systemctl start kube-apiserver"),
        ..Case::PLAIN
    },
    Case {
        name: "API server without etcd, seen from a worker",
        machine: WORKER,
        provoke: on!(MASTER, "systemctl stop etcd"),
        codes: &["BS-DIAG-040"],
        evidence: "etcd",
        fix: on!(MASTER, "systemctl start etcd"),
        ..Case::PLAIN
    },
    Case {
        name: "API server without etcd, seen from the master",
        provoke: Deed::Sh("systemctl stop etcd"),
        codes: &["BS-DIAG-006"],
        evidence: "etcd.service",
        fix: Deed::Sh("systemctl start etcd"),
        ..Case::PLAIN
    },
    Case {
        name: "master cut off from a worker",
        machine: WORKER,
        provoke: Deed::By(|bench| drop(bench.lab.run("cut", &[WORKER, MASTER]).ok())),
        codes: &["BS-JOIN-019"],
        evidence: "does not answer at all",
        fix: Deed::By(|bench| drop(bench.lab.run("heal", &[]).ok())),
        ..Case::PLAIN
    },
    Case {
        name: "agent of the master stopped, seen from a worker",
        machine: WORKER,
        provoke: on!(MASTER, "systemctl stop blackstart-agent"),
        warnings: &["BS-DIAG-048"],
        evidence: ":7444",
        fix: on!(MASTER, "systemctl start blackstart-agent"),
        ..Case::PLAIN
    },
];
