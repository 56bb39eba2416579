//! Who may ask without saying who they are: health probes, and no other client.
//!
//! Where machines that are not listed may join, `kubeadm join` begins with an anonymous look at `cluster-info`, which is
//! signed with the token. That one object is opened then, and nothing beside it.

use serde_json::{Value, json};
use spec::UnlistedNodes;

use crate::yaml;

const HEALTH: &[&str] = &["/livez", "/readyz", "/healthz"];
const CLUSTER_INFO: &str = "/api/v1/namespaces/kube-public/configmaps/cluster-info";

/// The API server's `AuthenticationConfiguration`.
pub(super) fn config(unlisted: UnlistedNodes) -> String {
    let discovery: &[&str] = match unlisted {
        UnlistedNodes::Deny => &[],
        UnlistedNodes::Allow => &[CLUSTER_INFO],
    };
    let conditions: Vec<Value> = HEALTH.iter().chain(discovery).map(|path| json!({ "path": path })).collect();
    yaml::document(&json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthenticationConfiguration",
        "anonymous": { "enabled": true, "conditions": conditions },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cluster_info_is_open_only_where_strangers_may_join() {
        insta::assert_snapshot!(config(UnlistedNodes::Allow));
        assert!(!config(UnlistedNodes::Deny).contains("cluster-info"));
    }
}
