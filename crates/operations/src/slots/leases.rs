//! Slots as Leases of the cluster. No node overwrites what it has not read: the first writer wins.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use kubeapi::{
    ApiError, Client, FIELD_MANAGER,
    k8s_openapi::{
        api::{
            coordination::v1::{Lease, LeaseSpec},
            core::v1::Node,
        },
        apimachinery::pkg::apis::meta::v1::MicroTime,
    },
    kube::{
        self, Api,
        api::{DeleteParams, ListParams, ObjectMeta, PostParams, Preconditions},
    },
};
use tokio::time::Instant;

use super::{Choice, EXPIRES, Found, Holders, Limit, Pool, choose};

/// The slots of one kind of work, as one node sees them.
pub struct Slots {
    leases: Api<Lease>,
    nodes: Api<Node>,
    pool: Pool,
    node: String,
    limit: Limit,
    /// Which version of each lease was seen last, and since when.
    watched: BTreeMap<String, (String, Instant)>,
}

/// How an attempt to take a slot ended.
pub enum Attempt {
    /// It is held now.
    Got(Box<Held>),
    /// There is none.
    Full(Holders),
    /// Another node was faster; there may be another slot.
    Outrun,
}

impl Slots {
    /// For this node, which takes no more than one.
    pub fn new(client: &Client, pool: Pool, node: &str, limit: Limit) -> Self {
        Self {
            leases: Api::namespaced(client.clone(), pool.namespace),
            nodes: Api::all(client.clone()),
            pool,
            node: node.to_owned(),
            limit,
            watched: BTreeMap::new(),
        }
    }

    /// Tries to take a slot, beginning with `start`.
    pub async fn take(&mut self, start: usize) -> Result<Attempt, ApiError> {
        let slots = self.limit.slots(self.count_nodes().await?);
        let leases = self.list().await?;
        let found: Vec<Found> = leases.iter().filter_map(|lease| self.observe(lease)).collect();
        let written = match choose(&found, slots, &self.node, start) {
            Choice::Full(holders) => return Ok(Attempt::Full(holders)),
            Choice::Create(index) => self.leases.create(&parameters(), &self.new_lease(index)).await,
            Choice::TakeOver(index) => {
                let name = self.name(index);
                let Some(lease) = leases.iter().find(|lease| lease.metadata.name.as_ref() == Some(&name)) else {
                    return Ok(Attempt::Outrun);
                };
                // It carries the version that was read, so a change in between is a conflict.
                let mut taken = lease.clone();
                taken.spec = Some(spec(&self.node));
                self.leases.replace(&name, &parameters(), &taken).await
            }
        };
        match written {
            Ok(lease) => Ok(Attempt::Got(Box::new(Held { leases: self.leases.clone(), lease }))),
            Err(error) if is_conflict(&error) => Ok(Attempt::Outrun),
            Err(error) => Err(ApiError::of("take a slot")(error)),
        }
    }

    /// The slot that an earlier process on this node has left, if there is one.
    pub async fn left_behind(&mut self) -> Result<Option<Held>, ApiError> {
        let leases = self.list().await?;
        let is_own = |lease: &Lease| self.observe(lease).is_some_and(|found| found.holder.as_ref() == Some(&self.node));
        let own = leases.into_iter().find(is_own);
        Ok(own.map(|lease| Held { leases: self.leases.clone(), lease }))
    }

    /// One object is asked for, and how many more there are: a thousand Nodes do not fit into a small pod.
    async fn count_nodes(&self) -> Result<usize, ApiError> {
        let list = self.nodes.list_metadata(&ListParams::default().limit(1)).await;
        let list = list.map_err(ApiError::of("count the nodes"))?;
        let more = list.metadata.remaining_item_count.unwrap_or(0);
        Ok(list.items.len() + usize::try_from(more).unwrap_or(0))
    }

    async fn list(&mut self) -> Result<Vec<Lease>, ApiError> {
        let ours = ListParams::default().labels(&format!("app={}", self.pool.app));
        let leases = self.leases.list(&ours).await.map_err(ApiError::of("list the slots"))?.items;
        self.watched.retain(|name, _| leases.iter().any(|lease| lease.metadata.name.as_ref() == Some(name)));
        Ok(leases)
    }

    fn observe(&mut self, lease: &Lease) -> Option<Found> {
        let name = lease.metadata.name.clone()?;
        let index = name.strip_prefix(&self.pool.prefix)?.parse().ok()?;
        let version = lease.metadata.resource_version.clone().unwrap_or_default();
        let now = Instant::now();
        let watched = self.watched.entry(name).or_insert_with(|| (version.clone(), now));
        if watched.0 != version {
            *watched = (version, now);
        }
        let holder = lease.spec.as_ref().and_then(|spec| spec.holder_identity.clone());
        let holder = holder.filter(|holder| !holder.is_empty());
        Some(Found { index, holder, unchanged: now.duration_since(watched.1) })
    }

    fn name(&self, index: usize) -> String {
        format!("{}{index}", self.pool.prefix)
    }

    fn new_lease(&self, index: usize) -> Lease {
        let labels = BTreeMap::from([("app".to_owned(), self.pool.app.clone())]);
        let metadata = ObjectMeta { name: Some(self.name(index)), labels: Some(labels), ..ObjectMeta::default() };
        Lease { metadata, spec: Some(spec(&self.node)) }
    }
}

/// A slot that is held.
pub struct Held {
    leases: Api<Lease>,
    lease: Lease,
}

impl Held {
    /// Of its Lease.
    pub fn name(&self) -> &str {
        self.lease.metadata.name.as_deref().unwrap_or_default()
    }

    /// Keeps it fresh; false if another node holds it now.
    pub async fn renew(&mut self) -> Result<bool, ApiError> {
        if let Some(spec) = &mut self.lease.spec {
            spec.renew_time = Some(MicroTime(Timestamp::now()));
        }
        match self.leases.replace(self.name(), &parameters(), &self.lease).await {
            Ok(lease) => {
                self.lease = lease;
                Ok(true)
            }
            Err(error) if is_conflict(&error) || is_gone(&error) => Ok(false),
            Err(error) => Err(ApiError::of("keep a slot")(error)),
        }
    }

    /// Gives it back. One that another node holds by now is left alone.
    pub async fn release(self) -> Result<(), ApiError> {
        let ObjectMeta { resource_version, uid, .. } = self.lease.metadata.clone();
        let as_we_know_it = DeleteParams::default().preconditions(Preconditions { resource_version, uid });
        match self.leases.delete(self.name(), &as_we_know_it).await {
            Ok(_) => Ok(()),
            Err(error) if is_conflict(&error) || is_gone(&error) => Ok(()),
            Err(error) => Err(ApiError::of("give a slot back")(error)),
        }
    }
}

fn spec(node: &str) -> LeaseSpec {
    let now = MicroTime(Timestamp::now());
    LeaseSpec {
        holder_identity: Some(node.to_owned()),
        lease_duration_seconds: Some(seconds(EXPIRES)),
        acquire_time: Some(now.clone()),
        renew_time: Some(now),
        ..LeaseSpec::default()
    }
}

fn seconds(duration: Duration) -> i32 {
    i32::try_from(duration.as_secs()).unwrap_or(i32::MAX)
}

fn parameters() -> PostParams {
    PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() }
}

fn is_conflict(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409)
}

fn is_gone(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Server;

    fn pool() -> Pool {
        Pool { namespace: "kube-system", app: "node-bootstrap".into(), prefix: "node-bootstrap-iscsi-".into() }
    }

    async fn take(slots: &mut Slots) -> Result<Held, String> {
        match slots.take(0).await.unwrap() {
            Attempt::Got(held) => Ok(*held),
            Attempt::Full(holders) => Err(holders.to_string()),
            Attempt::Outrun => Err("outrun".to_owned()),
        }
    }

    #[tokio::test]
    async fn one_slot_goes_from_node_to_node() {
        let server = Server::default();
        let client = server.serve().await;
        server.with(|held| held.nodes = 7);
        let of = |node| Slots::new(&client, pool(), node, Limit::default());
        let (mut first, mut second) = (of("w1"), of("w2"));

        let mut held = take(&mut first).await.unwrap();
        assert_eq!(held.name(), "node-bootstrap-iscsi-0");
        assert_eq!(take(&mut second).await.err().unwrap(), "1 of 1: w1");
        assert!(held.renew().await.unwrap());
        held.release().await.unwrap();
        assert_eq!(server.with(|held| held.leases.len()), 0, "nothing is left in the cluster");
        take(&mut second).await.unwrap();
    }

    #[tokio::test]
    async fn a_process_finds_the_slot_of_the_one_before_it() {
        let server = Server::default();
        let client = server.serve().await;
        let of = |node| Slots::new(&client, pool(), node, Limit::Nodes(2));
        let lost = take(&mut of("w1")).await.unwrap();
        let found = take(&mut of("w1")).await.unwrap();
        assert_eq!(found.name(), lost.name());
        assert_eq!(server.with(|held| held.leases.len()), 1);

        assert!(of("w2").left_behind().await.unwrap().is_none());
        of("w1").left_behind().await.unwrap().unwrap().release().await.unwrap();
        assert_eq!(server.with(|held| held.leases.len()), 0);
    }

    #[tokio::test]
    async fn a_slot_that_is_not_renewed_is_taken_over_once() {
        let server = Server::default();
        let client = server.serve().await;
        let of = |node| Slots::new(&client, pool(), node, Limit::Nodes(1));
        let mut gone = take(&mut of("w1")).await.unwrap();
        let (mut second, mut third) = (of("w2"), of("w3"));
        for slots in [&mut second, &mut third] {
            take(slots).await.err().unwrap();
            for (_, since) in slots.watched.values_mut() {
                *since -= EXPIRES;
            }
        }
        let taken = take(&mut second).await.unwrap();
        assert_eq!(take(&mut third).await.err().unwrap(), "1 of 1: w2", "it changed, so it is fresh");
        assert!(!gone.renew().await.unwrap(), "it is another's now");
        gone.release().await.unwrap();
        assert_eq!(server.with(|held| held.leases.len()), 1, "and stays that");
        taken.release().await.unwrap();
    }

    #[tokio::test]
    async fn without_the_api_there_is_no_slot() {
        let server = Server::default();
        let client = server.serve().await;
        server.with(|held| held.is_away = true);
        assert!(Slots::new(&client, pool(), "w1", Limit::default()).take(0).await.is_err());
    }
}
