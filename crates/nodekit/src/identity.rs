//! Which node of the cluster a machine is.
//!
//! All interfaces count, not only the first: cables get swapped. A match must be unique. A machine that matches two
//! nodes is a clone or a mistake in the configuration, and guessing would turn one into the other.

use std::{collections::BTreeMap, fmt::Write};

use explain::{Code, Explain};
use host::Facts;
use spec::{Mac, Node, ValidatedCluster};

use crate::codes;

/// Why it is not known which node this machine is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// Nothing of the machine is in the configuration.
    #[error("no node of cluster `{cluster}` matches this machine; seen here: {seen}")]
    NoMatch {
        /// The cluster's name.
        cluster: String,
        /// What the machine shows.
        seen: String,
    },
    /// Several nodes match.
    #[error("this machine matches more than one node of cluster `{cluster}`: {matches}")]
    Ambiguous {
        /// The cluster's name.
        cluster: String,
        /// Each node with what matched.
        matches: String,
    },
    /// The name given by hand is in no list.
    #[error("cluster `{cluster}` has no node `{name}`; its nodes are {known}")]
    UnknownNode {
        /// The cluster's name.
        cluster: String,
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
        /// The nearest of them.
        nearest: Option<String>,
    },
}

impl Explain for IdentityError {
    fn code(&self) -> Code {
        match self {
            Self::NoMatch { .. } => codes::NO_MATCH,
            Self::Ambiguous { .. } => codes::AMBIGUOUS,
            Self::UnknownNode { .. } => codes::UNKNOWN_NODE,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownNode { nearest: Some(name), .. } => Some(format!("did you mean `{name}`?")),
            _ => None,
        }
    }
}

/// The machine of that name: a node, or the bootstrap node.
pub fn by_name<'a>(cluster: &'a ValidatedCluster, name: &str) -> Result<&'a Node, IdentityError> {
    cluster.machine(name).ok_or_else(|| {
        let names = || cluster.machines().map(|node| node.name.as_str());
        IdentityError::UnknownNode {
            cluster: cluster.name().to_owned(),
            name: name.to_owned(),
            known: shortened(names()),
            nearest: explain::did_you_mean(name, names()).map(str::to_owned),
        }
    })
}

/// The one node whose hardware this machine has.
pub fn by_hardware<'a>(cluster: &'a ValidatedCluster, facts: &Facts) -> Result<&'a Node, IdentityError> {
    let mut matches: BTreeMap<&str, (&Node, Vec<String>)> = BTreeMap::new();
    for node in cluster.machines() {
        let because = why_it_matches(node, facts);
        if !because.is_empty() {
            matches.insert(&node.name, (node, because));
        }
    }
    let mut found = matches.values();
    match (found.next(), found.next()) {
        (Some((node, _)), None) => Ok(node),
        (None, _) => Err(IdentityError::NoMatch { cluster: cluster.name().to_owned(), seen: seen(facts) }),
        (Some(_), Some(_)) => {
            let each = matches.values().map(|(node, because)| format!("{} ({})", node.name, because.join(", ")));
            let matches = each.collect::<Vec<_>>().join("; ");
            Err(IdentityError::Ambiguous { cluster: cluster.name().to_owned(), matches })
        }
    }
}

fn why_it_matches(node: &Node, facts: &Facts) -> Vec<String> {
    let mut because = Vec::new();
    for interface in &facts.interfaces {
        let mac: Option<Mac> = interface.mac.parse().ok();
        if mac.is_some_and(|mac| node.hardware.mac_addresses.contains(&mac)) {
            because.push(format!("{} has {}", interface.name, interface.mac));
        }
    }
    let dmi = [
        ("DMI uuid", &node.hardware.dmi_uuid, &facts.dmi_uuid),
        ("DMI serial", &node.hardware.dmi_serial, &facts.dmi_serial),
    ];
    for (what, wanted, found) in dmi {
        if let (Some(wanted), Some(found)) = (wanted, found)
            && wanted.eq_ignore_ascii_case(found)
        {
            because.push(format!("{what} {found}"));
        }
    }
    because
}

fn seen(facts: &Facts) -> String {
    let mut text = String::new();
    for interface in &facts.interfaces {
        let _ = write!(text, "{} {}, ", interface.name, interface.mac);
    }
    if text.is_empty() {
        text.push_str("no interface with a MAC address, ");
    }
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let _ = write!(text, "DMI uuid {}, DMI serial {}", known(&facts.dmi_uuid), known(&facts.dmi_serial));
    text
}

/// A thousand names are no help.
fn shortened<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let names: Vec<&str> = names.collect();
    let mut text = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN {
        let _ = write!(text, " and {} more", names.len() - SHOWN);
    }
    text
}
