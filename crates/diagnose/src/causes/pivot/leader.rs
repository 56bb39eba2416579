//! A bootstrap node that has given up its API server and still leads etcd: its hand-over stands still in the middle.

use etcd::survey::{Role, Survey};
use kubeapi::{k8s_openapi::api::discovery::v1::EndpointSlice, kube::Api};
use playbooks::cluster::ids;
use spec::Node;

use crate::{Check, Checking, Context, Finding, Part, Roles, codes::BOOTSTRAP_LEADS};

/// See [`super::super`].
pub(crate) const CHECK: Check = Check::new(
    "bootstrap-leader",
    "a bootstrap node that has handed over its API and still leads etcd",
    &[BOOTSTRAP_LEADS],
    check,
)
.only(Roles::Masters);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if !context.role().is_master() || !context.was_done(ids::NODE_READY).await? {
            return Ok(Vec::new());
        }
        let Some(node) = context.living_bootstrap_node().await else { return Ok(Vec::new()) };
        let survey = Survey::of(&context.etcd().await?.heard);
        if !leads(node, &survey) {
            return Ok(Vec::new());
        }
        let get = async |client| Api::<EndpointSlice>::namespaced(client, "default").get_opt("kubernetes").await;
        let slice = context.objects().await?.ask("see where the API's Service leads", get).await?;
        Ok(evaluate(node, slice.as_ref()).into_iter().collect())
    })
}

fn leads(node: &Node, survey: &Survey) -> bool {
    let url = etcd::peer_url(node.ip);
    survey.members.iter().any(|row| row.role == Role::Leader && row.peer_urls.contains(&url))
}

/// While its API server is there, it leads by right.
fn evaluate(node: &Node, slice: Option<&EndpointSlice>) -> Option<Finding> {
    let ip = node.ip.to_string();
    let mut addresses = slice?.endpoints.iter().flatten().flat_map(|endpoint| &endpoint.addresses);
    if addresses.any(|address| *address == ip) {
        return None;
    }
    let evidence = format!("the API is with the masters, and {} ({ip}) still leads etcd", node.name);
    Some(Finding::warning(BOOTSTRAP_LEADS, Part::Etcd, evidence))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::with_bootstrap_node;

    #[test]
    fn it_leads_by_right_while_it_serves() {
        let cluster = with_bootstrap_node();
        let node = cluster.bootstrap_node().unwrap();
        let slice = |address: &str| -> EndpointSlice {
            serde_json::from_value(json!({ "addressType": "IPv4", "endpoints": [{ "addresses": [address] }] })).unwrap()
        };
        assert_eq!(evaluate(node, Some(&slice("10.0.0.9"))), None);
        assert_eq!(evaluate(node, None), None);
        let found = evaluate(node, Some(&slice("10.0.0.11"))).unwrap();
        assert_eq!(found.evidence, "the API is with the masters, and bootstrap (10.0.0.9) still leads etcd");
    }
}
