//! What all masters share: CAs, service account key, the key for encryption at rest, the join key.
//!
//! The master that starts the cluster takes them from its sealed directory, or makes them in the steps behind this one.
//! Every other master asks one that has them. What is in use already wins. They are given to one machine of a name only, so
//! the machine first makes and syncs the claim by which it is known when it asks again after a crash.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::{About, Act, Planned, Step, StepError, Undo};
use etcd::{Initial, State};
use host::{Change, Content, Disk, Host, HostError};
use join::{Claim, MasterKeys, NoClaim, wire::ClaimedRole};

use super::{ids, split_brain};
use crate::membership::{self, Membership};
use nodekit::Layout;

const ENCRYPTION: &str = "encryption.yaml";
/// Beside the CAs and not in the configuration directory, which is the operator's.
const JOIN_KEY: &str = "pki/join.key";
const ASK: &str = "ask";

/// The cluster's keys are where Kubernetes looks for them.
pub(super) struct ClusterKeys {
    membership: Arc<Membership>,
    leads: bool,
    from: PathBuf,
    to: PathBuf,
    state_dir: PathBuf,
}

/// What was found.
pub(super) enum Seen {
    /// Everything is there.
    There,
    /// This master starts the cluster, and its sealed directory has these.
    Sealed(Vec<Change>),
    /// Another master has them.
    Elsewhere { directories: Vec<Change> },
}

impl ClusterKeys {
    /// `leads` on the first master, which alone starts a cluster.
    pub(super) fn new(layout: &Layout, membership: &Arc<Membership>, leads: bool) -> Self {
        Self {
            membership: membership.clone(),
            leads,
            from: layout.config_dir.clone(),
            to: layout.kubernetes_dir.clone(),
            state_dir: layout.state_dir.clone(),
        }
    }

    fn directories(&self, disk: &dyn Disk) -> Result<Vec<Change>, HostError> {
        let below = |name: &str| Change::Directory { path: self.to.join(name), mode: 0o700 };
        Change::missing(pki::table::DIRECTORIES.iter().map(|name| below(name)).collect(), disk)
    }

    fn sealed(&self, disk: &dyn Disk) -> Result<Vec<Change>, HostError> {
        let mut missing = Vec::new();
        for name in pki::table::shared_files() {
            let (from, path) = (self.from.join(&name), self.to.join(&name));
            if let Some(bytes) = disk.read_optional(&from)?
                && !disk.exists(&path)?
            {
                missing.push(Change::File { path, mode: 0o600, content: Content::Secret(bytes) });
            }
        }
        if !missing.is_empty() {
            missing.splice(0..0, self.directories(disk)?);
        }
        Ok(missing)
    }

    async fn ask(&self, host: &Host) -> Result<MasterKeys, StepError> {
        let (applicant, trust) = self.membership.applicant(&*host.disk, ClaimedRole::Master)?;
        let no_claim = |error: NoClaim| StepError::from_explained(&error);
        let claim = Claim::ensure(&*host.disk, &self.state_dir).map_err(no_claim)?;
        let answered = self.membership.client(trust).await.master_keys(&applicant, &claim).await;
        answered.map(|(_, keys)| keys).map_err(|error| membership::failed(&error))
    }

    /// What asking may write: the claim before it asks, the rest from the answer.
    fn written(&self) -> Vec<PathBuf> {
        let names = [ENCRYPTION.to_owned(), JOIN_KEY.to_owned()].into_iter().chain(pki::table::shared_files());
        let mut written = vec![self.state_dir.join(join::CLAIM_FILE)];
        written.extend(names.map(|name| self.to.join(name)));
        written.push(etcd::INITIAL.into());
        written
    }

    /// An initial member's decision comes behind everything, because its etcd starts with it.
    fn changes(&self, keys: &MasterKeys) -> Vec<Change> {
        let secret = |name: &str, text: &str| Change::File {
            path: self.to.join(name),
            mode: 0o600,
            content: Content::Secret(text.as_bytes().to_vec()),
        };
        let mut changes = vec![secret(ENCRYPTION, &keys.encryption)];
        changes.extend(keys.join_key.iter().map(|key| secret(JOIN_KEY, key)));
        let wanted = pki::table::shared_files();
        let files = keys.files.iter().filter(|(name, _)| wanted.contains(name));
        changes.extend(files.map(|(name, text)| secret(name, text)));
        let bootstrapping = keys.bootstrapping.as_deref().and_then(Initial::parse);
        changes.extend(bootstrapping.iter().flat_map(split_brain::decided));
        changes
    }
}

/// Whether this master has decided to start a cluster.
fn bootstraps(disk: &dyn Disk) -> Result<bool, HostError> {
    let text = disk.read_optional(Path::new(etcd::INITIAL))?.unwrap_or_default();
    Ok(Initial::parse(&String::from_utf8_lossy(&text)).is_some_and(|initial| initial.state == State::New))
}

impl Step for ClusterKeys {
    type Seen = Seen;
    type Undo = Given;

    fn about(&self) -> About {
        About::new(ids::CLUSTER_KEYS, "Take over the cluster's keys", "all masters sign with the same CAs")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let disk = &*host.disk;
        let mut all_there = true;
        for name in pki::table::shared_files().iter().map(String::as_str).chain([ENCRYPTION]) {
            all_there &= disk.exists(&self.to.join(name))?;
        }
        if all_there {
            return Ok(Seen::There);
        }
        if self.leads && (bootstraps(disk)? || !host.is_live) {
            return Ok(Seen::Sealed(self.sealed(disk)?));
        }
        Ok(Seen::Elsewhere { directories: self.directories(disk)? })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        match seen {
            Seen::There => Ok(Vec::new()),
            Seen::Sealed(missing) => Ok(Planned::files(missing)),
            Seen::Elsewhere { directories } => {
                let masters: Vec<String> = self.membership.masters.iter().map(ToString::to_string).collect();
                let what = format!("ask {} for the cluster's keys", masters.join(", "));
                Ok([Planned::files(directories), vec![Planned::fetch(ASK, what, self.written())]].concat())
            }
        }
    }

    async fn fetch(&self, _act: &Act, host: &Host) -> Result<Vec<Change>, StepError> {
        Ok(self.changes(&self.ask(host).await?))
    }
}

/// How keys that another master gave are undone.
pub(super) struct Given {
    pub(super) kubernetes_dir: PathBuf,
}

impl Undo for Given {
    fn shows_act(&self, key: &str) -> Option<String> {
        Some(format!("undo {key}"))
    }

    async fn act(&self, _key: &str, host: &Host) -> Result<(), StepError> {
        let names = pki::table::shared_files();
        for name in names.iter().map(String::as_str).chain([JOIN_KEY, ENCRYPTION]) {
            host::remove_file(&*host.disk, &self.kubernetes_dir.join(name))?;
        }
        Ok(())
    }
}
