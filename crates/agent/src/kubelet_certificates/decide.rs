//! Whether a certificate request fits: a pure function of the request, cluster.yaml and what the API knows.
//!
//! Client certificates: a node may renew its own; a bootstrap token may get the first one of a worker that has no Node
//! yet. Serving certificates: only the node itself, only for what cluster.yaml says it is called.

use std::collections::BTreeSet;

use spec::{Node, San, UnlistedNodes, ValidatedCluster};

use super::{
    known::{Known, Token},
    names,
    read::{Ask, Denial, Purpose, Requestor},
};
use crate::codes;

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// It gets its certificate.
    Fits,
    /// For good, and why.
    Deny(Denial),
    /// What it is compared with is about to appear; if it does not, this is why it is denied.
    Later(Denial),
}

/// Decides on a request.
pub(super) fn decide(ask: &Ask, cluster: &ValidatedCluster, known: &Known) -> Decision {
    match check(ask, cluster, known) {
        Ok(()) => Decision::Fits,
        // A kubelet may ask for its serving certificate in the moment in which it registers its Node.
        Err(denial) if denial.code == codes::NO_NODE => Decision::Later(denial),
        Err(denial) => Decision::Deny(denial),
    }
}

fn check(ask: &Ask, cluster: &ValidatedCluster, known: &Known) -> Result<(), Denial> {
    let listed = cluster.machine(&ask.node);
    if listed.is_none() && cluster.bootstrap().unlisted_nodes == UnlistedNodes::Deny {
        return Err(Denial::new(codes::UNLISTED, format!("`{}` is not one of its nodes", ask.node)));
    }
    if listed.is_none() && !names::is_of_a_node(&ask.node) {
        return Err(Denial::new(codes::SUBJECT, format!("`{}` cannot be the name of a Node", ask.node)));
    }
    match (ask.purpose, &ask.requestor) {
        (Purpose::Client, Requestor::Node(requestor)) if *requestor == ask.node => Ok(()),
        (Purpose::Client, Requestor::Token(id)) => check_first(ask, listed, id, known),
        (Purpose::Serving, Requestor::Node(requestor)) if *requestor == ask.node => match listed {
            Some(node) => check_listed_names(ask, node),
            None => names::check_unlisted(ask, cluster, known),
        },
        (_, requestor) => Err(Denial::new(codes::REQUESTOR, format!("{requestor} asks for `{}`", ask.node))),
    }
}

/// The first certificate of a node, asked for with a bootstrap token.
fn check_first(ask: &Ask, listed: Option<&Node>, id: &str, known: &Known) -> Result<(), Denial> {
    let node = &ask.node;
    if listed.is_some_and(Node::runs_control_plane) {
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
    let (dns, ips): (Vec<&San>, Vec<&San>) = ask.request.names.iter().partition(|san| matches!(san, San::Dns(_)));
    if ips == [&address] && !dns.is_empty() && dns.iter().all(|name| names.contains(name)) {
        return Ok(());
    }
    let expected: BTreeSet<San> = names.into_iter().chain([address]).collect();
    Err(Denial::new(
        codes::NAMES,
        format!("it asks for `{}`, cluster.yaml says `{}`", names::show(&ask.request.names), names::show(&expected)),
    ))
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
