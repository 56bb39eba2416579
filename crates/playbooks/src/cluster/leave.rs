//! A node that is reset leaves the cluster: its Node object goes, and on a master its etcd member. A master that gives the
//! cluster's keys up may be given them again: its name is armed again.
//!
//! A worker may not delete Nodes; a master's join service does it for it. Where no master answers, the machine is reset
//! all the same, and what is left in the cluster is reported. The only master takes the cluster with it.

use std::{
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use engine::{Notes, StepError, Undo};
use etcd::{Etcd, Member as EtcdMember};
use explain::Explain;
use host::Host;
use join::Member;
use kubeapi::{
    ApiError,
    k8s_openapi::api::core::v1::Node as ApiNode,
    kube::{
        Api,
        api::{DeleteParams, ListParams},
    },
};
use operations::quorum::{self, Change};
use spec::{ValidatedCluster, ports};
use tokio::time::timeout;

use crate::{
    access::{self, Access},
    admissions,
    etcd_access::etcd_access,
    service::{self, Started},
};
use nodekit::{Layout, kubeconfig::Identity};

/// An API that does not answer in this time is away.
const DEADLINE: Duration = Duration::from_secs(15);

/// What is known of the cluster that the node leaves.
pub(super) struct Cluster {
    node: Option<String>,
    /// Where the masters' join services are; empty where cluster.yaml is gone.
    masters: Vec<SocketAddr>,
    kubernetes_dir: PathBuf,
    /// The cluster's keys stay on this machine, so it will not ask for them again.
    keeps_keys: bool,
}

impl Cluster {
    /// As far as cluster.yaml and the machine's own note show.
    pub(super) fn new(
        cluster: Option<&ValidatedCluster>,
        node: Option<&str>,
        layout: &Layout,
        keeps_keys: bool,
    ) -> Arc<Self> {
        let masters =
            cluster.map(|cluster| cluster.control_plane().map(|master| SocketAddr::new(master.ip, ports::JOIN)));
        Arc::new(Self {
            node: node.map(str::to_owned),
            masters: masters.into_iter().flatten().collect(),
            kubernetes_dir: layout.kubernetes_dir.clone(),
            keeps_keys,
        })
    }

    /// Where cluster.yaml is gone, it is not known.
    fn may_have_other_masters(&self) -> bool {
        self.masters.len() != 1
    }

    /// Removes the Node object, or reports why it is still there.
    async fn remove_node(&self, host: &Host) -> Notes {
        let Some(node) = &self.node else { return Notes::new() };
        let as_master = self.kubernetes_dir.join("super-admin.conf");
        let as_agent = self.kubernetes_dir.join("agent.conf");
        let removed = match (host.disk.exists(&as_master), host.disk.read_optional(&as_agent)) {
            (Ok(true), _) if self.may_have_other_masters() => delete(host, &as_master, node).await,
            (_, Ok(Some(agent))) => self.ask_a_master(host, &String::from_utf8_lossy(&agent)).await,
            (Err(error), _) | (_, Err(error)) => Err(error.into()),
            // The only master's goes with everything that etcd holds; a node that never joined has none.
            (Ok(_), Ok(None)) => Ok(()),
        };
        match removed {
            Ok(()) => Notes::new(),
            Err(error) if error.code() == join::codes::HELD => vec![format!("{error}; {}", error.advice())],
            Err(error) => vec![format!(
                "the Node object `{node}` is still in the cluster: {error}; remove it on a master with `kubectl delete node {node}`"
            )],
        }
    }

    /// Lets a master that comes back, as this or another machine, be given the cluster's keys; reports if that did not work. To
    /// be done first: this master's own API server is the way to the others.
    pub(super) async fn arm_again(&self, host: &Host) -> Option<String> {
        let (node, as_master) = (self.node.as_ref()?, self.kubernetes_dir.join("super-admin.conf"));
        let has_keys = host.is_live && host.disk.exists(&as_master).unwrap_or_default();
        if !has_keys || self.keeps_keys || !self.may_have_other_masters() {
            return None;
        }
        let armed = async {
            let client = Access::new(as_master).required(host).await?;
            admissions::rearm(&client, node, host.clock.now()).await
        };
        let why = match timeout(DEADLINE, armed).await {
            Ok(Ok(_)) => return None,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the API does not answer".to_owned(),
        };
        Some(format!(
            "{node} will not be given the cluster's keys again by itself: {why}; type `blackstart node rearm {node}` on a master"
        ))
    }

    async fn ask_a_master(&self, host: &Host, agent_conf: &str) -> Result<(), StepError> {
        let identity = Identity::read(agent_conf)?;
        let masters = if self.masters.is_empty() { self.masters_in_the_api(host).await? } else { self.masters.clone() };
        tls::install_provider();
        let left = async {
            let member = Member::new(masters, &identity.ca, (&identity.certificate, &identity.key))?;
            member.leave().await
        };
        left.await.map_err(|error| StepError::from_explained(&error))
    }

    /// Without cluster.yaml, the Nodes say who the masters are.
    async fn masters_in_the_api(&self, host: &Host) -> Result<Vec<SocketAddr>, StepError> {
        let client = Access::new(self.kubernetes_dir.join("agent.conf")).required(host).await?;
        let masters = ListParams::default().labels("node-role.kubernetes.io/control-plane");
        let list = Api::<ApiNode>::all(client).list(&masters).await;
        let list = list.map_err(|error| access::failed(&ApiError::of("list the masters")(error)))?;
        Ok(list.items.iter().filter_map(internal_ip).map(|ip| SocketAddr::new(ip, ports::JOIN)).collect())
    }

    /// Whether etcd keeps a majority without this machine's member. One that does not answer has nothing to say.
    pub(super) async fn check_quorum(&self, host: &Host) -> Result<(), StepError> {
        if !host.is_live || !self.may_have_other_masters() {
            return Ok(());
        }
        let Ok(access) = etcd_access(host, &self.kubernetes_dir) else { return Ok(()) };
        match Membership::check(&access).await {
            Ok(membership) => membership.may_leave(),
            Err(_) => Ok(()),
        }
    }

    /// Takes this machine's member out of etcd, if there are others and they can do without it.
    async fn remove_member(&self, host: &Host) -> Result<Notes, StepError> {
        if !self.may_have_other_masters() {
            return Ok(Notes::new()); // it goes with its data
        }
        let left = async { leave_etcd(&etcd_access(host, &self.kubernetes_dir)?).await };
        match left.await {
            Ok(()) => Ok(Notes::new()),
            Err(error) if error.code() == etcd::codes::QUORUM => Err(error),
            Err(error) => Ok(vec![format!(
                "this machine's member may still be in etcd: {error}; check with `etcdctl member list` on another master"
            )]),
        }
    }
}

async fn delete(host: &Host, kubeconfig: &Path, node: &str) -> Result<(), StepError> {
    let client = Access::new(kubeconfig).required(host).await?;
    let deleted = Api::<ApiNode>::all(client).delete(node, &DeleteParams::default()).await;
    kubeapi::unless_gone(deleted, format!("delete Node {node}")).map(drop).map_err(|error| access::failed(&error))
}

fn internal_ip(node: &ApiNode) -> Option<IpAddr> {
    let addresses = node.status.as_ref()?.addresses.as_ref()?;
    addresses.iter().find(|address| address.type_ == "InternalIP")?.address.parse().ok()
}

/// Refuses where the others would have no majority.
async fn leave_etcd(access: &etcd::Access) -> Result<(), StepError> {
    let membership = Membership::check(access).await?;
    if membership.members.len() == 1 {
        return Ok(()); // it goes with its data
    }
    membership.may_leave()?;
    let removed = access.own().remove(membership.own).await;
    removed.map_err(|error| StepError::from_explained(&error))
}

/// Who is in etcd, seen from this machine.
struct Membership {
    own: u64,
    members: Vec<EtcdMember>,
    healthy: Vec<u64>,
}

impl Membership {
    async fn check(access: &etcd::Access) -> Result<Self, StepError> {
        let failed = |error: etcd::EtcdError| StepError::from_explained(&error);
        let client = access.own();
        let own = client.status().await.map_err(failed)?.member_id();
        let members = client.members().await.map_err(failed)?;
        let mut healthy = Vec::new();
        for member in &members {
            if let Some(client) = client_of(access, member)
                && client.status().await.is_ok()
            {
                healthy.push(member.id);
            }
        }
        Ok(Self { own, members, healthy })
    }

    /// The last member takes the cluster with it, and that is what its operator has asked for.
    fn may_leave(&self) -> Result<(), StepError> {
        if self.members.len() == 1 {
            return Ok(());
        }
        quorum::allow(Change::Remove(self.own), &self.members, |id| self.healthy.contains(&id))
            .map_err(|error| StepError::from_explained(&error))
    }
}

/// A member's client port is beside its peers' port.
fn client_of(access: &etcd::Access, member: &EtcdMember) -> Option<Etcd> {
    let url = member.peer_urls.first()?;
    Some(access.member(url.replace(&format!(":{}", ports::ETCD_PEER), &format!(":{}", ports::ETCD_CLIENT))))
}

/// The kubelet of a node that leaves.
pub(super) struct Kubelet {
    pub(super) cluster: Arc<Cluster>,
}

impl Undo for Kubelet {
    const ONLY_LIVE: bool = true;

    fn shows(&self) -> Vec<String> {
        let leave = self.cluster.node.iter().map(|node| format!("remove the Node object {node} from the cluster"));
        leave.chain(service::shows("kubelet.service")).collect()
    }

    /// Stopped first: a kubelet that starts again would register again.
    async fn before(&self, host: &Host) -> Result<Notes, StepError> {
        service::stop(host, "kubelet.service").await?;
        let notes = self.cluster.remove_node(host).await;
        service::clear(host, "kubelet.service").await?;
        Ok(notes)
    }

    async fn act(&self, _key: &str, _host: &Host) -> Result<(), StepError> {
        Ok(())
    }
}

/// etcd of a master that leaves.
pub(super) struct EtcdService {
    pub(super) cluster: Arc<Cluster>,
}

/// The API server waits long to sign off where etcd is gone.
const UNITS: &[&str] =
    &["kube-scheduler.service", "kube-controller-manager.service", "kube-apiserver.service", "etcd.service"];

impl Undo for EtcdService {
    const ONLY_LIVE: bool = true;

    fn shows(&self) -> Vec<String> {
        let leave = "take this machine's member out of etcd, if it has others".to_owned();
        let leave = self.cluster.may_have_other_masters().then_some(leave);
        leave.into_iter().chain(Started { units: UNITS }.shows()).collect()
    }

    async fn before(&self, host: &Host) -> Result<Notes, StepError> {
        let notes = self.cluster.remove_member(host).await?;
        Started { units: UNITS }.before(host).await?;
        Ok(notes)
    }

    async fn act(&self, _key: &str, _host: &Host) -> Result<(), StepError> {
        Ok(())
    }
}
