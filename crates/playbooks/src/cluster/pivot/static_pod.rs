//! A process of the control plane as a static pod: a manifest that the kubelet follows, and a probe that shows that it works.
//!
//! Which configuration it runs with is the kubelet's business: it replaces the pod when the manifest changes.

use std::path::{Path, PathBuf};

use engine::{About, FilesOnly, Step, StepError, Verdict};
use host::{Change, Host};
use render::{Process, RenderedFile};

use crate::service::{self, Health, Probe};

/// Where the manifest of a process is.
pub(super) fn manifest(process: &str) -> PathBuf {
    Path::new(render::STATIC_PODS).join(format!("{process}-pod.yaml"))
}

/// Keeps a process running by the kubelet.
pub(super) struct StaticPod {
    about: About,
    /// What the process reads, and behind it the manifest: the kubelet acts on it at once.
    files: Vec<RenderedFile>,
    probe: Probe,
}

/// What was found.
pub(super) struct Seen {
    missing: Vec<Change>,
    health: Health,
}

impl StaticPod {
    pub(super) fn new(about: About, process: &Process, image: &str, probe: Probe) -> Self {
        let files = process.files().iter().cloned().chain([process.static_pod(image)]).collect();
        Self { about, files, probe }
    }
}

impl Step for StaticPod {
    type Seen = Seen;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        self.about.clone()
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let missing = Change::missing(self.files.iter().map(service::file).collect(), &*host.disk)?;
        let health = if host.is_live && missing.is_empty() { self.probe.check(host).await? } else { Health::Unknown };
        Ok(Seen { missing, health })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Change>, StepError> {
        Ok(seen.missing.clone())
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        match &seen.health {
            Health::Good | Health::Unknown => Verdict::Met,
            Health::NotYet { what, progress } => Verdict::Waiting { what: what.clone(), progress: progress.clone() },
        }
    }
}
