//! A clock that is not that of the masters, or that is behind what was written here earlier.
//!
//! The preflight check reports one that is plainly wrong, and then nothing else is reported here.

use std::{net::SocketAddr, time::Duration};

use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use spec::ports;

use crate::{
    Check, Checking, Context, Finding, Inconclusive, Part,
    codes::{CLOCK_DIFFERS, CLOCK_WENT_BACK},
};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "clock",
    "the clock, compared with the masters' and with what was written earlier",
    &[CLOCK_DIFFERS, CLOCK_WENT_BACK],
    check,
);

/// An answer has full seconds and takes some time; leases and certificates forgive this much.
const TOLERATED: SignedDuration = SignedDuration::from_secs(10);

/// A master that is up answers at once.
const LIMIT: Duration = Duration::from_secs(2);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let others = context.cluster.control_plane().filter(|master| master.name != context.node.name);
        let reported = join_all(others.map(async |master| {
            let api = SocketAddr::new(master.ip, context.cluster.api().port);
            let join = SocketAddr::new(master.ip, ports::JOIN);
            let dates = join_all([api, join].map(async |address| date_of(address).await)).await;
            Some((master.name.as_str(), dates.into_iter().flatten().next()?))
        }));
        let reported: Vec<(&str, Timestamp)> = reported.await.into_iter().flatten().collect();
        let now = context.host.clock.now();
        Ok(evaluate(now, &reported, last_noted(context).await?).into_iter().collect())
    })
}

/// What time a server reports. A clock that is wrong makes every certificate look wrong, so none is looked at: what is
/// sent is no secret, and the answer is only shown.
async fn date_of(server: SocketAddr) -> Option<Timestamp> {
    let client = tls::unproven_client().ok()?;
    let answer = client.get(format!("https://{server}/livez")).timeout(LIMIT).send().await.ok()?;
    let date = answer.headers().get("date")?.to_str().ok()?;
    jiff::fmt::rfc2822::parse(date).ok().map(|date| date.timestamp())
}

/// When something was last noted in the ledger.
async fn last_noted(context: &Context) -> Result<Option<Timestamp>, Inconclusive> {
    let steps = context.ledger().await?.steps.values();
    Ok(steps.flat_map(|step| [Some(step.started), step.verified]).flatten().max())
}

fn evaluate(now: Timestamp, masters: &[(&str, Timestamp)], noted: Option<Timestamp>) -> Option<Finding> {
    if !pki::is_plausible(now) {
        return None;
    }
    let says = now.strftime("%Y-%m-%d %H:%M:%S UTC");
    let differs = masters.iter().find(|(_, theirs)| now.duration_since(*theirs).abs() > TOLERATED);
    if let Some((master, theirs)) = differs {
        let difference = now.duration_since(*theirs);
        let way = if difference.is_negative() { "behind" } else { "ahead of" };
        let (seconds, theirs) = (difference.abs().as_secs(), theirs.strftime("%H:%M:%S"));
        let evidence = format!("clock skew: this node is {seconds} s {way} {master}: {says} here, {theirs} there");
        return Some(Finding::cause(CLOCK_DIFFERS, Part::Machine, evidence));
    }
    let noted = noted.filter(|noted| noted.duration_since(now) > TOLERATED)?;
    let noted = noted.strftime("%Y-%m-%d %H:%M:%S");
    let evidence = format!("the clock went backwards: it is {says}, and the ledger was written at {noted}");
    Some(Finding::cause(CLOCK_WENT_BACK, Part::Machine, evidence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_masters_are_right_and_time_does_not_go_back() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = at("2026-12-01T12:00:00Z");
        let reported =
            |masters: &[(&str, Timestamp)], noted| evaluate(now, masters, noted).map(|finding| finding.evidence);
        assert_eq!(reported(&[], None), None);
        assert_eq!(reported(&[("m", at("2026-12-01T12:00:09Z"))], Some(at("2026-12-01T11:00:00Z"))), None);
        insta::assert_snapshot!([
            reported(&[("m", at("2026-12-01T12:00:30Z"))], None),
            reported(&[("m", at("2026-11-30T12:00:00Z"))], Some(at("2026-12-05T00:00:00Z"))),
            reported(&[("m", now)], Some(at("2026-12-02T00:00:00Z"))),
        ].map(Option::unwrap).join("\n"), @r"
        clock skew: this node is 30 s behind m: 2026-12-01 12:00:00 UTC here, 12:00:30 there
        clock skew: this node is 86400 s ahead of m: 2026-12-01 12:00:00 UTC here, 12:00:00 there
        the clock went backwards: it is 2026-12-01 12:00:00 UTC, and the ledger was written at 2026-12-02 00:00:00
        ");
        let long_ago = at("2001-01-01T00:00:00Z");
        assert_eq!(evaluate(long_ago, &[("m", now)], Some(now)), None, "the preflight check reports that");
    }
}
