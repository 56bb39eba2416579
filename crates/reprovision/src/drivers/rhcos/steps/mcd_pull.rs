//! The image with the machine-config-daemon is on the machine.

use engine::{About, Act, Planned, Stays, Step, StepError};
use host::{Cmd, CommandError, Host};

use super::super::{
    ids::MCD_PULL,
    stored::{self, Target},
};
use crate::Run;

const PULL: &str = "pull";

/// It is there. It stays there after a way back too: the kubelet removes images that nobody uses, and the cluster uses this one.
pub(in super::super) struct McdImage {
    pub(in super::super) run: Run,
}

/// Which image, and whether it is there.
pub(in super::super) struct Seen {
    image: String,
    is_there: bool,
}

impl Step for McdImage {
    type Seen = Seen;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(MCD_PULL, "Pull the machine-config-daemon", "it makes of the machine what the MachineConfig says")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let image = Target::read(&*host.disk, &self.run)?.images.mco.to_string();
        let asked = host.commands.run(&Cmd::new("podman").args(["image", "exists", &image])).await;
        let is_there = match asked {
            Ok(_) => true,
            // That is how it says no; with other numbers it says that it could not look.
            Err(CommandError::Failed { status, .. }) if status.ends_with(": 1") => false,
            Err(error) => return Err(StepError::from(error).retryable()),
        };
        Ok(Seen { image, is_there })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let pull = Planned::act(PULL, format!("pull {}", seen.image));
        Ok(if seen.is_there { Vec::new() } else { vec![pull] })
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let image = Target::read(&*host.disk, &self.run)?.images.mco.to_string();
        let pull = Cmd::new("podman").args(["pull", "--quiet", "--authfile"]).arg(stored::auth()).arg(image);
        // A registry may be busy; the runner asks again, with pauses.
        host.commands.run(&pull).await.map_err(|error| StepError::from(error).retryable())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::{samples::Sample, testing::Machine},
        *,
    };

    #[tokio::test]
    async fn it_is_pulled_where_it_is_not_there() {
        let machine = Machine::default();
        machine.fetched(&Sample::default().served());
        let step = McdImage { run: machine.run() };
        machine.apply(&step).await;
        insta::assert_snapshot!(machine.asked().join("\n"), @r"
        podman image exists registry.lab:5000/ocp/release@sha256:1111111111111111111111111111111111111111111111111111111111111111
        podman pull --quiet --authfile /var/lib/blackstart-reprovision/payload/auth.json registry.lab:5000/ocp/release@sha256:1111111111111111111111111111111111111111111111111111111111111111
        ");
        machine.answers(|command| command.starts_with("podman image").then(|| Err("exit status: 125|busy".into())));
        assert!(step.observe(&machine.host()).await.err().unwrap().is_retryable());
        machine.answers(|command| command.starts_with("podman image").then(|| Ok(String::new())));
        assert_eq!(machine.planned(&step).await, "  nothing\n");
    }
}
