//! What breaks of Ceph: the daemons of this node, the majority of monitors, and what Ceph itself complains about.
//!
//! A node without a role in Ceph has nothing to look at, and neither has one that Ceph never came to.

pub(crate) mod daemons;
pub(crate) mod health;
pub(crate) mod quorum;

use ceph::CephError;
use playbooks::ceph::ids;
use spec::Role;

use crate::{Context, Inconclusive};

/// Whether this node has a monitor that was once seen to work.
async fn has_monitor(context: &Context) -> Result<bool, Inconclusive> {
    Ok(context.node.has(Role::CephMon) && context.was_done(ids::MON).await?)
}

fn inconclusive(error: &CephError) -> Inconclusive {
    Inconclusive(explain::chain(error))
}
