//! The node's `currentconfig` is the `MachineConfig` that was asked for.

use engine::{About, FilesOnly, Step, StepError};
use explain::plain;
use host::{Change, Host};

use super::super::{ids::CURRENT_CONFIG, node, stored::Target};
use crate::{Run, codes::NOT_APPLIED};

/// It is.
pub(in super::super) struct CurrentConfig {
    pub(in super::super) run: Run,
}

/// What is wanted, and what the node has.
pub(in super::super) struct Seen {
    wanted: String,
    has: Option<String>,
}

impl Step for CurrentConfig {
    type Seen = Seen;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(
            CURRENT_CONFIG,
            "Check the node's MachineConfig",
            "the machine-config-daemon notes it once everything in it is done",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let wanted = Target::read(&*host.disk, &self.run)?.config.name().to_owned();
        let has = node::current(&*host.disk)?.map(|config| config.name().to_owned());
        Ok(Seen { wanted, has })
    }

    fn plan(&self, Seen { wanted, has }: &Seen) -> Result<Vec<Change>, StepError> {
        let has = match has {
            Some(name) if name == wanted => return Ok(Vec::new()),
            Some(name) => format!("is `{}`", plain(name)),
            None => "cannot be read, or is not there".to_owned(),
        };
        Err(StepError::new(NOT_APPLIED, format!("{} {has}, and wanted is `{}`", node::CURRENT, plain(wanted))))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::{samples::Sample, testing::Machine},
        *,
    };

    #[tokio::test]
    async fn the_name_decides() {
        let machine = Machine::default();
        machine.fetched(&Sample::default().served());
        let step = CurrentConfig { run: machine.run() };
        let mut text = machine.planned(&step).await;
        let old = Sample { name: "rendered-worker-old".into(), ..Sample::default() };
        for config in [old, Sample::default()] {
            machine.write(node::CURRENT, &config.full().to_string());
            text += &machine.planned(&step).await;
        }
        insta::assert_snapshot!(text, @r"
          BS-IPB-054 /etc/machine-config-daemon/currentconfig cannot be read, or is not there, and wanted is `rendered-worker-new`
          BS-IPB-054 /etc/machine-config-daemon/currentconfig is `rendered-worker-old`, and wanted is `rendered-worker-new`
          nothing
        ");
    }
}
