//! What a certificate request is compared with.

use std::{collections::BTreeSet, net::IpAddr};

use crate::node_object::NodeObject;

/// What the API knows of those named in a request.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The Node of the name asked for.
    pub(super) node: Option<NodeObject>,
    /// The addresses of all other Nodes, where it matters: for a node that is not in cluster.yaml.
    pub(super) of_others: BTreeSet<IpAddr>,
    /// The token that was used, if it still exists.
    pub(super) token: Option<Token>,
}

/// A bootstrap token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// The only node it is for, if it is bound to one.
    pub(super) node: Option<String>,
}
