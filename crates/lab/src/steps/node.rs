//! One machine has become a node of the lab's cluster. It does so by itself; here this is only seen.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use engine::{About, FilesOnly, Step, StepError, StepId, Verdict};
use host::Host;
use playbooks::{
    Layout,
    run_record::{Outcome, Purpose, RunRecord},
};

use crate::{Lab, Machine, Surroundings, codes};

/// The bootstrap is started again by systemd when it fails; one failure may be cured by that, many are not.
const FAILURES: usize = 3;

pub(super) struct Node {
    lab: Arc<Lab>,
    name: String,
    /// The runs of its bootstrap that failed.
    failures: Mutex<BTreeSet<String>>,
}

/// What there is of the node.
pub(super) struct Seen {
    boot_id: Option<String>,
    run: Option<RunRecord>,
}

impl Node {
    pub(super) fn new(lab: &Arc<Lab>, name: &str) -> Self {
        Self { lab: lab.clone(), name: name.to_owned(), failures: Mutex::new(BTreeSet::new()) }
    }
}

/// Whether a run ended because the machine has to wait: for an old one of its name to be missed, or for somebody to arm it.
fn is_to_wait(message: &str) -> bool {
    [join::codes::ALIVE, join::codes::KEYS_GIVEN].iter().any(|code| message.contains(code.id))
}

impl Step for Node {
    type Seen = Seen;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About {
            id: StepId::named(format!("node-{}", self.name)),
            title: format!("Wait for {} to be a Ready node", self.name).into(),
            why: "the lab is a working cluster".into(),
        }
    }

    async fn observe(&self, _host: &Host) -> Result<Seen, StepError> {
        let surroundings = Surroundings::look()?;
        let machine = Machine::new(&self.lab, &self.name, &surroundings)?;
        let boot_id = machine.boot_id();
        let disk = Host::rooted(machine.upper()).disk;
        let run = RunRecord::latest_for(Purpose::Up, &*disk, &Layout::default().state_dir);
        let run = run.map_err(|error| StepError::from_explained(&error))?;
        let run = run.filter(|run| Some(&run.boot_id) == boot_id.as_ref());
        if let Some(run) = run.as_ref().filter(|run| run.outcome == Outcome::Failed && !is_to_wait(&run.message())) {
            let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
            failures.insert(run.run.clone());
            if failures.len() >= FAILURES {
                return Err(StepError::new(codes::NODE_FAILED, format!("{}: {}", self.name, run.message())));
            }
        }
        Ok(Seen { boot_id, run })
    }

    fn judge(&self, seen: &Seen) -> Verdict {
        let waiting = |what: String| Verdict::Waiting { progress: what.clone(), what };
        let name = &self.name;
        let (Some(_), run) = (&seen.boot_id, &seen.run) else {
            return waiting(format!("{name}, which is off"));
        };
        match run {
            None => waiting(format!("{name} to begin")),
            Some(run) => match run.outcome {
                Outcome::Done => Verdict::Met,
                Outcome::Working => waiting(format!("{name} ({} of {} steps): {}", run.done, run.total, run.message())),
                Outcome::Failed | Outcome::Cancelled | Outcome::Interrupted => {
                    waiting(format!("{name} to try again: {}", run.message()))
                }
            },
        }
    }

    fn patience(&self) -> Duration {
        Duration::from_mins(3)
    }
}
