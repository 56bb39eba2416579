//! What only masters ask of each other: a moment without writes before etcd's leader changes, what opens new keys.

use super::{JoinError, Member};
use crate::wire::{self, Hold, RotationKey};

impl Member {
    /// Lets the master hold back what it writes to etcd, or go on with it.
    pub async fn hold(&self, hold: bool) -> Result<(), JoinError> {
        self.post(wire::HOLD, &Hold { hold }).await
    }

    /// What opens the new keys of a rotation; `None` if this master does not have it.
    pub async fn rotation_key(&self) -> Result<Option<String>, JoinError> {
        let RotationKey { key } = self.post(wire::ROTATION_KEY, &()).await?;
        Ok(key)
    }
}
