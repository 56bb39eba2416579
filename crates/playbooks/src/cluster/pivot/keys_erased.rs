//! Nothing on this machine opens the cluster any more: its keys, its copy of etcd and what it would start at its next boot are gone.
//!
//! That it is retired is a file, synced before the first key goes: from then on no step asks the cluster.

use std::path::{Path, PathBuf};

use engine::{About, Act, Planned, Stays, Step, StepError};
use host::{Change, Content, Host};
use join::seal::layout as sealed;
use nodekit::{Layout, cleanup::tree, systemd};

use super::super::{ids, join::KUBELET_PKI, unit_files::enabling_link};

/// What keeps running until the end, or would be started with the machine.
const UNITS: &[&str] = &["kubelet.service", "blackstart-agent.service", "containerd.service"];
/// What would start them at the next boot. One of them runs this very step, so they are not stopped; and they go last, because a machine
/// that loses its power in the middle of this must go on with it.
const STARTERS: &[&str] = &["cluster-bootstrap.service", "bootkube.service"];

/// Where it is noted that the cluster goes on without this machine.
pub(super) fn retired(layout: &Layout) -> PathBuf {
    layout.state_dir.join("retired")
}

/// Erases them.
pub(super) struct KeysErased {
    retired: PathBuf,
    /// Whole directories and single files with secrets or data of the cluster.
    secrets: Vec<PathBuf>,
}

/// What was found.
pub(super) struct Seen {
    is_noted: bool,
    /// Of the secrets, those that are there.
    left: Vec<PathBuf>,
    /// Of the units, those that run or are enabled.
    running: Vec<&'static str>,
    /// Of those that start them, the enabled ones.
    enabled: Vec<&'static str>,
}

impl KeysErased {
    pub(super) fn new(layout: &Layout) -> Self {
        let given = [sealed::SECRET, sealed::SERVING, sealed::JOIN_KEY, sealed::ENCRYPTION_KEY, sealed::PKI];
        // Files that were replaced are kept there as they were.
        let noted = ["admissions.json", "keys-claim", "originals"].map(|name| layout.state_dir.join(name));
        let member = layout.etcd_member_id();
        let own = [layout.kubernetes_dir.clone(), etcd::DATA_DIR.into(), KUBELET_PKI.into()];
        let secrets = given
            .map(|name| layout.config_dir.join(name))
            .into_iter()
            .chain(noted)
            .chain([member])
            .chain(own)
            .collect();
        Self { retired: retired(layout), secrets }
    }
}

impl Step for KeysErased {
    type Seen = Seen;
    type Undo = Stays;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(
            ids::KEYS_ERASED,
            "Erase the cluster's keys",
            "a machine that is used for something else opens nothing",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let mut left = Vec::new();
        for path in &self.secrets {
            if host.disk.exists(path)? {
                left.push(path.clone());
            }
        }
        let mut running = Vec::new();
        for unit in UNITS {
            let is_enabled = host.disk.meta(enabling_link(unit).path())?.is_some();
            if is_enabled || systemd::check(host, unit).await?.is_up() {
                running.push(*unit);
            }
        }
        let mut enabled = Vec::new();
        for unit in STARTERS {
            if host.disk.meta(enabling_link(unit).path())?.is_some() {
                enabled.push(*unit);
            }
        }
        Ok(Seen { is_noted: host.disk.exists(&self.retired)?, left, running, enabled })
    }

    fn plan(&self, Seen { is_noted, left, running, enabled }: &Seen) -> Result<Vec<Planned>, StepError> {
        let content = Content::Plain(b"the masters have taken over\n".to_vec());
        let note = Change::File { path: self.retired.clone(), mode: 0o644, content };
        let erase = |path: &PathBuf| Planned::act(path.to_string_lossy(), format!("erase {}", path.display()));
        let stop = |unit: &&str| Planned::act(*unit, format!("stop {unit} for good"));
        let let_be = |unit: &&str| Planned::act(*unit, format!("{unit} starts nothing at the next boot"));
        let acts = running.iter().map(stop).chain(left.iter().map(erase)).chain(enabled.iter().map(let_be));
        Ok((!is_noted).then_some(Planned::File(note)).into_iter().chain(acts).collect())
    }

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        match key.as_str() {
            unit if STARTERS.contains(&unit) => systemd::systemctl(host, &["disable", unit]).await.map(drop),
            unit if UNITS.contains(&unit) => systemd::systemctl(host, &["disable", "--now", unit]).await.map(drop),
            path => Ok(tree::remove(&*host.disk, Path::new(path))?),
        }
    }
}
