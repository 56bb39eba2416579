//! Who may do what.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use upgrades::names;

use crate::{account, objects, of_kind, strings};

/// Whose, where, on what, and what.
fn all() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for role in objects() {
        let metadata = &role["metadata"];
        let place = metadata["namespace"].as_str().unwrap_or("*");
        for rule in role["rules"].as_array().into_iter().flatten() {
            let words = |key: &str| strings(&rule[key]).into_iter().collect::<Vec<_>>().join(",");
            let (name, groups, only) = (metadata["name"].as_str().unwrap(), words("apiGroups"), words("resourceNames"));
            let groups = if groups.is_empty() { groups } else { format!(" of {groups}") };
            let only = if only.is_empty() { only } else { format!(" called {only}") };
            all.insert(format!("{name} {place} {}{groups}{only}: {}", words("resources"), words("verbs")));
        }
    }
    all
}

#[test]
fn no_account_may_do_more_than_it_does() {
    insta::assert_snapshot!(all().into_iter().collect::<Vec<_>>().join("\n"), @r"
    ipb-controller * nodes: get,list,patch
    ipb-controller * nodeupgrades of blackstart.io: create,get,list,patch
    ipb-controller * nodeupgrades/status,upgradeplans/status of blackstart.io: update
    ipb-controller * pods/eviction: create
    ipb-controller * pods: delete,list
    ipb-controller * upgradeplans of blackstart.io: list
    ipb-controller * volumeattachments of storage.k8s.io: list
    ipb-controller default events of ,events.k8s.io: create,patch
    ipb-controller ipb-system leases of coordination.k8s.io: create,delete,list,update
    ipb-controller ipb-system rolebindings of rbac.authorization.k8s.io: create,delete
    ipb-controller ipb-system roles of rbac.authorization.k8s.io: create,delete,get
    ipb-controller ipb-system secrets: delete,get,patch
    ipb-controller ipb-system securitycontextconstraints of security.openshift.io called nonroot-v2: use
    ipb-daemonset * nodes: get,patch
    ipb-daemonset ipb-system securitycontextconstraints of security.openshift.io called privileged: use
    ");
}

/// The API server lets the controller grant only what it has, unless it may `bind` or `escalate`.
#[test]
fn the_controller_grants_what_it_has() {
    assert!(
        all().iter().any(|right| right.starts_with("ipb-controller ipb-system secrets: ") && right.contains("get"))
    );
    for right in all() {
        let verbs = right.rsplit_once(": ").unwrap().1;
        assert!(!verbs.split(',').any(|verb| ["bind", "escalate", "impersonate", "*"].contains(&verb)), "{right}");
        let of_pods = right.starts_with(names::DAEMON_SET);
        assert!(!of_pods || !["secrets", "nodeupgrades", "upgradeplans"].iter().any(|it| right.contains(it)));
    }
}

#[test]
fn every_role_is_bound_to_its_account() {
    for kind in ["Role", "ClusterRole"] {
        let bindings = of_kind(&format!("{kind}Binding"));
        assert_eq!(bindings.len(), of_kind(kind).len());
        for role in of_kind(kind) {
            let metadata = &role["metadata"];
            let of_role = |binding: &&Value| {
                binding["metadata"]["namespace"] == metadata["namespace"]
                    && binding["roleRef"]["name"] == metadata["name"]
                    && binding["roleRef"]["kind"] == kind
            };
            let binding = bindings.iter().find(of_role).unwrap();
            let subject = json!({ "kind": "ServiceAccount", "name": metadata["name"], "namespace": names::NAMESPACE });
            assert_eq!(binding["subjects"], json!([subject]));
        }
    }
    let accounts = of_kind("ServiceAccount").iter().map(|it| it["metadata"]["name"].clone()).collect::<Vec<_>>();
    assert_eq!(accounts, [names::DAEMON_SET, names::CONTROLLER]);
}

#[test]
fn policies_are_in_force_for_their_account() {
    let (policies, bindings) = (of_kind("ValidatingAdmissionPolicy"), of_kind("ValidatingAdmissionPolicyBinding"));
    assert_eq!((policies.len(), bindings.len()), (5, 5));
    for (policy, binding) in policies.iter().zip(&bindings) {
        let (name, app) = (&policy["metadata"]["name"], policy["metadata"]["labels"]["app"].as_str().unwrap());
        assert_eq!((&binding["spec"]["policyName"], &binding["metadata"]["name"]), (name, name));
        assert_eq!(binding["spec"]["validationActions"], json!(["Deny"]));
        assert_eq!(policy["spec"]["failurePolicy"], "Fail");
        let expected = format!("request.userInfo.username == '{}'", account(app));
        assert_eq!(policy["spec"]["matchConditions"][0]["expression"], expected);
        let validations = policy["spec"]["validations"].as_array().unwrap();
        assert!(validations.iter().all(|one| one["message"].is_string()), "{name}");
    }
    let own_node = policies[0]["spec"].to_string();
    assert!(own_node.contains("authentication.kubernetes.io/node-name"), "{own_node}");
    let own = [names::ORDER_ANNOTATION, names::REPORT_ANNOTATION, names::ENDED_ANNOTATION];
    let own = format!("[{}]", own.map(|key| format!("'{key}'")).join(", "));
    assert!(policies[1]["spec"].to_string().contains(&own), "annotations of Nodes");
    let label = format!("labels['{}'] == '{}'", names::SECRET_LABEL, names::SCHEDULED);
    assert!(policies[2]["spec"].to_string().contains(&label), "Secrets");
    let accounts = format!("['{}', '{}']", names::CONTROLLER, names::DAEMON_SET);
    assert!(policies[3..].iter().all(|policy| policy["spec"].to_string().contains(&accounts)), "own roles");
}
