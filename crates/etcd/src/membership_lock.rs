//! The right to change who is a member. One holder at a time in the whole cluster: the holder looks again, decides on
//! what is there now, and changes one thing after the other.

use std::time::Duration;

use crate::{Etcd, EtcdError, Lease, Lock};

const NAME: &str = "blackstart/membership";
/// A change takes a moment; a holder that is killed in the middle keeps others waiting for so long.
const HELD: Duration = Duration::from_secs(30);

/// The right to change who is a member, for as long as it is renewed.
#[must_use = "it is held until it is released or ends"]
pub struct MembershipLock {
    etcd: Etcd,
    lease: Lease,
}

/// What came of asking for it.
#[must_use = "only the holder of the lock may change something"]
pub enum Asked {
    /// It is held now.
    Got(MembershipLock),
    /// Another master changes the membership at this moment.
    HeldBy(String),
}

impl MembershipLock {
    /// Asks for the lock. The owner's name shows others who holds it; a run that was killed gets its lock back under the
    /// same name, so two that may run at the same time must not share one.
    pub async fn ask(etcd: &Etcd, owner: &str) -> Result<Asked, EtcdError> {
        let lease = etcd.grant(HELD).await?;
        let lock = Self { etcd: etcd.clone(), lease };
        match etcd.lock(NAME, owner, lease).await {
            Ok(Lock::Taken) => Ok(Asked::Got(lock)),
            Ok(Lock::HeldBy(holder)) => {
                lock.release().await;
                Ok(Asked::HeldBy(holder))
            }
            Err(error) => {
                lock.release().await;
                Err(error)
            }
        }
    }

    /// Keeps it for longer; false if it has ended, and another may have it.
    pub async fn renew(&self) -> Result<bool, EtcdError> {
        self.etcd.keep_alive(self.lease).await
    }

    /// Gives it back.
    pub async fn release(self) {
        // One that cannot be given back ends by itself.
        let _ended_anyway = self.etcd.revoke(self.lease).await;
    }
}
