//! What this master has itself. Looked at again each time: one that has just joined has more than a moment before.

use std::pin::Pin;

use crate::{JoinKey, MasterKeys, wire::ClusterState};

/// The keys for another master, or why they cannot be given now.
pub type Keys<'a> = Pin<Box<dyn Future<Output = Result<MasterKeys, String>> + Send + 'a>>;

/// What this master has.
pub trait KeyStore: Send + Sync {
    /// How it stands to the cluster.
    fn cluster_state(&self) -> ClusterState;

    /// Which machine it is, see [`crate::machine_id`].
    fn machine_id(&self) -> Option<String>;

    /// Whether it can sign for others.
    fn admits(&self) -> bool;

    /// From which nodes' secrets are derived: the one that makes them first, then those whose secrets are still good, while
    /// the key is replaced. Empty in a cluster that was not sealed, and before this master joined.
    fn join_keys(&self) -> Vec<JoinKey>;

    /// What opens the new keys of the rotation that is under way, see [`crate::wire::ROTATION_KEY`].
    fn rotation_key(&self) -> Option<String>;

    /// The cluster's keys for a master that was let in.
    fn keys_for<'a>(&'a self, node: &'a str, machine_id: Option<&'a str>) -> Keys<'a>;
}
