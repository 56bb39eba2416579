//! Routes to the other nodes' pods. They carry a protocol number of their own, by which they are found again: after a
//! restart of the agent the kernel itself says what is there.

use std::{collections::BTreeMap, net::IpAddr};

use host::Cmd;
use ipnet::IpNet;
use serde::Deserialize;

use crate::AgentError;

/// `rtm_protocol` of our routes; no known routing daemon uses it.
const PROTOCOL: &str = "176";

/// A route as the kernel shows it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Route {
    dst: String,
    /// None where it has several, or none.
    gateway: Option<String>,
}

/// Shows the routes that are ours, of the family of this network.
pub(super) fn show(family: IpNet) -> Cmd {
    ip(family).args(["-j", "route", "show", "proto", PROTOCOL])
}

/// Reads what [`show`] printed.
pub(super) fn parse(printed: &str) -> Result<Vec<Route>, AgentError> {
    if printed.trim().is_empty() {
        return Ok(Vec::new());
    }
    serde_json::from_str(printed)
        .map_err(|error| AgentError::Output { command: "ip route show".into(), why: error.to_string() })
}

/// The commands that turn the routes seen into those wanted: first what is missing, then what is stale.
pub(super) fn plan(family: IpNet, wanted: &BTreeMap<IpNet, IpAddr>, seen: &[Route]) -> Vec<Cmd> {
    let has = |network: &IpNet, gateway: &IpAddr| {
        seen.iter().any(|route| {
            route.network() == Some(*network)
                && route.gateway.as_ref().and_then(|seen| seen.parse().ok()) == Some(*gateway)
        })
    };
    let missing = wanted.iter().filter(|(network, gateway)| !has(network, gateway)).map(|(network, gateway)| {
        let (network, gateway) = (network.to_string(), gateway.to_string());
        ip(family).args(["route", "replace", &network, "via", &gateway, "proto", PROTOCOL])
    });
    let stale = seen.iter().filter(|route| route.network().is_none_or(|network| !wanted.contains_key(&network)));
    let removed = stale.map(|route| ip(family).args(["route", "del", &route.dst, "proto", PROTOCOL]));
    missing.chain(removed).collect()
}

impl Route {
    fn network(&self) -> Option<IpNet> {
        self.dst.parse().ok()
    }
}

fn ip(family: IpNet) -> Cmd {
    Cmd::new("ip").arg(match family {
        IpNet::V4(_) => "-4",
        IpNet::V6(_) => "-6",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by iproute2 6.1.
    const V4: &str = r#"[{"dst":"10.244.1.0/24","gateway":"10.0.0.2","dev":"v0","flags":[]},{"dst":"10.244.2.0/24","gateway":"10.0.0.3","dev":"v0","flags":[]}]"#;
    const V6: &str =
        r#"[{"dst":"fd00:10:244:1::/64","gateway":"fd00:1::2","dev":"v0","metric":1024,"flags":[],"pref":"medium"}]"#;
    const NET4: &str = "10.244.0.0/16";
    const NET6: &str = "fd00:10:244::/56";

    fn planned(family: &str, seen: &str, wanted: &[(&str, &str)]) -> Vec<String> {
        let wanted = wanted.iter().map(|(net, via)| (net.parse().unwrap(), via.parse().unwrap())).collect();
        let commands = plan(family.parse().unwrap(), &wanted, &parse(seen).unwrap());
        commands.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn only_differences_are_planned() {
        type Case<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);
        let cases: &[Case<'_>] = &[
            (NET4, V4, &[("10.244.1.0/24", "10.0.0.2"), ("10.244.2.0/24", "10.0.0.3")], &[]),
            (
                NET4,
                "[ ]",
                &[("10.244.1.0/24", "10.0.0.2")],
                &["ip -4 route replace 10.244.1.0/24 via 10.0.0.2 proto 176"],
            ),
            (NET4, "", &[], &[]),
            (
                NET4,
                V4,
                &[("10.244.1.0/24", "10.0.0.9"), ("10.244.3.0/24", "10.0.0.4")],
                &[
                    "ip -4 route replace 10.244.1.0/24 via 10.0.0.9 proto 176",
                    "ip -4 route replace 10.244.3.0/24 via 10.0.0.4 proto 176",
                    "ip -4 route del 10.244.2.0/24 proto 176",
                ],
            ),
            (NET4, r#"[{"dst":"default","gateway":"10.0.0.9"}]"#, &[], &["ip -4 route del default proto 176"]),
            (
                NET4,
                r#"[{"dst":"10.244.1.0/24","nexthops":[]}]"#,
                &[("10.244.1.0/24", "10.0.0.2")],
                &["ip -4 route replace 10.244.1.0/24 via 10.0.0.2 proto 176"],
            ),
            (NET6, V6, &[("fd00:10:244:1::/64", "fd00:1::2")], &[]),
            (NET6, V6, &[], &["ip -6 route del fd00:10:244:1::/64 proto 176"]),
        ];
        for (family, seen, wanted, expected) in cases {
            assert_eq!(planned(family, seen, wanted), *expected, "{seen}");
        }
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        assert!(matches!(parse("10.244.1.0/24 via 10.0.0.2"), Err(AgentError::Output { .. })));
    }
}
