//! Which interface carries the node's address.
//!
//! | cluster.yaml | the interface |
//! |---|---|
//! | names one | that one |
//! | lists MAC addresses | the one that has the address already, else the first listed that is there |
//! | neither | the one that has the address already, else the only one |
//!
//! Never one that was guessed from the default route: on first boot there is none.

use explain::{Code, Explain};
use host::Interface;
use spec::{InterfaceChoice, Mac, Node};

use super::links::{Address, Link};
use crate::codes;

/// The interface that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its name.
    pub name: String,
    /// Its MAC address.
    pub mac: Mac,
    /// What it has.
    pub addresses: Vec<Address>,
}

/// Why none was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoInterface {
    /// The one that cluster.yaml names is not there.
    #[error("there is no interface `{name}`; seen here: {seen}")]
    Named {
        /// As it is named.
        name: String,
        /// Those that are there.
        seen: String,
    },
    /// None has an address of the list.
    #[error("no interface has one of the MAC addresses of node `{node}` ({wanted}); seen here: {seen}")]
    Listed {
        /// The node.
        node: String,
        /// Its MAC addresses.
        wanted: String,
        /// Those that are there.
        seen: String,
    },
    /// There is more than one, and no list.
    #[error("node `{node}` lists no MAC address, so its interface is unknown; seen here: {seen}")]
    Unlisted {
        /// The node.
        node: String,
        /// Those that are there.
        seen: String,
    },
}

impl Explain for NoInterface {
    fn code(&self) -> Code {
        codes::NO_INTERFACE
    }
}

/// Chooses among the interfaces of a machine that runs.
pub fn choose(
    choice: &InterfaceChoice,
    node: &Node,
    interfaces: &[Interface],
    links: &[Link],
) -> Result<Found, NoInterface> {
    let all: Vec<Found> = interfaces.iter().filter_map(|interface| found(interface, links)).collect();
    let listed = &node.hardware.mac_addresses;
    let seen = || seen(interfaces);
    let chosen = match choice {
        InterfaceChoice::Named(name) => all
            .iter()
            .find(|found| found.name == *name)
            .ok_or_else(|| NoInterface::Named { name: name.clone(), seen: seen() }),
        InterfaceChoice::ByMac if listed.is_empty() => match all.as_slice() {
            [only] => Ok(only),
            _ => carrying(&all, node).ok_or_else(|| NoInterface::Unlisted { node: node.name.clone(), seen: seen() }),
        },
        InterfaceChoice::ByMac => {
            let fitting: Vec<Found> =
                listed.iter().flat_map(|mac| all.iter().filter(move |found| found.mac == *mac)).cloned().collect();
            let wanted = listed.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let nothing = || NoInterface::Listed { node: node.name.clone(), wanted, seen: seen() };
            return carrying(&fitting, node).or(fitting.first()).cloned().ok_or_else(nothing);
        }
    };
    chosen.cloned()
}

/// The MAC address to write where no machine can be looked at. Where the interface is named, it is not read.
pub fn expected(choice: &InterfaceChoice, node: &Node) -> Result<Mac, NoInterface> {
    match (choice, node.hardware.mac_addresses.first()) {
        (_, Some(mac)) => Ok(*mac),
        (InterfaceChoice::Named(_), None) => Ok(Mac([0; 6])),
        (InterfaceChoice::ByMac, None) => Err(NoInterface::Unlisted { node: node.name.clone(), seen: seen(&[]) }),
    }
}

fn found(interface: &Interface, links: &[Link]) -> Option<Found> {
    let link = links.iter().find(|link| link.name == interface.name);
    let addresses = link.map(|link| link.addresses.clone()).unwrap_or_default();
    Some(Found { name: interface.name.clone(), mac: interface.mac.parse().ok()?, addresses })
}

fn carrying<'a>(all: &'a [Found], node: &Node) -> Option<&'a Found> {
    all.iter().find(|found| found.addresses.iter().any(|address| address.ip == node.ip))
}

fn seen(interfaces: &[Interface]) -> String {
    if interfaces.is_empty() {
        return "no interface with a MAC address".to_owned();
    }
    let each: Vec<String> = interfaces.iter().map(|each| format!("{} ({})", each.name, each.mac)).collect();
    each.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(macs: &str) -> Node {
        let text = format!(
            "cluster: {{ name: home, networking: {{ node_cidr: 10.0.0.0/24 }} }}\n\
             nodes: [{{ name: m, ip: 10.0.0.10, roles: [master], hardware: {{ mac_addresses: [{macs}] }} }}]"
        );
        spec::check_text(&text).cluster.unwrap().nodes()[0].clone()
    }

    /// `eth0=52:54:00:00:00:01=10.0.0.10`: name, MAC and, where there is one, the address.
    fn machine(text: &str) -> (Vec<Interface>, Vec<Link>) {
        let parts = text.split_whitespace().map(|each| each.split('=').collect::<Vec<_>>());
        let each = parts.map(|part| {
            let addresses: Vec<Address> = match part.get(2) {
                Some(ip) => serde_json::from_str(&format!(r#"[{{"local":"{ip}","prefixlen":24}}]"#)).unwrap(),
                None => Vec::new(),
            };
            (Interface { name: part[0].into(), mac: part[1].into() }, Link { name: part[0].into(), addresses })
        });
        each.unzip()
    }

    #[test]
    fn the_right_one_or_why_none() {
        const ONE: &str = "eth0=52:54:00:00:00:01";
        const TWO: &str = "eth0=52:54:00:00:00:01 eth1=52:54:00:00:00:02";
        const BRIDGED: &str = "br0=52:54:00:00:00:01=10.0.0.10 eth0=52:54:00:00:00:01";
        let named = |name: &str| InterfaceChoice::Named(name.to_owned());
        let by_mac = || InterfaceChoice::ByMac;
        let (first, second, other) = ("'52:54:00:00:00:01'", "'52:54:00:00:00:02'", "'52:54:00:00:00:09'");
        let mut report = String::new();
        for (choice, macs, seen) in [
            (named("eth1"), String::new(), TWO),
            (named("eth2"), String::new(), TWO),
            (by_mac(), second.to_owned(), TWO),
            (by_mac(), format!("{second}, {first}"), TWO),
            (by_mac(), first.to_owned(), BRIDGED),
            (by_mac(), other.to_owned(), TWO),
            (by_mac(), String::new(), ONE),
            (by_mac(), String::new(), TWO),
            (by_mac(), String::new(), BRIDGED),
            (by_mac(), String::new(), ""),
        ] {
            let (interfaces, links) = machine(seen);
            let chosen = choose(&choice, &node(&macs), &interfaces, &links);
            let chosen = chosen.map_or_else(|error| error.to_string(), |found| found.name);
            report += &format!("{choice:?} [{macs}] of [{seen}]\n    {chosen}\n");
        }
        insta::assert_snapshot!(report);
    }

    #[test]
    fn an_image_takes_the_first_that_is_listed() {
        let mac = |text: &str| text.parse::<Mac>().unwrap();
        let listed = node("'52:54:00:00:00:02', '52:54:00:00:00:01'");
        assert_eq!(expected(&InterfaceChoice::ByMac, &listed), Ok(mac("52:54:00:00:00:02")));
        assert!(expected(&InterfaceChoice::ByMac, &node("")).is_err());
        assert!(expected(&InterfaceChoice::Named("eth0".into()), &node("")).is_ok());
    }
}
