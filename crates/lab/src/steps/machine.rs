//! One machine is made and has booted to `running`.

use std::{path::PathBuf, sync::Arc, time::Duration};

use engine::{About, Step, StepError, Verdict};
use host::{Change, Host};

use crate::{Lab, LabError, MachineState, Surroundings, supervise};

pub(super) struct Machine {
    lab: Arc<Lab>,
    name: String,
}

impl Machine {
    pub(super) fn new(lab: &Arc<Lab>, name: &str) -> Self {
        Self { lab: lab.clone(), name: name.to_owned() }
    }

    fn config(&self) -> PathBuf {
        Lab::dir(&self.lab.name).join("config")
    }

    /// Calls something on the machine as it is here and now.
    async fn with<T>(
        &self,
        work: impl AsyncFnOnce(&crate::Machine<'_>) -> Result<T, LabError>,
    ) -> Result<T, StepError> {
        let surroundings = Surroundings::look()?;
        Ok(work(&crate::Machine::new(&self.lab, &self.name, &surroundings)?).await?)
    }
}

impl Step for Machine {
    /// What it is doing, and how many processes it has: a machine that boots gets more of them.
    type Seen = (MachineState, usize);

    fn about(&self) -> About {
        About {
            id: format!("machine-{}", self.name).into(),
            title: format!("Boot {}", self.name).into(),
            why: "a machine of the cluster".into(),
        }
    }

    async fn observe(&self, _host: &Host) -> Result<Self::Seen, StepError> {
        self.with(async |machine| {
            let state = machine.state().await;
            // Between the start of the supervisor and the machine's first process.
            let starting = state == MachineState::Off && supervise::is_supervised(machine);
            let state = if starting { MachineState::Starting } else { state };
            Ok((state, machine.groups.processes().len()))
        })
        .await
    }

    fn plan(&self, (state, _): &Self::Seen) -> Result<Vec<Change>, StepError> {
        let act = |key: &str, what: String| Change::Act { key: key.into(), what };
        let create = act("create", format!("create machine {}", self.name));
        let boot = act("boot", format!("boot {}", self.name));
        Ok(match state {
            MachineState::Missing => vec![create, boot],
            MachineState::Off => vec![boot],
            MachineState::Paused => vec![act("resume", format!("let {} go on", self.name))],
            _ => Vec::new(),
        })
    }

    fn judge(&self, (state, processes): &Self::Seen) -> Verdict {
        match state {
            MachineState::Running => Verdict::Met,
            other => Verdict::Waiting {
                what: format!("{} to be running; it is {}", self.name, other.word()),
                progress: processes.to_string(),
            },
        }
    }

    async fn apply(&self, change: &Change, _host: &Host) -> Result<(), StepError> {
        let Change::Act { key, .. } = change else { return Ok(()) };
        self.with(async |machine| match key.as_str() {
            "create" => machine.create(&self.config()),
            "resume" => machine.groups.freeze(false),
            _ => supervise::start(machine).await,
        })
        .await
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(30)
    }
}
