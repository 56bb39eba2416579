//! What the machine is like now is kept, for the way back.

use engine::{About, Act, Planned, Stays, Step, StepError};
use host::Host;

use super::super::{ids::KEPT, kept, stored::Target};
use crate::Run;

const KEEP: &str = "keep";

/// It is kept. That stays until the run is over: a way back that did not get to its end is gone again.
pub(in super::super) struct KeptFiles {
    pub(in super::super) run: Run,
}

impl Step for KeptFiles {
    /// Whether it is kept for this run.
    type Seen = bool;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(KEPT, "Keep the machine as it is", "the machine-config-daemon does not keep what it overwrites")
    }

    async fn observe(&self, host: &Host) -> Result<bool, StepError> {
        Ok(kept::read(&*host.disk)?.is_some_and(|kept| kept.run == self.run.order.run))
    }

    fn plan(&self, is_kept: &bool) -> Result<Vec<Planned>, StepError> {
        let keep = Planned::act(KEEP, "keep the files that may change, and note which deployment is booted");
        Ok(if *is_kept { Vec::new() } else { vec![keep] })
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let target = Target::read(&*host.disk, &self.run)?;
        kept::keep(host, &self.run.order.run, &target).await
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::{samples::Sample, testing::Machine},
        *,
    };

    #[tokio::test]
    async fn it_is_kept_once_per_run() {
        let machine = Machine::default();
        machine.fetched(&Sample::default().served());
        machine.write("/etc/crio/crio.conf", "old\n");
        let step = KeptFiles { run: machine.run() };
        machine.apply(&step).await;
        // The second time it would keep what the daemon has written.
        assert_eq!(machine.planned(&step).await, "  nothing\n");
        let mut other = machine.run();
        other.order.run = "uid-1-2".into();
        assert_ne!(machine.planned(&KeptFiles { run: other }).await, "  nothing\n");
    }
}
