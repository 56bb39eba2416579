//! A bootstrap node that waits for masters: which, and whether they are there at all. They are switched on when a person does so,
//! so this is worth a word and no more.

use std::net::SocketAddr;

use futures::future::join_all;
use jiff::Timestamp;
use nodekit::run_record::Outcome;
use playbooks::cluster::is_for_masters;
use spec::ports;

use super::last_run;
use crate::{Check, Checking, Context, Finding, Part, Roles, codes::MASTER_AWAITED, view::answers};

/// See [`super::super`].
pub(crate) const CHECK: Check =
    Check::new("masters", "the masters that a bootstrap node waits for", &[MASTER_AWAITED], check).only(Roles::Masters);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if context.tenure()?.is_none() {
            return Ok(Vec::new());
        }
        let Some((run, Outcome::Working)) = last_run(context)? else { return Ok(Vec::new()) };
        let waiting = run.waiting();
        let Some(wait) = waiting.iter().find(|wait| is_for_masters(wait.step)) else {
            return Ok(Vec::new());
        };
        let masters = context.cluster.masters().map(async |master| {
            let is_there = answers(SocketAddr::new(master.ip, ports::JOIN)).await;
            (!is_there).then_some(master.name.as_str())
        });
        let silent: Vec<&str> = join_all(masters).await.into_iter().flatten().collect();
        Ok(vec![evaluate(wait.what, wait.since, &silent, context.host.clock.now())])
    })
}

fn evaluate(what: &str, since: Timestamp, silent: &[&str], now: Timestamp) -> Finding {
    let seconds = now.duration_since(since).as_secs();
    let silence = match silent {
        [] => "all of them answer".to_owned(),
        silent => format!("no answer from {}", silent.join(", ")),
    };
    Finding::warning(MASTER_AWAITED, Part::Joining, format!("waits for {seconds} s for {what}; {silence}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_silent_is_named() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let (since, now) = (at("2026-11-18T12:00:00Z"), at("2026-11-18T12:01:30Z"));
        insta::assert_snapshot!(
            evaluate("m1 to join etcd", since, &["m1"], now).evidence,
            @"waits for 90 s for m1 to join etcd; no answer from m1"
        );
        assert!(evaluate("node m1 to be Ready", since, &[], now).evidence.ends_with("all of them answer"));
    }
}
