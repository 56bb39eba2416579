//! The bundle of components is there, complete and verified.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use bundle::{Builder, Cache, Sources, Stop, Update, Wanted};
use engine::{About, Act, Planned, Stays, Step, StepError};
use host::Host;

use super::ids;
use crate::LabError;

pub(super) struct Bundle;

/// Where the lab's bundle is kept; all labs share it.
pub(super) fn dir() -> PathBuf {
    Path::new("/var/cache/blackstart/bundle").to_path_buf()
}

impl Step for Bundle {
    /// The components that are missing or of another version.
    type Seen = Vec<&'static str>;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(
            ids::BUNDLE,
            "Get the components",
            "Kubernetes, etcd and containerd are installed from one verified bundle",
        )
    }

    async fn observe(&self, _host: &Host) -> Result<Self::Seen, StepError> {
        let held = bundle::Manifest::read(&dir()).ok();
        let is_held = |name: &str, version: &str| {
            held.as_ref().and_then(|manifest| manifest.component(name)).is_some_and(|entry| entry.version == version)
        };
        let wanted = Wanted::default().components;
        Ok(wanted.iter().filter(|one| !is_held(one.name, one.version)).map(|one| one.name).collect())
    }

    fn plan(&self, missing: &Self::Seen) -> Result<Vec<Planned>, StepError> {
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let what = format!("get {}; where they must be compiled this takes about 15 minutes, once", missing.join(", "));
        Ok(vec![Planned::act("build", what)])
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
        let built = tokio::task::spawn_blocking(move || builder.build(&dir(), &Wanted::default())).await;
        match built {
            Ok(built) => built.map(drop).map_err(|error| StepError::from_explained(&error)),
            Err(error) => Err(LabError::while_doing("build the bundle")(error.into()).into()),
        }
    }
}
