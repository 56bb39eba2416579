//! The deployment that was booted before stays, whatever else is deployed.

use engine::{About, Act, Planned, Step, StepError, Undo, Verdict};
use host::{Cmd, Host};

use super::super::{ids::PIN_DEPLOYMENT, kept, rpm_ostree::Status};
use crate::{
    Run,
    codes::{CANNOT_ROLL_BACK, NOTHING_KEPT},
};

const PIN: &str = "pin";

/// It is pinned.
pub(in super::super) struct PinnedDeployment {
    pub(in super::super) run: Run,
}

/// Where it is in the list, and whether it is pinned.
pub(in super::super) struct Seen {
    position: usize,
    is_pinned: bool,
}

impl Step for PinnedDeployment {
    type Seen = Seen;
    type Undo = Unpin;

    fn about(&self) -> About {
        About::new(PIN_DEPLOYMENT, "Pin the deployment that is booted", "it is the way back, and would be cleaned up")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let kept = kept::of_run(&*host.disk, &self.run.order.run)?;
        let status = Status::read(host).await?;
        let lost = || StepError::new(CANNOT_ROLL_BACK, "the deployment that was booted before is not there any more");
        let position = status.position(&kept.deployment).ok_or_else(lost)?;
        let is_pinned = status.deployments.get(position).is_some_and(|deployment| deployment.pinned);
        Ok(Seen { position, is_pinned })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let pin = Planned::act(PIN, format!("pin deployment {}", seen.position));
        Ok(if seen.is_pinned { Vec::new() } else { vec![pin] })
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        if seen.is_pinned {
            return Verdict::Met;
        }
        Verdict::Waiting { what: "the deployment to be pinned".to_owned(), progress: String::new() }
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let position = self.observe(host).await?.position.to_string();
        host.commands.run(&Cmd::new("ostree").args(["admin", "pin", &position])).await?;
        Ok(())
    }
}

/// Only what we have pinned is unpinned: a person's pin is never planned, so it is not in the ledger.
pub(in super::super) struct Unpin;

impl Undo for Unpin {
    fn shows_act(&self, _key: &str) -> Option<String> {
        Some("unpin the deployment that was booted before".to_owned())
    }

    async fn act(&self, _key: &str, host: &Host) -> Result<(), StepError> {
        if kept::read_started(&*host.disk)?.is_some() {
            // The way back has failed before this, and what leads back must not be cleaned up.
            let message = "the deployment that was booted before stays pinned until the way back has come to its end";
            return Err(StepError::new(CANNOT_ROLL_BACK, message));
        }
        unpin(host).await
    }
}

/// The same for a node that was confirmed: nothing leads back any more.
pub(in super::super) struct UnpinForGood;

impl Undo for UnpinForGood {
    async fn act(&self, _key: &str, host: &Host) -> Result<(), StepError> {
        unpin(host).await
    }
}

async fn unpin(host: &Host) -> Result<(), StepError> {
    let none = || StepError::new(NOTHING_KEPT, "which deployment was pinned is not noted any more");
    let kept = kept::read(&*host.disk)?.ok_or_else(none)?;
    let status = Status::read(host).await?;
    let position = status.position(&kept.deployment);
    let pinned = position.filter(|at| status.deployments.get(*at).is_some_and(|deployment| deployment.pinned));
    if let Some(at) = pinned {
        host.commands.run(&Cmd::new("ostree").args(["admin", "pin", "--unpin", &at.to_string()])).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::{
            samples::{OLD_OS, OS, Sample},
            testing::Machine,
        },
        *,
    };

    #[tokio::test]
    async fn what_is_pinned_and_unpinned() {
        let machine = Machine::default();
        machine.fetched(&Sample::default().served());
        let (host, step) = (machine.host(), PinnedDeployment { run: machine.run() });
        let mut text = format!("nothing kept:\n{}", machine.planned(&step).await);
        machine.apply(&super::super::KeptFiles { run: machine.run() }).await;
        for (case, deployments) in [
            ("alone", &[("old", OLD_OS, "b")][..]),
            ("an older one behind it", &[("old", OLD_OS, "b"), ("older", OLD_OS, "p")]),
            ("pinned", &[("old", OLD_OS, "bp")]),
            ("after an update in two steps", &[("mid", OS, "b"), ("old", OLD_OS, "p")]),
            ("lost", &[("new", OS, "b")]),
        ] {
            machine.deployed(deployments);
            text += &format!("{case}:\n{}", machine.planned(&step).await);
            machine.asked();
            Unpin.act(PIN, &host).await.unwrap();
            let unpinned = machine.asked().into_iter().filter(|command| command.contains("pin"));
            text += &unpinned.map(|command| format!("  back: {command}\n")).collect::<String>();
        }
        insta::assert_snapshot!(text);
    }

    #[tokio::test]
    async fn it_is_pinned_where_it_is() {
        let machine = Machine::default();
        machine.fetched(&Sample::default().served());
        machine.apply(&super::super::KeptFiles { run: machine.run() }).await;
        machine.deployed(&[("new", OS, "s"), ("old", OLD_OS, "b")]);
        machine.apply(&PinnedDeployment { run: machine.run() }).await;
        assert_eq!(machine.asked().last().unwrap(), "ostree admin pin 1");
    }
}
