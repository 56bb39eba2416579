//! What is to be kept is kept, works again, and goes with the next reset.

use crate::support::{Check, MASTER, Machines, WORKER};

pub(crate) const CHECKS: &[Check] = &[
    ("what was installed is kept, and `node up` is enough", installed),
    ("certificates are kept, and the node comes back with them", certificates),
    ("a later reset undoes what was kept", all),
];

/// The master is a node when this begins, the worker is nothing.
fn installed(machines: &Machines) {
    machines.install(WORKER);
    machines.await_ready(&[MASTER, WORKER]);
    let output = machines.reset(MASTER, "");
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.out.contains("kept: own-units, program, configuration"), "{output:?}");
    assert_eq!(machines.sh(MASTER, "ls -A /var/lib/etcd /etc/kubernetes 2> /dev/null | wc -l"), "0");
    machines.sh(MASTER, "blackstart node up");
    machines.reset(WORKER, "").ok();
    machines.sh(WORKER, "blackstart node up");
    machines.sh(MASTER, "systemctl start cluster-bootstrap");
    machines.sh(WORKER, "systemctl start cluster-bootstrap");
    machines.await_ready(&[MASTER, WORKER]);
}

fn certificates(machines: &Machines) {
    let sums = "cd / && sha256sum etc/kubernetes/*.conf var/lib/kubelet/pki/kubelet-client-current.pem";
    let before = machines.sh(WORKER, sums);
    let output = machines.reset(WORKER, "--keep-pki");
    assert!(output.code == Some(0) && output.out.contains("join"), "{output:?}");
    assert_eq!(machines.sh(WORKER, sums), before);
    machines.sh(WORKER, "blackstart node up");
    assert_eq!(machines.sh(WORKER, sums), before, "it did not join again");
    machines.sh(WORKER, "systemctl start cluster-bootstrap");
    machines.await_ready(&[MASTER, WORKER]);
    let ca = "sha256sum /etc/kubernetes/pki/ca.key /etc/kubernetes/pki/apiserver.crt /etc/kubernetes/encryption.yaml";
    let before = machines.sh(MASTER, ca);
    machines.reset(MASTER, "--keep-pki --uninstall").ok();
    assert_eq!(machines.sh(MASTER, ca), before);
    assert_eq!(machines.sh(MASTER, "systemctl list-unit-files 'kube*' 'etcd*' 'cluster-*' --no-legend | wc -l"), "0");
}

fn all(machines: &Machines) {
    machines.reset_cleanly(MASTER);
    machines.reset_cleanly(WORKER);
}
