//! What a node asks last.

use super::{JoinError, Member};
use crate::wire;

impl Member {
    /// Lets a master remove this node's Node object.
    pub async fn leave(&self) -> Result<(), JoinError> {
        self.post(wire::LEAVE, &()).await
    }
}
