//! The manifests, as the guide says to apply them.

use crate::{
    MASTER,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] = &[
    ("the manifests are applied, and again without a change", applied),
    ("the policies refuse what no pod and no controller of ours does", policies),
];

fn applied(cluster: &Cluster) {
    let line = "blackstart reprovision manifests | kubectl apply --server-side -f - 2>&1";
    let first = cluster.sh(MASTER, line);
    assert!(!first.contains("Warning"), "{first}");
    cluster.sh(MASTER, line);
    eventually("a controller leads", || {
        let leases = cluster.get(&["lease", "-n", "ipb-system"]);
        leases
            .iter()
            .any(|lease| lease["spec"]["holderIdentity"].as_str().is_some_and(|it| it.starts_with("ipb-controller-")))
    });
    cluster.kubectl(&["rollout", "status", "-n", "ipb-system", "deployment/ipb-controller", "--timeout=120s"]);
}

/// As the accounts themselves would try it.
fn policies(cluster: &Cluster) {
    let controller = "--as=system:serviceaccount:ipb-system:ipb-controller";
    for (case, account, patch, is_allowed) in [
        ("cordon", controller, r#"{"spec":{"unschedulable":true}}"#, true),
        ("uncordon", controller, r#"{"spec":{"unschedulable":false}}"#, true),
        ("another label", controller, r#"{"metadata":{"labels":{"kubernetes.io/os":"plan9"}}}"#, false),
        ("another annotation", controller, r#"{"metadata":{"annotations":{"a":"b"}}}"#, false),
        (
            "a pod's account without a node",
            "--as=system:serviceaccount:ipb-system:ipb-daemonset",
            r#"{"metadata":{"labels":{"ibm-cloud.kubernetes.io/ipb-schedule":null}}}"#,
            false,
        ),
    ] {
        let arguments = ["patch", "node", crate::SERVER, "--type=merge", "-p", patch, account];
        let output = cluster.try_kubectl(&arguments);
        assert_eq!(output.code == Some(0), is_allowed, "{case}: {output:?}");
    }
}
