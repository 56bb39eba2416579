//! Whether a certificate request is approved: a pure function of the request, cluster.yaml and what the API knows.
//!
//! Client certificates: a node may renew its own; a bootstrap token may get the first one of a worker that has no Node
//! yet. Serving certificates: only the node itself, only for what cluster.yaml says it is called. The authority that
//! signs them is the cluster's own, so a serving certificate with the API server's names could pose as the API server:
//! that is why a node that is not listed may never have a name or address of anybody else.

use std::{collections::BTreeSet, net::IpAddr};

use pki::{Input, Shared, table::Names};
use spec::{Node, Role, San, UnlistedNodes, ValidatedCluster};

use super::ask::{Ask, Denial, Purpose, Requestor};
use crate::{codes, node_object::NodeObject};

/// What the API knows of those named in a request.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The Node of the name asked for.
    pub(super) node: Option<NodeObject>,
    /// The token that was used, if it still exists.
    pub(super) token: Option<Token>,
}

/// A bootstrap token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// The only node it is for, if it is bound to one.
    pub(super) node: Option<String>,
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// The signer may sign.
    Approve,
    /// For good, and why.
    Deny(Denial),
    /// What it is compared with is about to appear; if it does not, this is why it is denied.
    Later(Denial),
}

/// Decides on a request.
pub(super) fn decide(ask: &Ask, cluster: &ValidatedCluster, known: &Known) -> Decision {
    match check(ask, cluster, known) {
        Ok(()) => Decision::Approve,
        // A kubelet may ask for its serving certificate in the moment in which it registers its Node.
        Err(denial) if denial.code == codes::NO_NODE => Decision::Later(denial),
        Err(denial) => Decision::Deny(denial),
    }
}

fn check(ask: &Ask, cluster: &ValidatedCluster, known: &Known) -> Result<(), Denial> {
    let listed = cluster.node(&ask.node);
    if listed.is_none() && cluster.bootstrap().unlisted_nodes == UnlistedNodes::Deny {
        return Err(Denial::new(codes::UNLISTED, format!("`{}` is not one of its nodes", ask.node)));
    }
    match (ask.purpose, &ask.requestor) {
        (Purpose::Client, Requestor::Node(requestor)) if *requestor == ask.node => Ok(()),
        (Purpose::Client, Requestor::Token(id)) => check_first(ask, listed, id, known),
        (Purpose::Serving, Requestor::Node(requestor)) if *requestor == ask.node => match listed {
            Some(node) => check_listed_names(ask, node),
            None => check_unlisted_names(ask, cluster, known),
        },
        (_, requestor) => Err(Denial::new(codes::REQUESTOR, format!("{requestor} asks for `{}`", ask.node))),
    }
}

/// The first certificate of a node, asked for with a bootstrap token.
fn check_first(ask: &Ask, listed: Option<&Node>, id: &str, known: &Known) -> Result<(), Denial> {
    let node = &ask.node;
    if listed.is_some_and(|listed| listed.roles.contains(&Role::Master)) {
        return Err(Denial::new(codes::MASTER, format!("`{node}` is a master")));
    }
    match &known.token {
        None => return Err(Denial::new(codes::TOKEN, format!("there is no token `{id}`"))),
        Some(Token { node: Some(bound) }) if bound != node => {
            return Err(Denial::new(codes::TOKEN, format!("token `{id}` is for `{bound}`, not for `{node}`")));
        }
        Some(_) => {}
    }
    if known.node.is_some() {
        return Err(Denial::new(codes::NODE_EXISTS, format!("there is a Node `{node}`")));
    }
    Ok(())
}

/// Exactly the node's address, and its name or host name.
fn check_listed_names(ask: &Ask, node: &Node) -> Result<(), Denial> {
    let names = [&node.name, &node.hostname].map(|name| San::Dns(name.clone()));
    let address = San::Ip(node.ip);
    let (dns, ips): (Vec<&San>, Vec<&San>) = ask.names.iter().partition(|san| matches!(san, San::Dns(_)));
    if ips == [&address] && !dns.is_empty() && dns.iter().all(|name| names.contains(name)) {
        return Ok(());
    }
    let expected: BTreeSet<San> = names.into_iter().chain([address]).collect();
    Err(Denial::new(
        codes::NAMES,
        format!("it asks for `{}`, cluster.yaml says `{}`", show(&ask.names), show(&expected)),
    ))
}

/// Only what its Node says, and nothing that is somebody else's.
fn check_unlisted_names(ask: &Ask, cluster: &ValidatedCluster, known: &Known) -> Result<(), Denial> {
    let Some(node) = &known.node else {
        return Err(Denial::new(codes::NO_NODE, format!("there is no Node `{}`", ask.node)));
    };
    let said: BTreeSet<San> = node.status.addresses.iter().map(|address| san(&address.address)).collect();
    let taken = others(cluster);
    let wrong: BTreeSet<San> = ask
        .names
        .iter()
        .filter(|name| !said.contains(name) || taken.contains(name) || is_loopback(name))
        .cloned()
        .collect();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Denial::new(
        codes::NAMES,
        format!("`{}` is not in the Node's status, or belongs to somebody else", show(&wrong)),
    ))
}

/// Every name and address of the API servers and of the nodes in cluster.yaml.
fn others(cluster: &ValidatedCluster) -> BTreeSet<San> {
    let nodes = cluster
        .nodes()
        .iter()
        .flat_map(|node| [San::Dns(node.name.clone()), San::Dns(node.hostname.clone()), San::Ip(node.ip)]);
    let masters =
        cluster.masters().flat_map(|master| Input::new(cluster, master, Shared::Bring).names(Names::ApiServer));
    nodes.chain(masters).collect()
}

fn is_loopback(name: &San) -> bool {
    match name {
        San::Ip(ip) => ip.is_loopback() || ip.is_unspecified(),
        San::Dns(name) => name == "localhost" || name.ends_with(".localhost"),
    }
}

fn san(text: &str) -> San {
    text.parse::<IpAddr>().map_or_else(|_| San::Dns(text.to_owned()), San::Ip)
}

fn show(names: &BTreeSet<San>) -> String {
    let text = |san: &San| match san {
        San::Dns(name) => name.clone(),
        San::Ip(ip) => ip.to_string(),
    };
    names.iter().map(text).collect::<Vec<_>>().join(", ")
}

impl std::fmt::Display for Requestor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Node(name) => write!(f, "node `{name}`"),
            Self::Token(id) => write!(f, "bootstrap token `{id}`"),
            Self::Other(user) => write!(f, "`{user}`"),
        }
    }
}

#[cfg(test)]
mod tests;
