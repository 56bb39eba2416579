//! The layer of machines with a role in Ceph is there.

use engine::{About, Act, Planned, Stays, Step, StepError};
use host::Host;

use super::ids;
use crate::ceph_layer;

pub(super) struct CephLayer;

impl Step for CephLayer {
    type Seen = bool;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(ids::CEPH_LAYER, "Install Ceph", "its packages are fetched and set up once, not on every machine")
    }

    async fn observe(&self, host: &Host) -> Result<bool, StepError> {
        Ok(host.disk.exists(&ceph_layer::dir())?)
    }

    fn plan(&self, is_there: &bool) -> Result<Vec<Planned>, StepError> {
        if *is_there {
            return Ok(Vec::new());
        }
        let what = format!("make {} from Debian's packages: about two minutes, once", ceph_layer::dir().display());
        Ok(vec![Planned::act("create", what)])
    }

    async fn act(&self, _act: &Act, _host: &Host) -> Result<(), StepError> {
        Ok(ceph_layer::create().await?)
    }
}
