//! Plans: they begin nodes, and leave each other's alone.

use serde_json::Value;

use crate::{
    MASTER, WORKER, api, node, rhel,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] = &[("rhel stand-in: two plans for one node begin it once", two_plans)];

const PLAN: &str = "
apiVersion: blackstart.io/v1alpha1
kind: UpgradePlan
metadata: { name: NAME }
spec: { nodes: { matchLabels: { kubernetes.io/hostname: worker-01 } } }
";

fn status(cluster: &Cluster, plan: &str) -> Value {
    let plan = cluster.try_kubectl(&["get", "upgradeplan", plan, "-o", "json"]).out;
    serde_json::from_str::<Value>(&plan).unwrap_or_default()["status"].clone()
}

fn two_plans(cluster: &Cluster) {
    rhel::afresh(cluster);
    cluster.try_kubectl(&["delete", "nodeupgrade", WORKER, "--timeout=60s"]);
    for plan in ["one", "two"] {
        cluster.apply(&PLAN.replace("NAME", plan));
    }
    eventually("the node waits for its Secret", || node::object(cluster)["status"]["waitsFor"]["code"] == "BS-UPG-001");
    api::secret(cluster, node::KEYS);
    let keys = node::KEYS;
    let create = format!(
        "kubectl create secret generic -n ipb-system ipb-{WORKER} --from-file={keys} --dry-run=client -o yaml \
         | kubectl label --local -f - blackstart.io/ipb=true -o yaml | kubectl apply --server-side -f -"
    );
    cluster.sh(MASTER, &create);
    let owner = || node::object(cluster)["spec"]["plan"].as_str().unwrap_or_default().to_owned();
    let other = if owner() == "one" { "two" } else { "one" };
    eventually("the plan that has the node is done", || {
        let status = status(cluster, &owner());
        status["done"] == 1 && status["conditions"][0]["status"] == "True"
    });
    let stages = rhel::stages(cluster);
    assert_eq!(stages.len(), 2, "{stages:?}");
    let waits = status(cluster, other);
    assert_eq!(waits["message"], format!("{WORKER} belongs to plan {}", owner()), "{waits:#}");
    assert_eq!(waits["done"], 0, "{waits:#}");
    rhel::assert_upgraded(cluster);
    node::assert_given_back(cluster);
    cluster.kubectl(&["delete", "upgradeplan", "one", "two"]);
    cluster.kubectl(&["delete", "nodeupgrade", WORKER, "--timeout=60s"]);
}
