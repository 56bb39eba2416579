//! The dry run: what every step would change, and nothing changed.

use super::Runner;
use crate::{About, Planned, Playbook, StepError, Verdict};

/// What a step would do now.
#[derive(Debug)]
pub struct StepPlan {
    /// The step.
    pub about: About,
    /// Steps that must be verified first.
    pub after: Vec<String>,
    /// Its changes, or why it cannot say. A step may not be able to say before those above it are done.
    pub changes: Result<Vec<Planned>, StepError>,
    /// What it would wait for although nothing is left to change.
    pub waiting: Option<String>,
}

impl Runner {
    /// Looks at the machine and says what a run would do, as far as that can be seen now. Takes no lock and writes
    /// nothing.
    pub async fn plan(&self, playbook: &Playbook) -> Vec<StepPlan> {
        let mut plans = Vec::new();
        for entry in playbook.steps() {
            let after = entry.after.iter().map(|index| playbook.steps()[*index].about.id.to_string()).collect();
            let (changes, waiting) = match entry.step.check(&self.host).await {
                Ok(observation) => match observation.verdict {
                    Verdict::Waiting { what, .. } if observation.changes.is_empty() => {
                        (Ok(observation.changes), Some(what))
                    }
                    _ => (Ok(observation.changes), None),
                },
                Err(error) => (Err(error), None),
            };
            plans.push(StepPlan { about: entry.about.clone(), after, changes, waiting });
        }
        plans
    }
}
