//! One machine is made and has booted to `running`.

use std::{path::PathBuf, sync::Arc, time::Duration};

use engine::{About, Act, Planned, Stays, Step, StepError, Verdict};
use host::Host;

use super::ids;
use crate::{Capabilities, Lab, LabError, MachineState, supervise};

/// What there is of the machine.
pub(super) struct Seen {
    state: MachineState,
    /// Its system has begun.
    has_booted: bool,
    /// A machine that boots gets more of them.
    processes: usize,
    /// Why it is degraded.
    failed_units: Vec<String>,
}

pub(super) struct Machine {
    lab: Arc<Lab>,
    name: String,
}

impl Machine {
    pub(super) fn new(lab: &Arc<Lab>, name: &str) -> Self {
        Self { lab: lab.clone(), name: name.to_owned() }
    }

    /// By itself, whatever else the lab is for.
    fn becomes_a_node(&self) -> bool {
        self.lab.with_cluster || self.lab.given_config(&self.name).exists()
    }

    fn config(&self) -> PathBuf {
        self.lab.config_dir()
    }

    /// Calls something on the machine as it is here and now.
    async fn with<T>(
        &self,
        work: impl AsyncFnOnce(&crate::Machine<'_>) -> Result<T, LabError>,
    ) -> Result<T, StepError> {
        let capabilities = Capabilities::detect()?;
        Ok(work(&crate::Machine::new(&self.lab, &self.name, &capabilities)?).await?)
    }
}

impl Step for Machine {
    type Seen = Seen;
    type Undo = Stays;

    fn about(&self) -> About {
        About {
            id: ids::machine(&self.name),
            title: format!("Boot {}", self.name).into(),
            why: "a machine of the cluster".into(),
        }
    }

    async fn observe(&self, _host: &Host) -> Result<Seen, StepError> {
        self.with(async |machine| {
            let state = machine.state().await;
            let failed_units = if state == MachineState::Degraded { machine.failed_units().await } else { Vec::new() };
            let has_booted = machine.boot_id().is_some();
            Ok(Seen { state, has_booted, processes: machine.groups.processes().len(), failed_units })
        })
        .await
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let act = |key: &str, what: String| Planned::act(key, what);
        let create = act("create", format!("create machine {}", self.name));
        let boot = act("boot", format!("boot {}", self.name));
        Ok(match seen.state {
            MachineState::Missing => vec![create, boot],
            MachineState::Off => vec![boot],
            MachineState::Paused => vec![act("resume", format!("let {} go on", self.name))],
            _ => Vec::new(),
        })
    }

    fn verify(&self, Seen { state, has_booted, processes, failed_units }: &Seen) -> Verdict {
        let because = if failed_units.is_empty() { String::new() } else { format!(": {}", failed_units.join(", ")) };
        match state {
            MachineState::Running => Verdict::Met,
            // It is not up before it has joined, and that is a step of its own.
            MachineState::Starting if self.becomes_a_node() && *has_booted => Verdict::Met,
            other => Verdict::Waiting {
                what: format!("{} to be running; it is {}{because}", self.name, other.word()),
                progress: processes.to_string(),
            },
        }
    }

    async fn act(&self, Act { key, .. }: &Act, _host: &Host) -> Result<(), StepError> {
        self.with(async |machine| match key.as_str() {
            "create" => machine.create(&self.config()).await,
            "resume" => machine.groups.freeze(false),
            _ => supervise::start(machine).await,
        })
        .await
    }

    fn deadline(&self) -> Duration {
        Duration::from_secs(30)
    }
}
