//! The bootstrap node of a cluster, as another machine sees it.

use std::{net::SocketAddr, time::Duration};

use futures::future::join_all;
use spec::{Node, ports};

use crate::Context;

/// A machine of the same network answers at once or not at all.
const LIMIT: Duration = Duration::from_secs(2);

impl Context {
    /// The bootstrap node, where there is one and neither its join service nor its API server answers. What is left of it has no process behind it.
    pub(crate) async fn silent_bootstrap_node(&self) -> Option<&Node> {
        let node = self.cluster.bootstrap_node().filter(|node| node.name != self.node.name)?;
        (!self.bootstrap_node_answers(node).await).then_some(node)
    }

    /// The bootstrap node, where there is one and it is still there.
    pub(crate) async fn living_bootstrap_node(&self) -> Option<&Node> {
        let node = self.cluster.bootstrap_node().filter(|node| node.name != self.node.name)?;
        self.bootstrap_node_answers(node).await.then_some(node)
    }

    async fn bootstrap_node_answers(&self, node: &Node) -> bool {
        let ask = async || {
            let all = [ports::JOIN, self.cluster.api().port];
            join_all(all.map(|port| answers(SocketAddr::new(node.ip, port)))).await.contains(&true)
        };
        *self.views.bootstrap_node_answers.get_or_init(ask).await
    }
}

/// Whether a server answers anything at all. That a connection is accepted is no answer: the kernel of a machine that stands still
/// does so, too. Who it is does not matter here, so no certificate is looked at, and nothing secret is sent.
pub(crate) async fn answers(server: SocketAddr) -> bool {
    let Ok(client) = tls::unproven_client() else { return false };
    client.get(format!("https://{server}/livez")).timeout(LIMIT).send().await.is_ok()
}
