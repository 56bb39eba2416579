//! Lets this node be worked on in place: program and units are put in place and started when an order for it appears.
//!
//! What is ordered is none of its business, and it follows nothing of the work: the unit goes on by itself, and the controller
//! commits. Where pods of `ipb-daemonset` are the door, orders do not ask for this one.

use std::time::Duration;

use futures::StreamExt;
use kube::{
    Api, Client,
    core::PartialObjectMeta,
    runtime::watcher::{Event, watcher},
};
use operations::outage::Outage;
use reprovision::door::OfAgent;
use tokio::time::timeout;

use crate::{Agent, AgentError, node_object::NodeObject, session};

/// Between two looks at the unit of a run that is under way.
const PAUSE: Duration = Duration::from_secs(3);

/// Runs until the credentials are renewed.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    session::with_client(agent, |client| follow(agent, client)).await
}

async fn follow(agent: &Agent, client: Client) -> Result<(), AgentError> {
    let name = &agent.node.name;
    let nodes: Api<PartialObjectMeta<NodeObject>> = Api::all(client);
    let own = session::watching().fields(&format!("metadata.name={name}"));
    let mut stream = watcher(nodes, own).boxed();
    let mut outage = Outage::new("follow the orders of this node");
    let mut door = OfAgent::new(name, &agent.host);
    let mut seen = None;
    let mut is_open = false;
    loop {
        let next = session::next(&mut stream, &mut outage);
        // A unit that was just ending when it was asked for is asked for again.
        let event = if is_open { timeout(PAUSE, next).await.ok() } else { Some(next.await) };
        match event {
            Some(Event::Apply(node) | Event::InitApply(node)) => seen = Some(node.metadata),
            Some(Event::Delete(_)) => seen = None,
            Some(Event::Init | Event::InitDone) => continue,
            None => {}
        }
        is_open = match &seen {
            Some(node) => door.observe(node).await?,
            None => false,
        };
    }
}
