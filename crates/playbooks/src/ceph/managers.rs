//! Ceph knows the key of every manager in cluster.yaml. Those of the first hour it knows from the bootstrap; one that comes
//! later has its key from the Secret like the others, and has to be added in Ceph.

use std::{sync::Arc, time::Duration};

use ::ceph::{BadIdentity, Client, Entity, keyring_text, paths};
use engine::{About, Act, Planned, Stays, Step, StepError, Verdict};
use host::Host;
use serde::Deserialize;
use spec::{Role, ValidatedCluster};

use super::{cached_probe::CachedProbe, client, ids, source::Source};

const CACHED_FOR: Duration = Duration::from_secs(3);

/// The keys of all managers.
pub(crate) struct Managers {
    entities: Vec<Entity>,
    source: Arc<Source>,
    probe: CachedProbe<Seen>,
}

/// What was found.
#[derive(Debug, Clone)]
pub(crate) enum Seen {
    /// Ceph does not know these.
    Unknown(Vec<Entity>),
    /// No monitor answers.
    Silent(String),
}

/// `ceph auth ls`, without what is secret in it.
#[derive(Deserialize)]
struct Known {
    auth_dump: Vec<Name>,
}

#[derive(Deserialize)]
struct Name {
    entity: String,
}

impl Managers {
    pub(crate) fn new(cluster: &ValidatedCluster, source: &Arc<Source>) -> Self {
        let entities = cluster.with_role(Role::CephMgr).map(|node| Entity::Mgr(node.name.clone())).collect();
        Self { entities, source: source.clone(), probe: CachedProbe::new(CACHED_FOR) }
    }

    async fn check(&self, host: &Host) -> Result<Seen, StepError> {
        if paths::own_fsid(&*host.disk)?.is_none() {
            return Ok(Seen::Unknown(Vec::new()));
        }
        let known: Known = match Client::admin(host).ask(&["auth", "ls"]).await {
            Ok(known) => known,
            Err(error) if error.is_transient() => return Ok(Seen::Silent(error.to_string())),
            Err(error) => return Err(client::failed(&error)),
        };
        let is_known = |entity: &Entity| known.auth_dump.iter().any(|name| name.entity == entity.to_string());
        Ok(Seen::Unknown(self.entities.iter().filter(|entity| !is_known(entity)).cloned().collect()))
    }

    async fn send(&self, host: &Host, key: &str) -> Result<(), StepError> {
        let handed = self.source.handed(host).await?;
        for entity in self.entities.iter().filter(|entity| entity.to_string() == key) {
            let missing = || BadIdentity { field: format!("key.{entity}") };
            let key = handed.key(entity).ok_or_else(|| StepError::from_explained(&missing()))?;
            let output =
                Client::admin(host).send_with(&["auth", "import", "-i", "-"], keyring_text([(entity, key)])).await;
            output.map_err(|error| client::failed(&error))?;
        }
        Ok(())
    }
}

impl Step for Managers {
    type Seen = Seen;
    type Undo = Stays;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::MANAGERS, "Register Ceph's managers", "a manager that comes later has to be known, too")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        self.probe.ask(async || self.check(host).await).await
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let Seen::Unknown(unknown) = seen else { return Ok(Vec::new()) };
        let act = |entity: &Entity| Planned::act(entity.to_string(), format!("register {entity} with Ceph"));
        Ok(unknown.iter().map(act).collect())
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        match seen {
            Seen::Unknown(_) => Verdict::Met,
            Seen::Silent(why) => Verdict::Waiting { what: why.clone(), progress: String::new() },
        }
    }

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        let done = self.send(host, key).await;
        self.probe.forget().await;
        done
    }
}
