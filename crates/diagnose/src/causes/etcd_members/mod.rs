//! etcd as a whole: whether most of its members are there, and whether each of them is what it should be.
//!
//! All masters are asked, so a master can report what is wrong with another one. That is a warning as long as most of them
//! work: what has to be fixed is on that master, and `diagnose` there reports more.

mod apart;
pub(super) mod evaluate;
#[cfg(test)]
mod tests;

use std::time::Duration;

use join::{Client, Trust, seal::Sealed};

use self::evaluate::{ClusterStates, Seen, evaluate};
use crate::{
    Check, Checking, Context, Inconclusive, Roles,
    codes::{
        ETCD_APART, ETCD_LEARNER, ETCD_MEMBER_LOST, ETCD_MEMBER_SILENT, ETCD_NEVER_CAME, ETCD_NO_LEADER, ETCD_NO_MEMBER,
    },
};
use playbooks::cluster::ids;

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "etcd-members",
    "etcd's members: quorum, one cluster, all started and voting",
    &[ETCD_NO_LEADER, ETCD_MEMBER_SILENT, ETCD_MEMBER_LOST, ETCD_NEVER_CAME, ETCD_LEARNER, ETCD_NO_MEMBER, ETCD_APART],
    check,
)
.only(Roles::Masters);

/// A master that is up answers at once.
const LIMIT: Duration = Duration::from_secs(2);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if !context.was_any_done(&[ids::ETCD, ids::ETCD_POD]).await? {
            return Ok(Vec::new());
        }
        let view = context.etcd().await?;
        let own = context.node.name.as_str();
        let another_is_silent = view.heard.iter().any(|one| one.reported.is_err() && one.name != own);
        let cluster_states = if another_is_silent { cluster_states(context).await? } else { ClusterStates::new() };
        let log = if view.own().is_err() { context.etcd_log().await? } else { String::new() };
        // A bootstrap node that is gone has a check of its own.
        let gone = context.silent_bootstrap_node().await.map(|node| etcd::peer_url(node.ip));
        Ok(evaluate(&Seen {
            own,
            heard: &view.heard,
            cluster_states: &cluster_states,
            log: &log,
            gone: gone.as_deref(),
        }))
    })
}

/// Asks the join services. Those that do not answer, or are not believed, are left out: nothing is concluded from silence.
async fn cluster_states(context: &Context) -> Result<ClusterStates, Inconclusive> {
    let Some(ca) = context.text(context.layout.kubernetes_dir.join("pki/ca.crt"))? else {
        return Ok(ClusterStates::new());
    };
    let client = Client::new(Sealed::masters(&context.cluster), Trust::Ca(ca));
    let client = match playbooks::shown(&*context.host.disk, &context.layout, context.host.clock.now()) {
        Some((certificate, key)) => client.showing(certificate, key),
        None => client,
    };
    let reported = client.survey(LIMIT).await.into_iter().filter_map(|(_, outcome)| outcome.ok());
    Ok(reported.filter_map(|hello| Some((hello.master, hello.cluster_state?))).collect())
}
