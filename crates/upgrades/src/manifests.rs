//! What `infrastructure/in-place` holds, for those who have only the program.
//!
//! By agents, for a cluster made by Blackstart: kinds, and the controller's rights and policies, for the masters' agents act as its
//! account. Without pods, what is for pods is left out.

const NAMESPACE: &str = include_str!("../../../infrastructure/in-place/namespace.yaml");
const CRDS: &str = include_str!("../../../infrastructure/in-place/crds.yaml");
const RBAC: &str = include_str!("../../../infrastructure/in-place/rbac.yaml");
const POLICIES: &str = include_str!("../../../infrastructure/in-place/policies.yaml");
const DAEMON_SET: &str = include_str!("../../../infrastructure/in-place/daemonset.yaml");
const CONTROLLER: &str = include_str!("../../../infrastructure/in-place/controller.yaml");
/// In the order in which they are applied.
const BY_PODS: [&str; 6] = [NAMESPACE, CRDS, RBAC, POLICIES, DAEMON_SET, CONTROLLER];

const NAMESPACE_WITHOUT_PODS: &str = include_str!("../../../infrastructure/in-place-agents/namespace.yaml");
const AGENTS: &str = include_str!("../../../infrastructure/in-place-agents/agents.yaml");
/// The label of what is for the pods on the nodes.
const OF_PODS: &str = "app: ipb-daemonset\n";

/// For any cluster, as one stream of documents.
pub fn by_pods() -> String {
    BY_PODS.join("---\n")
}

/// For a cluster whose nodes have agents.
pub fn by_agents() -> String {
    let of_controller = [CRDS, RBAC, POLICIES].map(|file| {
        let documents = file.split("---\n").filter(|document| !document.contains(OF_PODS));
        documents.collect::<Vec<_>>().join("---\n")
    });
    [&[NAMESPACE_WITHOUT_PODS.to_owned()], &of_controller[..], &[AGENTS.to_owned()]].concat().join("---\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names;

    #[test]
    fn nothing_of_the_kustomization_is_missing() {
        let kustomization = include_str!("../../../infrastructure/in-place/kustomization.yaml");
        let named = kustomization.lines().filter(|line| line.trim().starts_with("- ") && line.contains(".yaml"));
        assert_eq!(named.count(), BY_PODS.len());
    }

    #[test]
    fn agents_need_kinds_rights_and_no_pods() {
        let objects = kubeapi::parse("agents", &by_agents()).unwrap();
        let shown: Vec<String> = objects
            .iter()
            .map(|object| {
                let (kind, metadata) = (object["kind"].as_str().unwrap(), &object["metadata"]);
                let namespace = metadata["namespace"].as_str().map(|it| format!("{it}/")).unwrap_or_default();
                format!("{kind} {namespace}{}", metadata["name"].as_str().unwrap())
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"));
        let settings = objects.last().unwrap();
        assert_eq!(settings["metadata"]["name"], names::AGENTS);
        assert_eq!(settings["metadata"]["namespace"], names::NAMESPACE);
        assert!(settings["data"][names::MAX_UNAVAILABLE].is_string());
        let account = names::controller_account();
        let policies = objects.iter().filter(|object| object["kind"] == "ValidatingAdmissionPolicy");
        assert!(policies.into_iter().all(|policy| policy["spec"].to_string().contains(&account)));
    }
}
