//! What the machine-config-daemon is given, and podman's credentials: two files of ours.
//!
//! Not at the path where the daemon would look by itself: there the system's own unit would take it for an order at the next boot.

use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Content, Host};

use super::super::{
    ids::MACHINE_CONFIG,
    stored::{self, Target},
};
use crate::Run;

/// Both are there.
pub(in super::super) struct MachineConfigFile {
    pub(in super::super) run: Run,
}

impl Step for MachineConfigFile {
    type Seen = Vec<Change>;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(
            MACHINE_CONFIG,
            "Write the MachineConfig for the machine-config-daemon",
            "it writes no file that is not in the MachineConfig it is given",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Change>, StepError> {
        let disk = &*host.disk;
        let target = Target::read(disk, &self.run)?;
        let credentials = target.credentials(disk, &self.run)?;
        let file = |path, bytes| Change::File { path, mode: 0o600, content: Content::Secret(bytes) };
        let wanted =
            vec![file(stored::auth(), credentials.bytes().to_vec()), file(stored::machine_config(), target.bytes())];
        Ok(Change::missing(wanted, disk)?)
    }

    fn plan(&self, seen: &Vec<Change>) -> Result<Vec<Change>, StepError> {
        Ok(seen.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::{samples::Sample, testing::Machine},
        *,
    };

    #[tokio::test]
    async fn the_whole_config_is_given() {
        let machine = Machine::default();
        let step = MachineConfigFile { run: machine.run() };
        assert!(machine.planned(&step).await.contains("BS-IPB-050"));
        machine.fetched(&Sample::default().served());
        machine.apply(&step).await;
        assert_eq!(machine.planned(&step).await, "  nothing\n");
        let written = machine.read("/var/lib/blackstart-reprovision/payload/machine-config.json").unwrap();
        assert!(written.contains("/etc/kubernetes/kubeconfig") && written.contains("rendered-worker-new"));
        assert!(machine.read("/var/lib/blackstart-reprovision/payload/auth.json").unwrap().contains("dTpw"));
        assert!(machine.read("/etc/ignition-machine-config-encapsulated.json").is_none());
    }
}
