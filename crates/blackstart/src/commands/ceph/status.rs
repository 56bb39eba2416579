//! `blackstart ceph status`: how Ceph is, or within seconds that no monitor answers.

mod report;

use ceph::{CephError, Client, answers::MonStatus, codes};

use self::report::{Report, Silence};
use crate::{
    Exit, Failure,
    context::{Context, Ended, block_on},
    progress::busy,
};

/// Nothing can be read or written: more than a complaint.
const NO_QUORUM: Exit = Exit::Other(3);

pub(super) fn run(context: &Context) -> Result<(), Ended> {
    let found = busy(context.out, "asking Ceph", || block_on(check(context)))??;
    match found {
        Ok(report) => {
            if context.out.is_json() {
                context.out.json(&report)?;
            } else {
                context.out.text(&report.text(context.out.color()))?;
            }
            if report.is_well() { Ok(()) } else { Err(Ended::Reported(Exit::Failed)) }
        }
        Err(silence) => {
            if context.out.is_json() {
                context.out.json(&silence)?;
            } else {
                context.out.failure(&Failure::new(codes::NO_ANSWER, silence.text()));
            }
            Err(Ended::Reported(NO_QUORUM))
        }
    }
}

/// The quorum is asked first: without it no other daemon answers, and one has to wait for that only once.
async fn check(context: &Context) -> Result<Result<Report, Silence>, Ended> {
    let admin = Client::admin(&context.host).with_short_timeout();
    let quorum = match admin.quorum().await {
        Ok(quorum) => quorum,
        Err(CephError::Silent { why }) => return Ok(Err(Silence::of(why, own(context).await?.as_ref()))),
        Err(error) => return Err(error.into()),
    };
    // Each is a program that starts again, and has not much to do but start.
    let admin = Client::admin(&context.host);
    let (health, managers, tree, versions) =
        tokio::join!(admin.health(), admin.managers(), admin.tree(), admin.versions());
    Ok(Ok(Report::of(&quorum, &health?, &managers?, &tree?, &versions?)))
}

/// What the monitor of this node says of itself, which needs no other daemon.
async fn own(context: &Context) -> Result<Option<MonStatus>, Ended> {
    let Ok(cluster) = context.cluster(None) else { return Ok(None) };
    let node = context.node(&cluster, None)?;
    Ok(ceph::monitor(&node.name).await?)
}
