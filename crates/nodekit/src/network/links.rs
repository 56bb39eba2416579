//! What the kernel says of interfaces, addresses and ways out: `ip -j`.

use std::net::IpAddr;

use engine::StepError;
use host::{Cmd, Host};
use serde::Deserialize;

/// An interface with its addresses.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Link {
    /// `eth0`.
    #[serde(rename = "ifname")]
    pub name: String,
    /// What it has.
    #[serde(rename = "addr_info", default)]
    pub addresses: Vec<Address>,
}

/// An address on an interface.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Address {
    /// The address.
    #[serde(rename = "local")]
    pub ip: IpAddr,
    #[serde(rename = "prefixlen")]
    prefix: u8,
    /// An address of IPv6 that may yet turn out to be another machine's.
    #[serde(default)]
    tentative: bool,
}

impl Address {
    /// True if it is this one, and can be used.
    pub fn is(&self, ip: IpAddr, prefix: u8) -> bool {
        self.ip == ip && self.prefix == prefix && !self.tentative
    }
}

/// All interfaces.
pub async fn read(host: &Host) -> Result<Vec<Link>, StepError> {
    parse(&ask(host, &["addr"]).await?)
}

/// The gateways that lead out of an interface's network now.
pub async fn gateways(host: &Host, interface: &str) -> Result<Vec<IpAddr>, StepError> {
    #[derive(Deserialize)]
    struct Route {
        gateway: Option<IpAddr>,
    }
    let mut gateways = Vec::new();
    for family in ["-4", "-6"] {
        let routes: Vec<Route> = parse(&ask(host, &[family, "route", "show", "default", "dev", interface]).await?)?;
        gateways.extend(routes.into_iter().filter_map(|route| route.gateway));
    }
    Ok(gateways)
}

/// True if a neighbour has just answered with its hardware address, whatever else it answers to.
pub async fn is_neighbour(host: &Host, interface: &str, ip: IpAddr) -> Result<bool, StepError> {
    #[derive(Deserialize)]
    struct Neighbour {
        state: Vec<String>,
    }
    let text = ask(host, &["neigh", "show", "to", &ip.to_string(), "dev", interface]).await?;
    let found: Vec<Neighbour> = parse(&text)?;
    Ok(found.iter().any(|neighbour| neighbour.state.iter().any(|state| state == "REACHABLE")))
}

/// Forgets what a neighbour answered earlier.
pub async fn forget_neighbour(host: &Host, interface: &str, ip: IpAddr) -> Result<(), StepError> {
    ask(host, &["neigh", "flush", "to", &ip.to_string(), "dev", interface]).await.map(drop)
}

async fn ask(host: &Host, arguments: &[&str]) -> Result<String, StepError> {
    let command = Cmd::new("ip").arg("-j").args(arguments.iter().copied());
    let printed = host.commands.run(&command).await.map_err(|error| StepError::from_explained(&error))?;
    Ok(printed.stdout)
}

/// Nothing at all is how `ip` says "none" of some things.
fn parse<T: for<'de> Deserialize<'de>>(text: &str) -> Result<Vec<T>, StepError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    serde_json::from_str(text)
        .map_err(|error| StepError::new(host::codes::COMMAND, "unexpected output of `ip -j`").with_source(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDR: &str = r#"[
        {"ifindex":1,"ifname":"lo","addr_info":[{"family":"inet","local":"127.0.0.1","prefixlen":8}]},
        {"ifindex":2,"ifname":"eth0","address":"52:54:0a:58:00:0b","addr_info":[
            {"family":"inet","local":"10.88.0.11","prefixlen":24,"noprefixroute":true},
            {"family":"inet6","local":"fd00::11","prefixlen":64,"tentative":true}]},
        {"ifindex":3,"ifname":"eth1"}]"#;

    #[test]
    fn addresses_count_when_they_can_be_used() {
        let links: Vec<Link> = parse(ADDR).unwrap();
        let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
        assert_eq!(names, ["lo", "eth0", "eth1"]);
        let has = |ip: &str, prefix| links[1].addresses.iter().any(|address| address.is(ip.parse().unwrap(), prefix));
        assert!(has("10.88.0.11", 24));
        assert!(!has("10.88.0.11", 16), "another prefix");
        assert!(!has("fd00::11", 64), "not sure of it yet");
    }

    #[test]
    fn nothing_is_none_and_nonsense_an_error() {
        assert_eq!(parse::<Link>("\n").unwrap(), []);
        assert!(parse::<Link>("Device \"x\" does not exist.").is_err());
    }
}
