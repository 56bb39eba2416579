//! A temporary bootstrap node, as it sees itself and as the masters see what is left of it.

pub(crate) mod address;
pub(crate) mod files;
pub(crate) mod hand_over;
pub(crate) mod leader;
pub(crate) mod lease;
pub(crate) mod masters;
pub(crate) mod member;
pub(crate) mod node;
pub(crate) mod pods;
pub(crate) mod second;
pub(crate) mod silent;

use nodekit::run_record::{Outcome, Purpose, RunRecord};
use playbooks::cluster::ids;
use spec::Node;

use crate::{Context, Inconclusive};

/// What ends all that is left of a bootstrap node.
const REMOVE: &str = "if it is not to come back, `blackstart bootstrap remove` on a master; else start it again";

/// The bootstrap node, where this is a master of the cluster and nothing of it answers.
async fn gone(context: &Context) -> Result<Option<&Node>, Inconclusive> {
    if !context.role().is_master() || !context.was_done(ids::NODE_READY).await? {
        return Ok(None);
    }
    Ok(context.silent_bootstrap_node().await)
}

/// The last `node up`, and how it stands.
fn last_run(context: &Context) -> Result<Option<(RunRecord, Outcome)>, Inconclusive> {
    let disk = &*context.host.disk;
    let run = RunRecord::latest_for(Purpose::Up, disk, &context.layout.state_dir);
    let run = run.map_err(|error| Inconclusive(explain::chain(&error)))?;
    Ok(run.map(|run| {
        let outcome = run.outcome_seen_by(disk);
        (run, outcome)
    }))
}
