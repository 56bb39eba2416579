//! One controller works at a time: it holds the only slot of a pool of its own.

use std::time::Duration;

use kubeapi::{ApiError, Client};
use operations::slots::{Attempt, Held, Limit, Pool, Slots};
use tokio::time::Instant;

use crate::names;

/// How often the Lease is kept fresh: it is others' to take after a minute.
const RENEW: Duration = Duration::from_secs(15);

/// Whether this process leads.
pub(super) struct Leader {
    slots: Slots,
    held: Option<(Held, Instant)>,
}

impl Leader {
    pub(super) fn new(client: &Client, identity: &str) -> Self {
        let pool = Pool {
            namespace: names::NAMESPACE,
            app: names::CONTROLLER.to_owned(),
            prefix: format!("{}-", names::CONTROLLER),
        };
        Self { slots: Slots::new(client, pool, identity, Limit::Nodes(1)), held: None }
    }

    /// Takes the Lease where it is free, and keeps it fresh.
    pub(super) async fn leads(&mut self) -> Result<bool, ApiError> {
        if let Some((mut held, renewed)) = self.held.take() {
            if renewed.elapsed() < RENEW {
                self.held = Some((held, renewed));
                return Ok(true);
            }
            if held.renew().await? {
                self.held = Some((held, Instant::now()));
                return Ok(true);
            }
            tracing::warn!("another controller leads now");
        }
        if let Attempt::Got(held) = self.slots.take(0).await? {
            tracing::info!(lease = held.name(), "leads");
            self.held = Some((*held, Instant::now()));
        }
        Ok(self.held.is_some())
    }

    /// Lets another one lead at once.
    pub(super) async fn release(&mut self) {
        if let Some((held, _)) = self.held.take()
            && let Err(error) = held.release().await
        {
            tracing::warn!("the Lease is free after a minute: {}", explain::chain(&error));
        }
    }
}
