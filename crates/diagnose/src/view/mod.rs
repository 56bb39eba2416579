//! What several checks need of the cluster, read once for all of them. Reading only: what it means is for the checks to say.

mod api;
mod bootstrap_node;
mod certificates;
mod etcd;
mod objects;
mod static_pods;

use kubeapi::{
    k8s_openapi::api::core::v1::Node as ApiNode,
    kube::{Api, api::ListParams},
};
use pki::{Input, Shared};
use spec::BootstrapRole;
use tokio::sync::OnceCell;

pub(crate) use self::{
    api::{ApiAnswer, ask_api},
    bootstrap_node::answers,
    certificates::Certificates,
    etcd::EtcdView,
    objects::{Objects, Unread},
    static_pods::{Runs, StaticPod, StaticPods},
};
use crate::{Context, Inconclusive};

/// What was read so far.
#[derive(Default)]
pub(crate) struct Views {
    objects: OnceCell<Objects>,
    nodes: OnceCell<Result<Vec<ApiNode>, Unread>>,
    etcd: OnceCell<EtcdView>,
    certificates: OnceCell<Certificates>,
    static_pods: OnceCell<StaticPods>,
    bootstrap_node_answers: OnceCell<bool>,
}

impl Context {
    fn is_worker(&self) -> bool {
        self.role() == BootstrapRole::Worker
    }

    /// The API's objects, with the credentials that this node's agent has: a worker's may only see nodes.
    pub(crate) async fn objects(&self) -> Result<&Objects, Inconclusive> {
        let name = if self.is_worker() { "agent.conf" } else { "super-admin.conf" };
        let path = self.layout.kubernetes_dir.join(name);
        let read = async || {
            let text = self.text(&path)?;
            Ok(Objects::new(path.clone(), text.as_deref()).await)
        };
        self.views.objects.get_or_try_init(read).await
    }

    /// All Node objects, or why they cannot be seen.
    pub(crate) async fn nodes(&self) -> Result<&Result<Vec<ApiNode>, Unread>, Inconclusive> {
        let objects = self.objects().await?;
        let list = async |client| Api::<ApiNode>::all(client).list(&ListParams::default()).await;
        let read = async || objects.ask("list the nodes", list).await.map(|nodes| nodes.items);
        Ok(self.views.nodes.get_or_init(read).await)
    }

    /// etcd, as all masters report it.
    pub(crate) async fn etcd(&self) -> Result<&EtcdView, Inconclusive> {
        self.views.etcd.get_or_try_init(async || EtcdView::read(self).await).await
    }

    /// What is wrong with this node's certificates.
    pub(crate) async fn certificates(&self) -> Result<&Certificates, Inconclusive> {
        let (disk, root, now) = (&*self.host.disk, &self.layout.kubernetes_dir, self.host.clock.now());
        let read = async || {
            if self.is_worker() {
                return Ok(Certificates::of_worker(disk, root, now)?);
            }
            let input = Input::new(&self.cluster, &self.node, Shared::Bring);
            Ok(Certificates::of_master(disk, root, &input, now)?)
        };
        self.views.certificates.get_or_try_init(read).await
    }
}
