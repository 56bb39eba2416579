//! One machine has become a node of the lab's cluster. It does so by itself; here this is only seen.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use engine::{About, Step, StepError, Verdict};
use host::{Change, Host};
use playbooks::{
    Layout,
    progress::{Phase, Progress},
};

use crate::{Lab, Machine, Surroundings, codes};

/// The bootstrap is started again by systemd when it fails; one failure may be cured by that, many are not.
const FAILURES: usize = 3;

pub(super) struct Node {
    lab: Arc<Lab>,
    name: String,
    /// When its bootstrap failed.
    failures: Mutex<BTreeSet<String>>,
}

/// What there is of the node.
pub(super) struct Seen {
    boot_id: Option<String>,
    progress: Option<Progress>,
}

impl Node {
    pub(super) fn new(lab: &Arc<Lab>, name: &str) -> Self {
        Self { lab: lab.clone(), name: name.to_owned(), failures: Mutex::new(BTreeSet::new()) }
    }
}

impl Step for Node {
    type Seen = Seen;

    fn about(&self) -> About {
        About {
            id: format!("node-{}", self.name).into(),
            title: format!("Wait for {} to be a Ready node", self.name).into(),
            why: "the lab is a working cluster".into(),
        }
    }

    async fn observe(&self, _host: &Host) -> Result<Seen, StepError> {
        let surroundings = Surroundings::look()?;
        let machine = Machine::new(&self.lab, &self.name, &surroundings)?;
        let boot_id = machine.boot_id();
        let disk = Host::rooted(machine.upper()).disk;
        let progress = Progress::read(&*disk, &Layout::default().state_dir);
        let progress = progress.filter(|progress| Some(&progress.boot_id) == boot_id.as_ref());
        if let Some(Progress { phase: Phase::Failed, message, time, .. }) = &progress {
            let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
            failures.insert(time.to_string());
            if failures.len() >= FAILURES {
                return Err(StepError::new(codes::NODE_FAILED, format!("{}: {message}", self.name)));
            }
        }
        Ok(Seen { boot_id, progress })
    }

    fn plan(&self, _seen: &Seen) -> Result<Vec<Change>, StepError> {
        Ok(Vec::new())
    }

    fn judge(&self, seen: &Seen) -> Verdict {
        let waiting = |what: String| Verdict::Waiting { progress: what.clone(), what };
        let name = &self.name;
        match (&seen.boot_id, &seen.progress) {
            (None, _) => waiting(format!("{name}, which is off")),
            (_, None) => waiting(format!("{name} to begin")),
            (_, Some(Progress { phase: Phase::Done, .. })) => Verdict::Met,
            (_, Some(Progress { phase: Phase::Failed, message, .. })) => {
                waiting(format!("{name} to try again: {message}"))
            }
            (_, Some(Progress { done, total, message, .. })) => {
                waiting(format!("{name} ({done} of {total} steps): {message}"))
            }
        }
    }

    fn patience(&self) -> Duration {
        Duration::from_mins(3)
    }
}
