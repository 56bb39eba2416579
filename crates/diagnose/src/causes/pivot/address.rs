//! The Service `kubernetes` leads pods to a bootstrap node that is gone.

use kubeapi::{k8s_openapi::api::discovery::v1::EndpointSlice, kube::Api};
use spec::Node;

use super::{REMOVE, gone};
use crate::{Check, Checking, Context, Finding, Part, Roles, codes::BOOTSTRAP_ADDRESS};

/// See [`super::super`].
pub(crate) const CHECK: Check = Check::new(
    "bootstrap-address",
    "a bootstrap node that is gone: its address in the Service `kubernetes`",
    &[BOOTSTRAP_ADDRESS],
    check,
)
.only(Roles::Masters);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let Some(node) = gone(context).await? else { return Ok(Vec::new()) };
        let get = async |client| Api::<EndpointSlice>::namespaced(client, "default").get_opt("kubernetes").await;
        let slice = context.objects().await?.ask("see where the API's Service leads", get).await?;
        Ok(slice.and_then(|slice| evaluate(node, &slice)).into_iter().collect())
    })
}

fn evaluate(node: &Node, slice: &EndpointSlice) -> Option<Finding> {
    let ip = node.ip.to_string();
    let mut addresses = slice.endpoints.iter().flatten().flat_map(|endpoint| &endpoint.addresses);
    if !addresses.any(|address| *address == ip) {
        return None;
    }
    let evidence = format!("the Service kubernetes leads to {ip}, and {} does not answer there", node.name);
    let fix = format!("{REMOVE}; the API servers remove an address that is not renewed for 15 s");
    Some(Finding::cause(BOOTSTRAP_ADDRESS, Part::Workloads, evidence).with_fix(fix))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::with_bootstrap_node;

    #[test]
    fn an_address_is_compared_whole() {
        let cluster = with_bootstrap_node();
        let node = cluster.bootstrap_node().unwrap();
        for (address, is_left) in [("10.0.0.9", true), ("10.0.0.90", false), ("10.0.0.11", false)] {
            let slice = json!({ "addressType": "IPv4", "endpoints": [{ "addresses": ["10.0.0.12"] }, { "addresses": [address] }] });
            let found = evaluate(node, &serde_json::from_value(slice).unwrap());
            assert_eq!(found.is_some(), is_left, "{address}: {found:?}");
        }
    }
}
