//! The image all machines share is there.

use engine::{About, Step, StepError};
use host::{Change, Host};

use crate::base;

pub(super) struct BaseImage;

impl Step for BaseImage {
    type Seen = bool;

    fn about(&self) -> About {
        About::new("base-image", "Make the base image", "every machine is a thin layer over one Debian with systemd")
    }

    async fn observe(&self, host: &Host) -> Result<bool, StepError> {
        Ok(host.disk.exists(&base::dir())?)
    }

    fn plan(&self, is_there: &bool) -> Result<Vec<Change>, StepError> {
        if *is_there {
            return Ok(Vec::new());
        }
        let what = format!("make {} with debootstrap: about a minute, once", base::dir().display());
        Ok(vec![Change::Act { key: "create".into(), what }])
    }

    async fn apply(&self, _change: &Change, _host: &Host) -> Result<(), StepError> {
        Ok(base::create().await?)
    }
}
