//! The real Ignition is there, for the first boot of machines.

use std::{path::Path, sync::Arc};

use bundle::{Builder, Cache, Sources, Stop, Update, Wanted};
use engine::{About, Act, Planned, Stays, Step, StepError};
use host::Host;

use super::ids;
use crate::{LabError, first_boot};

pub(super) struct Ignition;

impl Step for Ignition {
    type Seen = bool;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(ids::IGNITION, "Get Ignition", "it sets machines up before their first boot, as it does on metal")
    }

    async fn observe(&self, _host: &Host) -> Result<bool, StepError> {
        Ok(first_boot::is_there())
    }

    fn plan(&self, is_there: &bool) -> Result<Vec<Planned>, StepError> {
        if *is_there {
            return Ok(Vec::new());
        }
        let what = "get ignition and ignition-validate; they are compiled, which takes about 3 minutes, once";
        Ok(vec![Planned::act("build", what.to_owned())])
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let emitter = host.clone();
        let builder = Builder {
            cache: Cache::of_user(),
            sources: Sources::default(),
            install_tools: true,
            stop: Stop::default(),
            progress: Arc::new(move |update: &Update<'_>| emitter.doing(update.to_string())),
        };
        let wanted = Wanted::default().only(&[first_boot::COMPONENT]);
        let wanted = wanted.map_err(|error| StepError::from_explained(&error))?;
        let built = tokio::task::spawn_blocking(move || builder.build(Path::new(first_boot::HOME), &wanted)).await;
        match built {
            Ok(built) => built.map(drop).map_err(|error| StepError::from_explained(&error)),
            Err(error) => Err(LabError::while_doing("build Ignition")(error.into()).into()),
        }
    }
}
