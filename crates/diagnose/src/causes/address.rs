//! The node's address of `cluster.yaml` is on an interface of the machine.

use std::net::IpAddr;

use playbooks::cluster::ids;
use serde::Deserialize;

use crate::{Check, Checking, Context, Finding, Inconclusive, Part, codes::ADDRESS_GONE};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new("address", "the node's address is on an interface", &[ADDRESS_GONE], check);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if !context.was_done(ids::NETWORK).await? {
            return Ok(Vec::new());
        }
        let there = addresses(&context.output("ip", ["-json", "address", "show"]).await?)?;
        Ok(evaluate(context.node.ip, &there).into_iter().collect())
    })
}

#[derive(Deserialize)]
struct Interface {
    ifname: String,
    #[serde(default)]
    addr_info: Vec<Address>,
}

#[derive(Deserialize)]
struct Address {
    local: Option<IpAddr>,
}

/// Every address, with its interface.
pub(super) fn addresses(shown: &str) -> Result<Vec<(String, IpAddr)>, Inconclusive> {
    let interfaces: Vec<Interface> =
        serde_json::from_str(shown).map_err(|error| Inconclusive(format!("`ip -json address show`: {error}")))?;
    let each = |one: Interface| {
        let Interface { ifname, addr_info } = one;
        addr_info.into_iter().filter_map(move |address| Some((ifname.clone(), address.local?)))
    };
    Ok(interfaces.into_iter().flat_map(each).collect())
}

fn evaluate(wanted: IpAddr, there: &[(String, IpAddr)]) -> Option<Finding> {
    if there.iter().any(|(_, address)| *address == wanted) {
        return None;
    }
    // Pods' ends of their links are of no interest; what the machine itself has is.
    let own = there.iter().filter(|(name, address)| {
        let is_link_local = matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local());
        !address.is_loopback() && !is_link_local && !name.starts_with("veth")
    });
    let own: Vec<String> = own.map(|(name, address)| format!("{address} on {name}")).collect();
    let own = if own.is_empty() { "no other address".to_owned() } else { own.join(", ") };
    let evidence = format!("cluster.yaml gives this node {wanted}, and the machine has {own}");
    Some(Finding::cause(ADDRESS_GONE, Part::Network, evidence))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: &str = r#"[
        {"ifname":"lo","addr_info":[{"family":"inet","local":"127.0.0.1","prefixlen":8}]},
        {"ifname":"eth0","addr_info":[{"local":"192.168.1.77"},{"local":"fe80::1"}]},
        {"ifname":"veth12","addr_info":[{"local":"10.244.1.1"}]},
        {"ifname":"down0","addr_info":[{}]}
    ]"#;

    #[test]
    fn an_address_that_is_gone_is_reported_with_what_is_there() {
        let there = addresses(SHOWN).unwrap();
        assert_eq!(evaluate("192.168.1.77".parse().unwrap(), &there), None);
        let finding = evaluate("192.168.1.10".parse().unwrap(), &there).unwrap();
        insta::assert_snapshot!(
            finding.evidence,
            @"cluster.yaml gives this node 192.168.1.10, and the machine has 192.168.1.77 on eth0"
        );
        let none = evaluate("192.168.1.10".parse().unwrap(), &[]).unwrap();
        assert!(none.evidence.ends_with("no other address"), "{none:?}");
        assert!(addresses("no json").is_err());
    }
}
