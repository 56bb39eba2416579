//! Takes announced members out of etcd that never came.
//!
//! A master is added to etcd before its own process starts. If it dies in between, its member slot stays taken, and as long as
//! it does no other master is let in. So a learner that has not started two minutes after this agent first saw it is removed;
//! when its machine comes, it is announced again. All masters look; the change is made under the lock that every change of
//! membership is made under, and the master that gets it later finds it done.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use etcd::{Access, Asked, Etcd, Member, MembershipLock};
use explain::Explain;
use operations::outage::Outage;
use tokio::time::{Instant, sleep};

use crate::{Agent, AgentError, codes, session};

/// A machine that is alive starts its member within seconds.
const DEADLINE: Duration = Duration::from_mins(2);
const CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// The certificate with which etcd answers a master.
const CERTIFICATE: &str = "pki/etcd/healthcheck-client.crt";

/// Runs until that certificate is renewed.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    let path = agent.paths.kubernetes_dir.join(CERTIFICATE);
    let certificate = session::wait_for(&agent.host, &path).await?;
    let access = Access::read(&*agent.host.disk, &agent.paths.kubernetes_dir)?;
    let etcd = access.member(etcd::client_url(agent.node.ip));
    // Not that of a bootstrap or a removal on the same machine: they must wait for each other.
    let owner = format!("the agent of {}", agent.node.name);
    tokio::select! {
        () = follow(&etcd, &owner) => Ok(()),
        changed = session::until_changed(&agent.host, &path, &certificate) => changed,
    }
}

async fn follow(etcd: &Etcd, owner: &str) {
    let (mut absent, mut outage) = (Absent::default(), Outage::new("list etcd's members"));
    loop {
        // First: a certificate is there some seconds before the etcd that it is for.
        sleep(CHECK_INTERVAL).await;
        match check(etcd, owner, &mut absent).await {
            Ok(()) => outage.over(),
            Err(error) => outage.failed(&format!("{}: {}", error.code(), explain::chain(&error))),
        }
    }
}

async fn check(etcd: &Etcd, owner: &str, absent: &mut Absent) -> Result<(), AgentError> {
    let due = absent.due(&etcd.members().await?, Instant::now());
    if due.is_empty() {
        return Ok(());
    }
    let lock = match MembershipLock::ask(etcd, owner).await? {
        Asked::Got(lock) => lock,
        Asked::HeldBy(_) => return Ok(()), // the next check finds what they have made of it
    };
    let removed = remove(etcd, &due).await;
    lock.release().await;
    removed
}

/// Those of them that have still not come. They have no vote, so no majority is lost with them.
async fn remove(etcd: &Etcd, due: &BTreeSet<u64>) -> Result<(), AgentError> {
    for member in etcd.members().await?.iter().filter(|member| due.contains(&member.id) && is_absent(member)) {
        etcd.remove(member.id).await?;
        let (id, peers) = (format!("{:x}", member.id), member.peer_urls.join(","));
        tracing::warn!(code = codes::NEVER_CAME.id, member = id, peers, "{}", codes::NEVER_CAME.meaning);
    }
    Ok(())
}

fn is_absent(member: &Member) -> bool {
    member.is_learner && !member.has_started()
}

/// Since when this agent knows of members that were announced and have not started.
#[derive(Debug, Default)]
struct Absent(BTreeMap<u64, Instant>);

impl Absent {
    /// Takes note of what is there now, and says who should have come by now.
    fn due(&mut self, members: &[Member], now: Instant) -> BTreeSet<u64> {
        let absent: BTreeSet<u64> = members.iter().filter(|member| is_absent(member)).map(|member| member.id).collect();
        self.0.retain(|id, _| absent.contains(id));
        for id in absent {
            self.0.entry(id).or_insert(now);
        }
        let is_due = |since: &Instant| now.duration_since(*since) >= DEADLINE;
        self.0.iter().filter(|(_, since)| is_due(since)).map(|(id, _)| *id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One word per member: its number, then V voter or L learner, * if it has started.
    fn members(text: &str) -> Vec<Member> {
        let member = |word: &str| {
            let id = u64::from(word.as_bytes()[0] - b'0');
            let client = word.contains('*').then(|| format!("https://m{id}:2379"));
            Member {
                id,
                name: client.as_ref().map(|_| format!("m{id}")).unwrap_or_default(),
                peer_urls: vec![format!("https://m{id}:2380")],
                client_urls: client.into_iter().collect(),
                is_learner: word.contains('L'),
            }
        };
        text.split_whitespace().map(member).collect()
    }

    #[test]
    fn only_who_was_announced_and_did_not_come_in_time_goes() {
        let start = Instant::now();
        let mut absent = Absent::default();
        for (second, seen, due) in [
            (0, "1V*", ""),
            (10, "1V* 2L", ""),
            (129, "1V* 2L", ""),
            (130, "1V* 2L", "2"),
            (140, "1V* 2L 3L*", "2"),
            (150, "1V* 2L*", ""),
            // It had been there in between, so its time begins again.
            (160, "1V* 2L", ""),
            (170, "1V* 4L", ""),
            (289, "1V* 4L", ""),
            (290, "1V* 4L 5V", "4"),
            (500, "1V* 5V", ""),
        ] {
            let found = absent.due(&members(seen), start + Duration::from_secs(second));
            let found = found.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            assert_eq!(found, due, "at {second} s with {seen}");
        }
    }
}
