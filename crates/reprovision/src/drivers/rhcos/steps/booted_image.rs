//! The machine has booted the image that was asked for.

use engine::{About, FilesOnly, Step, StepError};
use explain::plain;
use host::{Change, Host};

use super::super::{ids::BOOTED_IMAGE, rpm_ostree::Status, stored::Target};
use crate::{Run, codes::NOT_BOOTED};

/// It has.
pub(in super::super) struct BootedImage {
    pub(in super::super) run: Run,
}

/// What is wanted, and what is booted instead.
pub(in super::super) struct Seen {
    wanted: String,
    instead: Option<String>,
}

impl Step for BootedImage {
    type Seen = Seen;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(BOOTED_IMAGE, "Check what was booted", "a new boot is not yet a boot of the new system")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let wanted = Target::read(&*host.disk, &self.run)?.config.spec().os_image_url.clone();
        let status = Status::read(host).await?;
        let booted = status.booted()?;
        let instead = (!booted.is_of(&wanted)).then(|| plain(&booted.name()).into_owned());
        Ok(Seen { wanted, instead })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Change>, StepError> {
        match &seen.instead {
            None => Ok(Vec::new()),
            Some(booted) => {
                let message = format!("booted is {booted}, and wanted is {}", seen.wanted);
                Err(StepError::new(NOT_BOOTED, message))
            }
        }
    }
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
    async fn only_the_one_that_was_asked_for() {
        let machine = Machine::default();
        machine.fetched(&Sample::default().served());
        let step = BootedImage { run: machine.run() };
        insta::assert_snapshot!(machine.planned(&step).await.trim(), @"BS-IPB-053 booted is 9.6 (000000000000), and wanted is registry.lab:5000/ocp/os@sha256:2222222222222222222222222222222222222222222222222222222222222222");
        machine.deployed(&[("new", OS, "b"), ("old", OLD_OS, "p")]);
        assert_eq!(machine.planned(&step).await, "  nothing\n");
    }
}
