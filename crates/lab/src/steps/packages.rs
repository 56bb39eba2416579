//! The programs the lab needs are installed.

use engine::{About, Act, Planned, Stays, Step, StepError};
use host::Host;

use super::ids;
use crate::packages;

pub(super) struct Packages;

impl Step for Packages {
    type Seen = Vec<&'static str>;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(
            ids::PACKAGES,
            "Install what the lab needs",
            "machines are made with systemd-nspawn, debootstrap and nft",
        )
    }

    async fn observe(&self, _host: &Host) -> Result<Self::Seen, StepError> {
        Ok(packages::missing())
    }

    fn plan(&self, missing: &Self::Seen) -> Result<Vec<Planned>, StepError> {
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![Planned::act("install", format!("install packages {}", missing.join(", ")))])
    }

    async fn act(&self, _act: &Act, _host: &Host) -> Result<(), StepError> {
        Ok(packages::install(&packages::missing()).await?)
    }
}
