//! What is refused: nothing is changed, and the node is given back.

use crate::{
    MASTER, SERVER, WORKER, api, machine, node,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] = &[
    ("a label without a Secret waits for it by name, and the node is left alone", no_secret),
    ("a wrong token and a mirror that is away are named at once, and nothing is changed", unmet),
];

pub(crate) const IN_TURN: &[Check] =
    &[("a pod that a budget holds is named, and the node is given back when the time is over", blocked)];

/// A payload that would be fine.
const FINE: &str = "#!/bin/bash\necho stage $BOOTSTRAP_STAGE\n";

fn no_secret(cluster: &Cluster) {
    cluster.kubectl(&["label", "node", WORKER, "ibm-cloud.kubernetes.io/ipb-schedule=true"]);
    eventually("it waits for its Secret", || {
        let waits_for = &node::object(cluster)["status"]["waitsFor"];
        waits_for["code"] == "BS-UPG-001" && waits_for["message"].as_str().unwrap().contains("ipb-worker-01")
    });
    assert!(node::node(cluster)["spec"]["unschedulable"].is_null(), "not cordoned");
    let output = cluster.sh(MASTER, "blackstart reprovision status");
    assert!(output.contains("Pending") && output.contains("ipb-worker-01"), "{output}");
    cluster.kubectl(&["label", "node", WORKER, "ibm-cloud.kubernetes.io/ipb-schedule-"]);
    cluster.kubectl(&["delete", "nodeupgrade", WORKER, "--timeout=30s"]);
    let labels = &node::node(cluster)["metadata"]["labels"];
    assert!(labels["ibm-cloud.kubernetes.io/ipb-schedule"].is_null(), "{labels:#}");
}

fn unmet(cluster: &Cluster) {
    let (before, attempt) = (machine::packages(cluster), node::attempt(cluster));
    api::give(cluster, &[("bootstrap.sh", FINE)]);
    cluster.sh(SERVER, "systemctl stop repository");
    cluster.sh(SERVER, "echo another > /srv/api/token");
    node::start(cluster);
    let status = node::await_end(cluster, "Refused", attempt);
    let message = status["failure"]["message"].as_str().unwrap();
    assert_eq!(status["failure"]["code"], "BS-UPG-006", "{message}");
    assert!(message.contains("BS-IPB-060") && message.contains("BS-IPB-07"), "both problems: {message}");
    node::assert_given_back(cluster);
    assert_eq!(machine::packages(cluster), before);
    api::write(cluster, SERVER, "/srv/api/token", api::TOKEN.as_bytes());
    cluster.sh(SERVER, "systemd-run --quiet --collect --unit=repository python3 -m http.server --bind 0.0.0.0 --directory /srv/packages 8000
        until curl -sf -o /dev/null http://127.0.0.1:8000/repodata/repomd.xml; do sleep 0.1; done");
    cluster.kubectl(&["delete", "nodeupgrade", WORKER, "--timeout=30s"]);
    cluster.kubectl(&["delete", "secret", "-n", "ipb-system", "ipb-worker-01"]);
}

/// One pod, and a budget that wants it where it is.
const HELD: &str = r"
apiVersion: v1
kind: Pod
metadata: { name: held, namespace: default, labels: { app: held } }
spec:
  nodeName: worker-01
  terminationGracePeriodSeconds: 0
  containers: [{ name: held, image: registry.k8s.io/pause:3.10.1, imagePullPolicy: IfNotPresent }]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: held, namespace: default }
spec: { minAvailable: 1, selector: { matchLabels: { app: held } } }
";

fn blocked(cluster: &Cluster) {
    let pause = cluster.sh(WORKER, "crictl images -o json | grep -o '[^\"]*/pause:[^\"]*' | head -1");
    cluster.apply(&HELD.replace("registry.k8s.io/pause:3.10.1", &pause));
    cluster.kubectl(&["wait", "pod/held", "--for=condition=Ready", "--timeout=60s"]);
    let object = "{\"apiVersion\":\"blackstart.io/v1alpha1\",\"kind\":\"NodeUpgrade\",\"metadata\":{\"name\":\"worker-01\"},\
                  \"spec\":{\"drain\":{\"timeoutSeconds\":15}}}";
    cluster.apply(object);
    node::start(cluster);
    let held = |status: &serde_json::Value| {
        let message = status["waitsFor"]["message"].as_str().unwrap_or_default();
        status["phase"] == "Draining" && message.contains("default/held") && message.contains("budget")
    };
    eventually("the pod and its budget are named", || held(&node::object(cluster)["status"]));
    let status = node::await_end(cluster, "Refused", 0);
    assert_eq!(status["failure"]["code"], "BS-UPG-008", "{status:#}");
    node::assert_given_back(cluster);
    cluster.kubectl(&["delete", "pod/held", "pdb/held", "nodeupgrade/worker-01", "--timeout=60s"]);
    cluster.kubectl(&["delete", "secret", "-n", "ipb-system", "ipb-worker-01"]);
}
