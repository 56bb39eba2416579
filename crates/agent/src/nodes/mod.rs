//! The network add-on `basic`: follows the Node objects and connects this node's pods with those of all others.
//!
//! ```text
//! Node objects ──► peers: who has which part of the pod network ──► the CNI's file, routes, one nft table
//! ```
//! Every event, and every few seconds, the machine is compared with what is wanted and only differences are applied; so a
//! link that went down and up, or a flush of nftables, is repaired too. While the API is away the last known
//! picture stays: nothing is torn down because there is no answer. After a restart the first complete list is the picture.

mod masquerade;
mod peers;
mod routes;

use std::{collections::BTreeMap, path::Path, time::Duration};

use futures::StreamExt;
use host::{Change, Content};
use ipnet::IpNet;
use kube::{
    Api, Client,
    runtime::watcher::{Event, watcher},
};
use operations::outage::Outage;
use tokio::time::interval;

pub(crate) use self::peers::part;
use self::{
    peers::{Peer, Wanted, peer, wanted},
    routes::Way,
};
use crate::{Agent, AgentError, node_object::NodeObject, session};

/// Where the CRI looks for a network.
const CNI_FILE: &str = "/etc/cni/net.d/10-blackstart.conflist";

/// The machine is compared at least this often.
const COMPARE: Duration = Duration::from_secs(15);

/// Runs until the credentials are renewed.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    // Before there is any API to ask: the kubelet calls the node ready as soon as there is a network.
    if let Some(own) = agent.cluster.networking().pod_cidr_of(agent.node.ip) {
        write_cni(agent, own)?;
    }
    session::with_client(agent, |client| follow(agent, client)).await
}

async fn follow(agent: &Agent, client: Client) -> Result<(), AgentError> {
    let mut stream = watcher(Api::<NodeObject>::all(client), session::watching()).boxed();
    let (mut following, mut connecting) = (Outage::new("follow the nodes"), Outage::new("connect the pods"));
    let mut picture = Picture::default();
    let mut compare = interval(COMPARE);
    loop {
        tokio::select! {
            event = session::next(&mut stream, &mut following) => {
                if !picture.take(event, |node| peer(&agent.cluster, node)) {
                    continue;
                }
            }
            _ = compare.tick() => {}
        }
        let Some(wanted) = wanted(&agent.node.name, &picture.known) else { continue };
        match connect(agent, &wanted).await {
            Ok(()) => connecting.over(),
            Err(error) => connecting.failed(&explain::chain(&error)),
        }
    }
}

/// All nodes, as far as they count.
#[derive(Default)]
struct Picture {
    known: BTreeMap<String, Peer>,
    /// The list that is being read again; until it is complete the old picture is better.
    fresh: BTreeMap<String, Peer>,
}

impl Picture {
    /// Takes in an event; true if the picture may have changed.
    fn take(&mut self, event: Event<NodeObject>, peer: impl Fn(&NodeObject) -> Option<Peer>) -> bool {
        match event {
            Event::Init => {
                self.fresh.clear();
                false
            }
            Event::InitApply(node) => {
                self.fresh.extend(peer(&node).map(|peer| (node.name().to_owned(), peer)));
                false
            }
            Event::InitDone => {
                self.known = std::mem::take(&mut self.fresh);
                true
            }
            Event::Apply(node) => match peer(&node) {
                Some(peer) => self.known.insert(node.name().to_owned(), peer.clone()) != Some(peer),
                None => self.known.remove(node.name()).is_some(),
            },
            Event::Delete(node) => self.known.remove(node.name()).is_some(),
        }
    }
}

/// Makes the machine as wanted. One part that fails does not keep the others from being done.
async fn connect(agent: &Agent, wanted: &Wanted) -> Result<(), AgentError> {
    let pods = agent.cluster.networking().pod_cidr;
    let mut errors = Vec::new();
    // The CNI's file first: the kubelet waits for it to call the node ready.
    errors.extend(write_cni(agent, wanted.own).err());
    errors.extend(set_routes(agent, wanted).await.err());
    errors.extend(set_masquerade(agent, wanted.own, pods).await.err());
    AgentError::unless_empty(errors)
}

fn write_cni(agent: &Agent, own: IpNet) -> Result<(), AgentError> {
    let content = Content::Plain(render::cni_basic(&own.to_string(), None).into_bytes());
    let file = Change::File { path: Path::new(CNI_FILE).to_path_buf(), mode: 0o644, content };
    for change in Change::missing(vec![file], &*agent.host.disk)? {
        tracing::info!(%own, "{change}");
        change.apply(&*agent.host.disk)?;
    }
    Ok(())
}

async fn set_routes(agent: &Agent, wanted: &Wanted) -> Result<(), AgentError> {
    let seen = agent.host.commands.run(&routes::show(wanted.own)).await?;
    let mut errors = Vec::new();
    let mut ways: BTreeMap<IpNet, Way> = wanted.routes.iter().map(|(pods, node)| (*pods, Way::Via(*node))).collect();
    ways.insert(agent.cluster.networking().service_cidr, Way::Services(agent.node.ip));
    for command in routes::plan(wanted.own, &ways, &routes::parse(&seen.stdout)?) {
        tracing::info!("{command}");
        errors.extend(agent.host.commands.run(&command).await.err().map(AgentError::from));
    }
    AgentError::unless_empty(errors)
}

async fn set_masquerade(agent: &Agent, own: IpNet, pods: IpNet) -> Result<(), AgentError> {
    // A listing that fails means that there is no table, or no nft, which loading will report.
    let listing = agent.host.commands.run(&masquerade::list(own)).await.map(|printed| printed.stdout);
    if listing.is_ok_and(|listing| masquerade::is_loaded(&listing, own, pods)) {
        return Ok(());
    }
    tracing::info!(%own, "masquerading what leaves {pods}");
    agent.host.commands.run(&masquerade::load(own, pods)).await?;
    Ok(())
}

#[cfg(test)]
mod tests;
