//! Bridge and way out are there.

use std::sync::Arc;

use engine::{About, Act, Planned, Stays, Step, StepError};
use host::Host;

use super::ids;
use crate::{Lab, network};

pub(super) struct Network {
    lab: Arc<Lab>,
}

impl Network {
    pub(super) fn new(lab: &Arc<Lab>) -> Self {
        Self { lab: lab.clone() }
    }
}

impl Step for Network {
    type Seen = bool;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(
            ids::NETWORK,
            "Make the lab's network",
            "machines talk over a bridge of their own and reach packages through it",
        )
    }

    async fn observe(&self, _host: &Host) -> Result<bool, StepError> {
        Ok(network::is_there(&self.lab).await)
    }

    fn plan(&self, is_there: &bool) -> Result<Vec<Planned>, StepError> {
        if *is_there {
            return Ok(Vec::new());
        }
        let Lab { name, subnet, .. } = &*self.lab;
        let what = format!("create bridge {} for {subnet}, with a way out", name.bridge());
        Ok(vec![Planned::act("create", what)])
    }

    async fn act(&self, _act: &Act, _host: &Host) -> Result<(), StepError> {
        Ok(network::create(&self.lab).await?)
    }
}
