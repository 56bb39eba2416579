//! Routes to the other nodes' pods and to the services. They carry a protocol number of their own, by which they are found again: after a
//! restart of the agent the kernel itself says what is there.

use std::{collections::BTreeMap, net::IpAddr};

use host::Cmd;
use ipnet::IpNet;
use serde::Deserialize;

use crate::AgentError;

/// `rtm_protocol` of our routes; no known routing daemon uses it.
const PROTOCOL: &str = "176";

const LOOPBACK: &str = "lo";

/// A route as the kernel shows it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Route {
    dst: String,
    /// None where it has several, or none.
    gateway: Option<String>,
    dev: Option<String>,
    /// The address that packets of this machine get.
    prefsrc: Option<String>,
}

/// Where a route leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// To another node.
    Via(IpAddr),
    /// Nowhere: kube-proxy sends the packets elsewhere, but the kernel asks for a route before, and a machine without a
    /// gateway would have none. They carry the node's own address.
    Services(IpAddr),
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
pub(super) fn plan(family: IpNet, wanted: &BTreeMap<IpNet, Way>, seen: &[Route]) -> Vec<Cmd> {
    let has =
        |network: &IpNet, way: Way| seen.iter().any(|route| route.network() == Some(*network) && route.leads(way));
    let missing = wanted.iter().filter(|(network, way)| !has(network, **way)).map(|(network, way)| {
        let replace = ip(family).args(["route", "replace", &network.to_string()]);
        let replace = match way {
            Way::Via(gateway) => replace.args(["via", &gateway.to_string()]),
            Way::Services(own) => replace.args(["dev", LOOPBACK, "src", &own.to_string()]),
        };
        replace.args(["proto", PROTOCOL])
    });
    let stale = seen.iter().filter(|route| route.network().is_none_or(|network| !wanted.contains_key(&network)));
    let removed = stale.map(|route| ip(family).args(["route", "del", &route.dst, "proto", PROTOCOL]));
    missing.chain(removed).collect()
}

impl Route {
    fn network(&self) -> Option<IpNet> {
        self.dst.parse().ok()
    }

    fn leads(&self, way: Way) -> bool {
        let address = |text: &Option<String>| text.as_ref().and_then(|text| text.parse().ok());
        match way {
            Way::Via(gateway) => address(&self.gateway) == Some(gateway),
            Way::Services(own) => self.dev.as_deref() == Some(LOOPBACK) && address(&self.prefsrc) == Some(own),
        }
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
    const SERVICES: &str = r#"[{"dst":"10.96.0.0/12","dev":"lo","scope":"link","prefsrc":"10.0.0.1","flags":[]}]"#;
    const NET4: &str = "10.244.0.0/16";
    const NET6: &str = "fd00:10:244::/56";

    fn planned(family: &str, seen: &str, wanted: &[(&str, &str)]) -> Vec<String> {
        let way = |text: &str| match text.strip_prefix("services of ") {
            Some(own) => Way::Services(own.parse().unwrap()),
            None => Way::Via(text.parse().unwrap()),
        };
        let wanted = wanted.iter().map(|(net, text)| (net.parse().unwrap(), way(text))).collect();
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
            (
                NET4,
                "[]",
                &[("10.96.0.0/12", "services of 10.0.0.1")],
                &["ip -4 route replace 10.96.0.0/12 dev lo src 10.0.0.1 proto 176"],
            ),
            (NET4, SERVICES, &[("10.96.0.0/12", "services of 10.0.0.1")], &[]),
            (
                NET4,
                SERVICES,
                &[("10.96.0.0/12", "services of 10.0.0.7")],
                &["ip -4 route replace 10.96.0.0/12 dev lo src 10.0.0.7 proto 176"],
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
