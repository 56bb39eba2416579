//! Asks the masters whether another node has this machine's id: two machines from one image are one node to Kubernetes.
//!
//! They answer only a machine that shows a certificate. A worker that has none yet gets the answer when it joins.

use std::{sync::Arc, time::Duration};

use checks::{Answer, MachineIds};
use host::Host;
use tokio::time::timeout;

use crate::membership::Membership;

/// A master that is up answers at once; a bootstrap does not wait for this question.
const LIMIT: Duration = Duration::from_secs(1);

/// The join services of the masters.
pub(super) struct AskMasters {
    membership: Arc<Membership>,
}

impl AskMasters {
    pub(super) fn new(membership: &Arc<Membership>) -> Self {
        Self { membership: membership.clone() }
    }
}

impl MachineIds for AskMasters {
    fn holder<'a>(&'a self, host: &'a Host, machine_id: &'a str) -> Answer<'a> {
        Box::pin(async move {
            let (_, trust) = self.membership.credential(&*host.disk).map_err(|error| error.to_string())?;
            let hashed = join::machine_id(machine_id);
            let asked = self.membership.known(host, trust).await;
            match timeout(LIMIT, asked.hello(Some(&hashed))).await {
                Ok(Ok((_, hello))) => Ok(hello.machine.filter(|holder| *holder != self.membership.node)),
                Ok(Err(error)) => Err(error.to_string()),
                Err(_) => Err("no master answered in time".to_owned()),
            }
        })
    }
}
