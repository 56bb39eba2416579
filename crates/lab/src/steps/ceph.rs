//! The layer of machines with a role in Ceph is there.

use engine::{About, Step, StepError};
use host::{Change, Host};

use crate::ceph_layer;

pub(super) struct CephLayer;

impl Step for CephLayer {
    type Seen = bool;

    fn about(&self) -> About {
        About::new("ceph-layer", "Install Ceph", "its packages are fetched and set up once, not on every machine")
    }

    async fn observe(&self, host: &Host) -> Result<bool, StepError> {
        Ok(host.disk.exists(&ceph_layer::dir())?)
    }

    fn plan(&self, is_there: &bool) -> Result<Vec<Change>, StepError> {
        if *is_there {
            return Ok(Vec::new());
        }
        let what = format!("make {} from Debian's packages: about two minutes, once", ceph_layer::dir().display());
        Ok(vec![Change::Act { key: "create".into(), what }])
    }

    async fn apply(&self, _change: &Change, _host: &Host) -> Result<(), StepError> {
        Ok(ceph_layer::create().await?)
    }
}
