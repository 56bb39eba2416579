//! The bootstrap node is switched off. One that lives hands over by itself, and may start again what was given up.

use std::{net::SocketAddr, time::Duration};

use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Host};
use spec::{Node, ports};
use tokio::{net::TcpStream, time::timeout};

use super::ids;
use crate::codes;

/// A machine that is there answers at once.
const LIMIT: Duration = Duration::from_secs(2);

/// Refuses while one of its services answers.
pub(super) struct BootstrapOff {
    name: String,
    services: Vec<(&'static str, SocketAddr)>,
}

impl BootstrapOff {
    pub(super) fn new(node: &Node, api_port: u16) -> Self {
        let services = [("agent", ports::JOIN), ("API server", api_port), ("etcd", ports::ETCD_PEER)];
        let services = services.map(|(service, port)| (service, SocketAddr::new(node.ip, port)));
        Self { name: node.name.clone(), services: services.into() }
    }
}

impl Step for BootstrapOff {
    /// What answers.
    type Seen = Vec<&'static str>;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(ids::BOOTSTRAP_OFF, "Check that the bootstrap node is off", "one that lives hands over by itself")
    }

    async fn observe(&self, _host: &Host) -> Result<Self::Seen, StepError> {
        let mut answering = Vec::new();
        for (service, address) in &self.services {
            if matches!(timeout(LIMIT, TcpStream::connect(address)).await, Ok(Ok(_))) {
                answering.push(*service);
            }
        }
        Ok(answering)
    }

    fn plan(&self, answering: &Self::Seen) -> Result<Vec<Change>, StepError> {
        if answering.is_empty() {
            return Ok(Vec::new());
        }
        let message = format!("{} is alive: its {} answers", self.name, answering.join(", "));
        Err(StepError::new(codes::BOOTSTRAP_ALIVE, message))
    }
}
