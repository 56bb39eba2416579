//! What holds a run in a phase that is over in a moment otherwise.

use crate::{
    SERVER, WORKER,
    support::{Cluster, eventually},
};

/// One pod, and a budget that wants it where it is.
const POD: &str = r"
apiVersion: v1
kind: Pod
metadata: { name: held, namespace: default, labels: { app: held } }
spec:
  nodeName: worker-01
  terminationGracePeriodSeconds: 0
  containers: [{ name: held, image: PAUSE, imagePullPolicy: IfNotPresent }]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: held, namespace: default }
spec: { minAvailable: 1, selector: { matchLabels: { app: held } } }
";

/// The first thing that is given back cannot be.
const ORDER: &str = r#"
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: held }
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{ apiGroups: [""], apiVersions: [v1], resources: [nodes], operations: [UPDATE] }]
  matchConditions:
    - { name: controller, expression: "request.userInfo.username == 'system:serviceaccount:ipb-system:ipb-controller'" }
  validations:
    - expression: >-
        !('blackstart.io/upgrade-order' in oldObject.metadata.?annotations.orValue({}))
        || 'blackstart.io/upgrade-order' in object.metadata.?annotations.orValue({})
      message: held by a test
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: held }
spec: { policyName: held, validationActions: [Deny] }
"#;

/// A pod that may not leave the node: it stays in `Draining`.
pub(crate) fn pod(cluster: &Cluster) {
    let pause = cluster.sh(WORKER, "crictl images -o json | grep -o '[^\"]*/pause:[^\"]*' | head -1");
    cluster.apply(&POD.replace("PAUSE", &pause));
    cluster.kubectl(&["wait", "pod/held", "--for=condition=Ready", "--timeout=60s"]);
}

/// The order of the node may not be removed: it stays in `Restoring`.
pub(crate) fn order(cluster: &Cluster) {
    cluster.apply(ORDER);
    let attempt = [
        "--as=system:serviceaccount:ipb-system:ipb-controller",
        "annotate",
        "node",
        SERVER,
        "--overwrite",
        "--dry-run=server",
    ];
    cluster.kubectl(&["annotate", "node", SERVER, "blackstart.io/upgrade-order=none", "--overwrite"]);
    eventually("the policy is in force", || {
        cluster.try_kubectl(&[&attempt[..], &["blackstart.io/upgrade-order-"]].concat()).err.contains("held by a test")
    });
    cluster.kubectl(&["annotate", "node", SERVER, "blackstart.io/upgrade-order-"]);
}

/// No controller on the machine that serves payloads and packages.
pub(crate) fn away_from_server(cluster: &Cluster) {
    cluster.kubectl(&["taint", "node", SERVER, "held=away:NoSchedule", "--overwrite"]);
}

/// Nothing is held any more.
pub(crate) fn nothing(cluster: &Cluster) {
    for what in ["validatingadmissionpolicybinding/held", "validatingadmissionpolicy/held", "pdb/held", "pod/held"] {
        cluster.kubectl(&["delete", what, "--ignore-not-found", "--wait=false"]);
    }
    cluster.try_kubectl(&["taint", "node", SERVER, "held-"]);
}
