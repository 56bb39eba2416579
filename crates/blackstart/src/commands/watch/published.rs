//! What a bootstrap node has published in the API: how far it got is known on masters also when it is gone.

use std::{sync::Arc, time::Duration};

use nodekit::milestones::{self, Progress};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use super::asking::Access;
use crate::commands::bootstrap;

/// Milestones are seconds apart.
const PAUSE: Duration = Duration::from_secs(2);
/// The balancer holds a connection while no API is ready, and everything else is shown without one.
const DEADLINE: Duration = Duration::from_secs(3);

/// Asks the API.
pub(super) struct Published(Arc<Access>);

impl Published {
    pub(super) fn new(access: &Arc<Access>) -> Self {
        Self(access.clone())
    }

    /// Asks until the bootstrap is complete: nothing comes after that.
    pub(super) async fn forever(self, emit: watch::Sender<Vec<Progress>>) {
        loop {
            let progress = self.once().await;
            let is_over = milestones::completed(&progress).is_some();
            // An API that is away for a moment does not undo what was reached.
            if !progress.is_empty() && emit.send(progress).is_err() || is_over {
                return;
            }
            sleep(PAUSE).await;
        }
    }

    /// Asks once. Empty where there is no API, or no certificate for it yet: then reports are all there is.
    pub(super) async fn once(&self) -> Vec<Progress> {
        let Some(kubeconfig) = (self.0.kubeconfig)() else { return Vec::new() };
        tls::install_provider();
        let asked = async { bootstrap::published(kubeapi::connect_with_short_timeout(&kubeconfig).await?).await };
        timeout(DEADLINE, asked).await.ok().and_then(Result::ok).unwrap_or_default()
    }
}
