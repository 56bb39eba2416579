//! Nodes that leave: their Node objects are removed for them.

use join::server::{Answer, Departures, NotReady};
use kube::{Api, Client, api::DeleteParams};
use tokio::sync::watch;

use crate::node_object::NodeObject;

/// Removes Node objects, as soon as there is a way to the API.
pub(super) struct Leavers {
    pub(super) client: watch::Receiver<Option<Client>>,
}

impl Departures for Leavers {
    fn remove<'a>(&'a self, node: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            let client = self.client.borrow().clone().ok_or(NotReady)?;
            match Api::<NodeObject>::all(client).delete(node, &DeleteParams::default()).await {
                Ok(_) => Ok(()),
                Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
                Err(error) => {
                    tracing::warn!(node, %error, "the Node object could not be removed");
                    Err(NotReady)
                }
            }
        })
    }
}
