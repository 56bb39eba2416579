//! A node that has worked, with pods, services and ports, leaves nothing; and the machine becomes one again.

use crate::support::{Check, MASTER, Machines, WORKER};

pub(crate) const CHECKS: &[Check] = &[
    ("two machines become nodes and run pods", up),
    ("a worker may not delete Nodes, neither another's nor its own", least_privilege),
    ("a worker whose Node was deleted registers again by `node up`", deleted),
    ("a worker is as it was, and its Node object is gone", worker),
    ("a master is as it was", master),
    ("both become nodes again", again),
];

fn up(machines: &Machines) {
    machines.up();
    machines.run_pods();
}

/// It asks a master to remove its own, and that one looks at its certificate.
fn least_privilege(machines: &Machines) {
    for name in [MASTER, WORKER] {
        for identity in ["agent.conf", "kubelet.conf", "kube-proxy.conf"] {
            let delete = format!(
                "kubectl --kubeconfig /etc/kubernetes/{identity} --cache-dir /root/.kube/cache delete node {name}"
            );
            let output = machines.try_sh(WORKER, &delete);
            assert!(output.code == Some(1) && output.err.contains("Forbidden"), "{identity} {name}: {output:?}");
        }
    }
    machines.sh(WORKER, "rm -rf /root/.kube"); // of our own kubectl, on a machine where no user has one
}

/// Its kubelet is restarted for that. The next check resets it, and must come to an end all the same.
fn deleted(machines: &Machines) {
    machines.kubectl(&format!("delete node {WORKER}"));
    machines.sh(WORKER, "blackstart node up");
    machines.await_ready(&[MASTER, WORKER]);
    let ledger = machines.sh(WORKER, "cat /var/lib/cluster-state/ledger.json");
    assert!(ledger.contains("\"key\": \"restart\""), "{ledger}");
}

fn worker(machines: &Machines) {
    let output = machines.reset_cleanly(WORKER);
    assert!(!output.contains("left elsewhere"), "{output}");
    assert_eq!(machines.kubectl("get nodes -o name"), format!("node/{MASTER}"));
}

fn master(machines: &Machines) {
    machines.reset_cleanly(MASTER);
}

fn again(machines: &Machines) {
    machines.up();
}
