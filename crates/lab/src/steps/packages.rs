//! The programs the lab needs are installed.

use engine::{About, Step, StepError};
use host::{Change, Host};

use crate::packages;

pub(super) struct Packages;

impl Step for Packages {
    type Seen = Vec<&'static str>;

    fn about(&self) -> About {
        About::new(
            "packages",
            "Install what the lab needs",
            "machines are made with systemd-nspawn, debootstrap and nft",
        )
    }

    async fn observe(&self, _host: &Host) -> Result<Self::Seen, StepError> {
        Ok(packages::missing())
    }

    fn plan(&self, missing: &Self::Seen) -> Result<Vec<Change>, StepError> {
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![Change::Act { key: "install".into(), what: format!("install packages {}", missing.join(", ")) }])
    }

    async fn apply(&self, _change: &Change, _host: &Host) -> Result<(), StepError> {
        Ok(packages::install(&packages::missing()).await?)
    }
}
