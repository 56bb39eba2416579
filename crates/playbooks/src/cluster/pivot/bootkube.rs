//! `bootkube.service` runs: it does nothing but say how far this machine is, in the journal that people read.

use engine::{About, Act, Planned, Step, StepError};
use host::{Change, Host};
use nodekit::systemd;
use render::units;

use super::super::ids;
use crate::service::{Started, file};

/// Its unit.
pub(in crate::cluster) const UNIT: &str = "bootkube.service";

/// Starts it.
pub(super) struct Bootkube;

/// What was found.
pub(super) struct Seen {
    missing: Vec<Change>,
    is_up: bool,
}

impl Step for Bootkube {
    type Seen = Seen;
    type Undo = Started;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::BOOTKUBE, "Start bootkube", "`journalctl -u bootkube` shows how far this machine is")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let missing = Change::missing(units::bootkube().files.iter().map(file).collect(), &*host.disk)?;
        Ok(Seen { missing, is_up: systemd::check(host, UNIT).await?.is_up() })
    }

    fn plan(&self, Seen { missing, is_up }: &Seen) -> Result<Vec<Planned>, StepError> {
        let start = (!is_up || !missing.is_empty()).then(|| Planned::act("start", format!("start {UNIT}")));
        Ok(missing.iter().cloned().map(Planned::File).chain(start).collect())
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        systemd::systemctl(host, &["restart", UNIT]).await.map(drop)
    }
}
