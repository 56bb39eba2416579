//! Asking every member, all at once.

use std::{collections::BTreeSet, error::Error};

use explain::chain;
use futures::future::join_all;

use super::best_list;
use crate::{Access, Alarm, Etcd, EtcdError, Member, Status};

/// What came of asking one member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// The master's name; empty for a member that no configuration names.
    pub name: String,
    /// Where it was asked.
    pub url: String,
    /// What it answered, or why not.
    pub reported: Result<Reported, String>,
}

/// What a member answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// Of itself.
    pub status: Status,
    /// The members it knows.
    pub known: Vec<Member>,
    /// The members that a majority agrees on; `None` if there is no majority.
    pub agreed: Option<Vec<Member>>,
    /// All alarms it knows.
    pub alarms: Vec<Alarm>,
}

/// Asks these masters, by name and client URL, and the other members that they name.
pub async fn ask(access: &Access, masters: impl IntoIterator<Item = (String, String)>) -> Vec<Heard> {
    let one = |name: String, url: String| async move {
        let reported = emit(&access.member(&url)).await.map_err(|error| why(&url, &error));
        Heard { name, url, reported }
    };
    let mut heard = join_all(masters.into_iter().map(|(name, url)| one(name, url))).await;
    let others = unasked(&heard);
    heard.extend(join_all(others.into_iter().map(|url| one(String::new(), url))).await);
    heard
}

async fn emit(etcd: &Etcd) -> Result<Reported, EtcdError> {
    // Without a majority the second waits for its time limit, and is no answer.
    let (status, agreed, known, alarms) =
        tokio::join!(etcd.status(), etcd.members(), etcd.known_members(), etcd.alarms());
    // A learner answers for itself and for nothing else.
    let (known, alarms) = (known.unwrap_or_default(), alarms.unwrap_or_default());
    Ok(Reported { status: status?, known, agreed: agreed.ok(), alarms })
}

/// The last cause says it best: those above it repeat the URL.
fn why(url: &str, error: &EtcdError) -> String {
    let EtcdError::Unreachable { source, .. } = error else { return chain(error) };
    if let Some(distrust) = tls::distrust(error) {
        return format!("the certificate of {url} is not trusted ({distrust:?})");
    }
    if source.is_timeout() {
        return format!("no answer from {url} in time");
    }
    let mut last: &dyn Error = source;
    while let Some(cause) = last.source() {
        last = cause;
    }
    format!("no answer from {url}: {last}")
}

/// The URLs of members that were not asked yet.
fn unasked(heard: &[Heard]) -> BTreeSet<String> {
    let asked = |member: &Member| {
        heard.iter().any(|one| {
            let is_it = |reported: &Reported| reported.status.member_id() == member.id;
            one.name == member.name || member.client_urls.contains(&one.url) || one.reported.as_ref().is_ok_and(is_it)
        })
    };
    let members = best_list(heard).map(|(members, _)| members).unwrap_or_default();
    members.iter().filter(|member| !asked(member)).filter_map(|member| member.client_urls.first().cloned()).collect()
}
