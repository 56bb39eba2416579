//! What a master asks of another one before etcd's leader changes.

use super::{JoinError, Member};
use crate::wire::{self, Hold};

impl Member {
    /// Lets the master hold back what it writes to etcd, or go on with it.
    pub async fn hold(&self, hold: bool) -> Result<(), JoinError> {
        self.post(wire::HOLD, &Hold { hold }).await
    }
}
