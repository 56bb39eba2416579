//! One run on this node: what it is called, and what it was given.

use std::sync::Arc;

use upgrades::Order;

use crate::Secret;

/// One run on this node.
#[derive(Debug, Clone)]
pub struct Run {
    /// The node's name.
    pub node: String,
    /// What it was ordered.
    pub order: Order,
    /// What it was given. Never printed: [`Secret`] shows its keys only.
    pub secret: Arc<Secret>,
}
