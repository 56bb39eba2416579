//! What can be seen of the masters from the bootstrap node.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use engine::StepError;
use futures::future::join_all;
use host::Host;
use join::{
    AgentCertificate,
    wire::{ClusterState, Hello, Nodes},
};
use kubeapi::{
    ApiError,
    k8s_openapi::api::core::v1::Node as ApiNode,
    kube::{Api, api::ListParams},
};
use operations::readiness::Readiness;
use spec::{Node, ValidatedCluster, ports};
use tokio::time::timeout;

use super::{Master, Member, Stage};
use crate::{
    access::{self, Access},
    cluster::services::{NodeContext, api_url},
    etcd_access::etcd_access,
    membership::Membership,
    service::{Health, Probe},
};

/// A machine that is there answers at once.
const LIMIT: Duration = Duration::from_secs(2);
/// The units whose processes wait to lead.
const CONTROLLERS: [&str; 2] = ["kube-controller-manager.service", "kube-scheduler.service"];

/// What the masters' agents answer, by address.
#[derive(Default)]
struct Agents {
    /// Why one does not.
    silent: BTreeMap<IpAddr, String>,
    /// Those that have etcd's data, or have decided what to start it with.
    decided: BTreeSet<IpAddr>,
}

/// The masters of the cluster.
pub(in crate::cluster::pivot) struct Masters {
    cluster: String,
    node: String,
    /// Name, address, and whether its API server is ready.
    all: Vec<(String, IpAddr, Probe)>,
    /// Where reports of nodes come together: this machine first.
    join_services: Vec<SocketAddr>,
    kubernetes_dir: PathBuf,
    membership: Arc<Membership>,
    access: Arc<Access>,
}

impl Masters {
    pub(in crate::cluster::pivot) fn new(
        context: &NodeContext<'_>,
        membership: &Arc<Membership>,
        access: &Arc<Access>,
    ) -> Self {
        let (cluster, layout): (&ValidatedCluster, _) = (context.cluster, context.layout);
        let ca = layout.kubernetes_dir.join("pki/ca.crt");
        let probe = |master: &Node| Probe::api_server(api_url(cluster, master), ca.clone());
        Self {
            cluster: cluster.name().to_owned(),
            node: context.node.name.clone(),
            all: cluster.masters().map(|master| (master.name.clone(), master.ip, probe(master))).collect(),
            join_services: cluster.control_plane().map(|node| SocketAddr::new(node.ip, ports::JOIN)).collect(),
            kubernetes_dir: layout.kubernetes_dir.clone(),
            membership: membership.clone(),
            access: access.clone(),
        }
    }

    /// As far as a stage needs it.
    pub(super) async fn observe(&self, host: &Host, stage: Stage) -> Result<Vec<Master>, StepError> {
        let is_last = stage == Stage::Ready;
        let agents = if stage <= Stage::Announced { self.agents(host).await? } else { Agents::default() };
        // Behind the agents: a master is announced before it has decided what to start with.
        let members = if is_last {
            Vec::new()
        } else {
            let members = etcd_access(host, &self.kubernetes_dir)?.own().members().await;
            members.map_err(|error| StepError::from_explained(&error).retryable())?
        };
        let ready = if is_last { self.ready_nodes(host).await? } else { BTreeSet::new() };
        let with_controllers = if is_last { self.with_controllers(host).await? } else { BTreeSet::new() };
        let mut masters = Vec::new();
        for (name, ip, api) in &self.all {
            let health = if is_last { api.check(host).await? } else { Health::Unknown };
            let member = members.iter().find(|member| member.peer_urls.contains(&etcd::peer_url(*ip)));
            masters.push(Master {
                name: name.clone(),
                silent: agents.silent.get(ip).cloned().filter(|_| stage == Stage::Present),
                is_elsewhere: agents.decided.contains(ip) && member.is_none(),
                member: member.map(|member| if member.is_learner { Member::Learner } else { Member::Voter }),
                api: if let Health::NotYet { what, .. } = health { Some(what) } else { None },
                is_ready: ready.contains(name),
                has_controllers: with_controllers.contains(name),
            });
        }
        Ok(masters)
    }

    async fn agents(&self, host: &Host) -> Result<Agents, StepError> {
        let (_, trust) = self.membership.credential(&*host.disk)?;
        let mut agents = Agents::default();
        for (address, outcome) in self.membership.known(host, trust).await.survey(LIMIT).await {
            match outcome {
                Err(error) => drop(agents.silent.insert(address.ip(), explain::chain(&error))),
                Ok(Hello { cluster_state: Some(ClusterState::Decided | ClusterState::Member), .. }) => {
                    agents.decided.insert(address.ip());
                }
                Ok(_) => {}
            }
        }
        Ok(agents)
    }

    async fn ready_nodes(&self, host: &Host) -> Result<BTreeSet<String>, StepError> {
        let client = self.access.required(host).await?;
        let nodes = Api::<ApiNode>::all(client).list(&ListParams::default()).await;
        let nodes = nodes.map_err(|error| access::failed(&ApiError::of("list the nodes")(error)))?;
        let ready = nodes.items.iter().filter(|node| Readiness::of_node(node).is_ready());
        Ok(ready.filter_map(|node| node.metadata.name.clone()).collect())
    }

    /// The nodes whose controllers run, as their agents report. Each agent reports to one join service, so all are asked.
    async fn with_controllers(&self, host: &Host) -> Result<BTreeSet<String>, StepError> {
        let (disk, now) = (&*host.disk, host.clock.now());
        let signed = AgentCertificate::sign(disk, &self.kubernetes_dir, &self.cluster, &self.node, now);
        let signed = signed.map_err(|error| StepError::from_explained(&error))?;
        let mut members = Vec::new();
        for address in &self.join_services {
            let member = join::Member::new(vec![*address], &signed.ca, (&signed.certificate, &signed.key));
            members.push(member.map_err(|error| StepError::from_explained(&error))?);
        }
        let asked = join_all(members.iter().map(|member| timeout(LIMIT, member.nodes()))).await;
        Ok(asked.into_iter().flatten().flatten().flat_map(|nodes| leading(&nodes)).collect())
    }
}

/// Those whose last report has both units active.
fn leading(nodes: &Nodes) -> Vec<String> {
    let is_active = |report: &serde_json::Value, unit: &str| report["units"][unit] == "active";
    let runs = |report: &serde_json::Value| CONTROLLERS.iter().all(|unit| is_active(report, unit));
    let known = nodes.nodes.iter().filter(|node| node.report.as_ref().is_some_and(|report| runs(&report.status)));
    known.map(|node| node.node.clone()).collect()
}
