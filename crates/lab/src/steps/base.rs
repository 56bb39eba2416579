//! The image all machines share is there.

use engine::{About, Act, Planned, Stays, Step, StepError};
use host::Host;

use super::ids;
use crate::base;

pub(super) struct BaseImage;

impl Step for BaseImage {
    type Seen = bool;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(ids::BASE_IMAGE, "Make the base image", "every machine is a thin layer over one Debian with systemd")
    }

    async fn observe(&self, host: &Host) -> Result<bool, StepError> {
        Ok(host.disk.exists(&base::dir())?)
    }

    fn plan(&self, is_there: &bool) -> Result<Vec<Planned>, StepError> {
        if *is_there {
            return Ok(Vec::new());
        }
        let what = format!("make {} with debootstrap: about a minute, once", base::dir().display());
        Ok(vec![Planned::act("create", what)])
    }

    async fn act(&self, _act: &Act, _host: &Host) -> Result<(), StepError> {
        Ok(base::create().await?)
    }
}
