//! A backup of the cluster on every master, every quarter of an hour, into `/var/backups/blackstart`.
//!
//! Masters take turns within the quarter, so that they do not burden etcd together. The directory is the only memory: after
//! a restart the newest file in it says whether one is due. A backup that cannot be made is logged once, with its code, and
//! tried again at the next turn; older ones stay. Which are kept is decided in [`backup::rotation`], for which key they are
//! made in [`backup::store::key`].

use std::{path::Path, time::Duration};

use backup::{BackupError, Made, Source, store};
use etcd::{Access, NoAccess};
use explain::{Code, Explain};
use jiff::Timestamp;
use operations::outage::Outage;
use tokio::{runtime::Handle, task::spawn_blocking, time::sleep};

use crate::{Agent, AgentError, session};

const EVERY: Duration = Duration::from_mins(15);

/// A node that is starting has better things to do.
const AFTER_START: Duration = Duration::from_mins(1);

/// Why no backup was made.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Access(#[from] NoAccess),
    #[error(transparent)]
    Backup(#[from] BackupError),
}

impl Explain for Failure {
    fn code(&self) -> Code {
        match self {
            Self::Access(error) => error.code(),
            Self::Backup(error) => error.code(),
        }
    }
}

/// Runs for ever.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    session::wait_for(&agent.host, &agent.paths.kubernetes_dir.join("super-admin.conf")).await?;
    sleep(AFTER_START).await;
    let (turn, mut outage) = (Turn::of(agent), Outage::new("make a backup"));
    loop {
        match turn_of(agent, turn).await {
            Ok(made) => {
                outage.over();
                if let Some(Made { path, size, .. }) = made {
                    tracing::info!(file = %path.display(), bytes = size, "made a backup");
                }
            }
            Err(error) => outage.failed(&format!("{}: {}", error.code(), explain::chain(&error))),
        }
        sleep(turn.until_next(agent.host.clock.now())).await;
    }
}

/// Makes a backup if one is due.
async fn turn_of(agent: &Agent, turn: Turn) -> Result<Option<Made>, Failure> {
    let newest = store::list(Path::new(store::DIR))?.first().map(|newest| newest.made);
    if !turn.is_due(newest, agent.host.clock.now()) {
        return Ok(None);
    }
    // On a thread of its own: encrypting and syncing must not hold up the agent's other duties.
    let (agent, handle) = (agent.clone(), Handle::current());
    let made = spawn_blocking(move || {
        handle.block_on(async {
            tokio::select! {
                made = make(&agent) => made.map(Some),
                () = agent.cancel.cancelled() => Ok(None),
            }
        })
    });
    match made.await {
        Ok(made) => made,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Ok(None), // the agent is stopping
    }
}

async fn make(agent: &Agent) -> Result<Made, Failure> {
    let Agent { host, cluster, node, paths, .. } = agent;
    let key = store::key(&*host.disk, &paths.config_dir, &paths.kubernetes_dir)?;
    let access = Access::read(&*host.disk, &paths.kubernetes_dir)?;
    let dir = Path::new(store::DIR);
    store::prepare(dir)?;
    let member = access.member(etcd::client_url(node.ip));
    let source = Source {
        host,
        config_dir: &paths.config_dir,
        kubernetes_dir: &paths.kubernetes_dir,
        etcd: &member,
        cluster: cluster.name(),
        node: &node.name,
    };
    let path = dir.join(store::file_name(cluster.name(), &node.name, host.clock.now()));
    let made = backup::create(&source, &key, &path, &|_| {}).await?;
    for path in store::rotate(dir, host.clock.now())? {
        tracing::debug!(file = %path.display(), "removed a backup that is not kept any longer");
    }
    Ok(made)
}

/// When it is this master's turn: so many seconds into every quarter of an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Turn(i64);

impl Turn {
    fn of(agent: &Agent) -> Self {
        let masters: Vec<&str> = agent.cluster.masters().map(|master| master.name.as_str()).collect();
        let position = masters.iter().position(|name| *name == agent.node.name).unwrap_or(0);
        Self::new(position, masters.len())
    }

    fn new(position: usize, masters: usize) -> Self {
        let share = |count: usize| i64::try_from(count).unwrap_or(0);
        Self(EVERY.as_secs().cast_signed() * share(position) / share(masters).max(1))
    }

    /// The first turn after a moment, in seconds since 1970.
    fn after(self, moment: Timestamp) -> i64 {
        let every = EVERY.as_secs().cast_signed();
        ((moment.as_second() - self.0).div_euclid(every) + 1) * every + self.0
    }

    /// Whether there was a turn since the newest backup, and that one is not just made: the first one of a node comes out
    /// of turn. One of the future was made by a clock that was wrong.
    fn is_due(self, newest: Option<Timestamp>, now: Timestamp) -> bool {
        let Some(newest) = newest else { return true };
        let is_old = now.as_second() - newest.as_second() >= EVERY.as_secs().cast_signed() / 2;
        newest > now || (is_old && self.after(newest) <= now.as_second())
    }

    fn until_next(self, now: Timestamp) -> Duration {
        Duration::from_secs(u64::try_from(self.after(now) - now.as_second()).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> Timestamp {
        format!("2026-11-16T{time}Z").parse().unwrap()
    }

    #[test]
    fn masters_take_turns() {
        let next = |position, masters, now| Turn::new(position, masters).until_next(at(now)).as_secs();
        for (position, masters, now, minutes, seconds) in [
            (0, 1, "12:00:00", 15, 0),
            (0, 1, "12:14:59", 0, 1),
            (0, 3, "12:01:00", 14, 0),
            (1, 3, "12:01:00", 4, 0),
            (2, 3, "12:01:00", 9, 0),
            (2, 3, "12:10:00", 15, 0),
        ] {
            assert_eq!(next(position, masters, now), minutes * 60 + seconds, "{position} of {masters} at {now}");
        }
    }

    #[test]
    fn one_is_due_once_per_turn() {
        let turn = Turn::new(1, 3);
        for (newest, now, expected) in [
            (None, "12:00:00", true),
            (Some("12:05:01"), "12:19:59", false),
            (Some("12:05:01"), "12:20:00", true),
            (Some("12:19:30"), "12:20:00", false),
            (Some("11:00:00"), "12:00:00", true),
            (Some("12:30:00"), "12:00:00", true),
        ] {
            assert_eq!(turn.is_due(newest.map(at), at(now)), expected, "{newest:?} {now}");
        }
    }
}
