//! The way to other nodes' pods: where the kernel would send a packet for them.

use std::net::IpAddr;

use futures::future::join_all;
use host::Cmd;
use playbooks::cluster::ids;
use serde::Deserialize;
use spec::{NetworkAddOn, Node, Role};

use crate::{Check, Checking, Context, Finding, Part, codes::POD_ROUTE};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new("pod-routes", "routes to the pods of other nodes", &[POD_ROUTE], check);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let networking = context.cluster.networking();
        // No pod of a network of its own lands on a bootstrap node, and it has no routes.
        let has_pods = !context.node.has(Role::Bootstrap);
        if !has_pods || networking.add_on != NetworkAddOn::Basic || !context.was_done(ids::NODE_READY).await? {
            return Ok(Vec::new());
        }
        // A node that has not joined has no route yet.
        let joined = context.nodes().await?.clone()?;
        let has_joined = |name: &str| joined.iter().any(|node| node.metadata.name.as_deref() == Some(name));
        let others = context.cluster.nodes().iter();
        let others = others.filter(|other| other.name != context.node.name && has_joined(&other.name));
        let checks = others.filter_map(|other| Some((other, networking.pod_cidr_of(other.ip)?.hosts().next()?)));
        let checked = join_all(checks.map(async |(other, pod)| (other, pod, ask(context, pod).await))).await;
        let astray: Vec<String> = checked.iter().filter_map(|(other, pod, way)| evaluate(other, *pod, way)).collect();
        if astray.is_empty() {
            return Ok(Vec::new());
        }
        let evidence = astray.join("; ");
        Ok(vec![Finding::symptom(POD_ROUTE, Part::PodNetwork, evidence)])
    })
}

/// The kernel's answer, or its error where it has no route.
async fn ask(context: &Context, pod: IpAddr) -> Result<String, String> {
    let command = Cmd::new("ip").args(["-j", "route", "get", &pod.to_string()]).env("LC_ALL", "C");
    context.host.commands.run(&command).await.map(|printed| printed.stdout).map_err(|error| error.to_string())
}

#[derive(Deserialize)]
struct Way {
    gateway: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    dev: Option<String>,
}

/// What is wrong with the way to a node's pods.
fn evaluate(other: &Node, pod: IpAddr, way: &Result<String, String>) -> Option<String> {
    let name = &other.name;
    let printed = match way {
        Ok(printed) => printed,
        Err(why) => return Some(format!("no way to {pod} of {name}: {why}")),
    };
    let way = serde_json::from_str::<Vec<Way>>(printed).ok().and_then(|ways| ways.into_iter().next())?;
    match (&way.gateway, &way.kind) {
        (Some(gateway), _) if gateway.parse() == Ok(other.ip) => None,
        (Some(gateway), _) => Some(format!("{pod} of {name} is reached by {gateway} instead of {}", other.ip)),
        (None, Some(kind)) => Some(format!("{pod} of {name} meets a {kind} route")),
        (None, None) => {
            let dev = way.dev.unwrap_or_default();
            Some(format!("{pod} of {name} is routed to {dev}, and not via {}", other.ip))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cluster;

    #[test]
    fn only_the_node_itself_leads_to_its_pods() {
        let cluster = cluster();
        let (node, pod) = (cluster.node("worker-01").unwrap(), "10.244.21.1".parse().unwrap());
        for (way, expected) in [
            (Ok(r#"[{"dst":"10.244.21.1","gateway":"10.0.0.21","dev":"eth0","prefsrc":"10.0.0.11"}]"#), None),
            (
                Ok(r#"[{"dst":"10.244.21.1","gateway":"10.0.0.1","dev":"eth0"}]"#),
                Some("10.244.21.1 of worker-01 is reached by 10.0.0.1 instead of 10.0.0.21"),
            ),
            (
                Ok(r#"[{"type":"blackhole","dst":"10.244.21.1"}]"#),
                Some("10.244.21.1 of worker-01 meets a blackhole route"),
            ),
            (
                Ok(r#"[{"dst":"10.244.21.1","dev":"docker0"}]"#),
                Some("10.244.21.1 of worker-01 is routed to docker0, and not via 10.0.0.21"),
            ),
            (
                Err("RTNETLINK answers: Network is unreachable"),
                Some("no way to 10.244.21.1 of worker-01: RTNETLINK answers: Network is unreachable"),
            ),
        ] {
            let way = way.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(evaluate(node, pod, &way).as_deref(), expected);
        }
    }
}
