//! Objects that every cluster has are in the API, as we want them.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use engine::{About, Act, Planned, Stays, Step, StepError, Verdict};
use explain::counted;
use host::Host;
use kubeapi::Waiting;
use serde_json::Value;

use crate::{
    access::{self, Access},
    codes,
};

/// How long an image may be missing before that is the answer.
const IMAGE_DEADLINE: Duration = Duration::from_secs(20);

/// The two things that are done.
const APPLY: &str = "apply";
const REMOVE: &str = "remove";

/// Makes the objects.
type Wanted = Box<dyn Fn(&Host) -> Result<Vec<Value>, StepError> + Send + Sync>;

/// Applies objects by server-side apply and, where they are workloads, waits until they run.
pub(crate) struct Objects {
    about: About,
    access: Arc<Access>,
    wanted: Wanted,
    /// What an earlier run made, and is not to be there any more.
    unwanted: Vec<Value>,
    /// Whether workloads are to run.
    is_awaited: bool,
    /// Since when an image cannot be had.
    image_missing: Mutex<Option<Instant>>,
}

/// What was found.
pub(crate) struct Seen {
    wanted: usize,
    /// `None` where there is no API to ask.
    differing: Option<Vec<Value>>,
    left_over: usize,
    waiting: Vec<Waiting>,
}

impl Objects {
    /// The objects that `objects` makes of what is on the machine: a CA's certificate, a manifest.
    pub(crate) fn new(
        about: About,
        access: &Arc<Access>,
        objects: impl Fn(&Host) -> Result<Vec<Value>, StepError> + Send + Sync + 'static,
    ) -> Self {
        let wanted = Box::new(objects);
        Self {
            about,
            access: access.clone(),
            wanted,
            unwanted: Vec::new(),
            is_awaited: true,
            image_missing: Mutex::new(None),
        }
    }

    /// Removes these where an earlier run has made them.
    pub(super) fn without(self, unwanted: Vec<Value>) -> Self {
        Self { unwanted, ..self }
    }

    /// Does not wait until workloads among them run: what they need comes later.
    pub(super) fn unawaited(self) -> Self {
        Self { is_awaited: false, ..self }
    }
}

impl Objects {
    /// An image that cannot be pulled now may be in a moment; one that cannot for long will not come by waiting.
    fn give_up_on_images(&self, waiting: &[Waiting]) -> Result<(), StepError> {
        let mut since = self.image_missing.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(first) = waiting.iter().find(|waiting| waiting.image_missing) else {
            *since = None;
            return Ok(());
        };
        if since.get_or_insert_with(Instant::now).elapsed() < IMAGE_DEADLINE {
            return Ok(());
        }
        *since = None;
        Err(StepError::new(codes::IMAGE_MISSING, first.what.clone()))
    }
}

/// What is in the API goes with the cluster, and of a cluster that stays it is not one node's to remove.
impl Step for Objects {
    type Seen = Seen;
    type Undo = Stays;

    fn about(&self) -> About {
        self.about.clone()
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let objects = (self.wanted)(host)?;
        let wanted = objects.len();
        let Some(client) = self.access.client(host).await? else {
            return Ok(Seen { wanted, differing: None, left_over: 0, waiting: Vec::new() });
        };
        let differing = kubeapi::differing(&client, &objects).await;
        let differing = match differing {
            // A dry run on a machine whose API server is not up shows what would be applied.
            Err(error) if error.is_transient() && matches!(error, kubeapi::ApiError::Unreachable { .. }) => None,
            found => Some(found.map_err(|error| access::failed(&error))?),
        };
        let left_over = match &differing {
            None => 0,
            Some(_) => kubeapi::left_over(&client, &self.unwanted).await.map_err(|error| access::failed(&error))?.len(),
        };
        let waiting = match &differing {
            Some(differing) if differing.is_empty() && self.is_awaited => {
                kubeapi::waiting(&client, &objects).await.map_err(|error| access::failed(&error))?
            }
            _ => Vec::new(),
        };
        self.give_up_on_images(&waiting)?;
        Ok(Seen { wanted, differing, left_over, waiting })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let count = seen.differing.as_ref().map_or(seen.wanted, Vec::len);
        let act = |key: &str, verb: &str, count: usize| {
            (count > 0).then(|| Planned::act(key, format!("{verb} {}", counted(count, "object"))))
        };
        Ok(act(APPLY, "apply", count).into_iter().chain(act(REMOVE, "remove", seen.left_over)).collect())
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        let Some(first) = seen.waiting.first() else { return Verdict::Met };
        let all: Vec<&str> = seen.waiting.iter().map(|waiting| waiting.what.as_str()).collect();
        Verdict::Waiting { what: all.join(" / "), progress: first.progress.clone() }
    }

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        let client = self.access.required(host).await?;
        let done = match key.as_str() {
            REMOVE => kubeapi::remove_all(&client, &self.unwanted).await,
            _ => kubeapi::apply_all(&client, &(self.wanted)(host)?).await,
        };
        done.map_err(|error| access::failed(&error))
    }
}
