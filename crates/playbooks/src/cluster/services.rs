//! The services of a node as steps: what each is for, and how it is seen to work.

use std::path::PathBuf;

use engine::About;
use render::{EtcdFiles, Machine, units};
use spec::{Node, Role, ValidatedCluster, ports};

pub(super) use super::api_ready::api_url;
use super::{api_ready::ApiReady, api_turn::ApiTurn, ids, leave, unit_files::UnitFiles};
use crate::service::{Probe, Service};
use nodekit::Layout;

/// Where containerd listens.
const CONTAINERD: &str = "/run/containerd/containerd.sock";

/// A node of a cluster and what is known of its machine.
pub(super) struct NodeContext<'a> {
    /// The cluster.
    pub(super) cluster: &'a ValidatedCluster,
    /// The node.
    pub(super) node: &'a Node,
    /// Where things are.
    pub(super) layout: &'a Layout,
    /// What the kernel lets it do.
    pub(super) machine: &'a Machine,
}

impl NodeContext<'_> {
    /// Every unit of the node, the agent's too.
    pub(super) fn units(&self, pause_image: &str) -> UnitFiles {
        let about = About::new(ids::UNITS, "Install the services", "systemd starts them, now and at every boot");
        UnitFiles::new(about, self.services(pause_image))
    }

    /// Every service of the node, the agent too.
    pub(super) fn services(&self, pause_image: &str) -> Vec<render::Service> {
        let mut services = vec![
            units::agent(),
            render::containerd(self.machine, pause_image),
            render::kubelet(self.cluster, self.node, self.machine),
        ];
        // No pod lands on the bootstrap node that would need a Service.
        services.push(if self.node.has(Role::Bootstrap) {
            units::bootkube()
        } else {
            render::kube_proxy(self.cluster, self.node, self.machine)
        });
        if self.node.roles.contains(&Role::Master) {
            services.extend([
                self.etcd_service(),
                render::kube_apiserver(self.cluster, self.node),
                render::kube_controller_manager(self.cluster, self.node),
                render::kube_scheduler(self.cluster, self.node),
            ]);
        }
        services
    }

    fn pki(&self, name: &str) -> PathBuf {
        self.layout.kubernetes_dir.join("pki").join(name)
    }

    pub(super) fn containerd(&self, pause_image: &str) -> Service {
        let about = About::new(ids::CONTAINERD, "Start containerd", "it runs the containers");
        Service::new(about, render::containerd(self.machine, pause_image), Probe::UnixSocket(CONTAINERD.into()))
    }

    pub(super) fn etcd(&self) -> Service<leave::EtcdService> {
        let about = About::new(ids::ETCD, "Start etcd", "it holds everything the cluster knows");
        let probe = Probe::etcd(self.layout.kubernetes_dir.clone());
        Service::new(about, self.etcd_service(), probe)
    }

    fn etcd_service(&self) -> render::Service {
        let member_id = self.layout.etcd_member_id();
        let files = EtcdFiles { initial: etcd::INITIAL.as_ref(), data: etcd::DATA.as_ref(), member_id: &member_id };
        render::etcd(self.cluster, self.node, files)
    }

    pub(super) fn kube_apiserver(&self) -> Service {
        let about = About::new(ids::KUBE_APISERVER, "Start the API server", "everything in the cluster talks to it");
        let probe = Probe::api_answers(api_url(self.cluster, self.node), self.pki("ca.crt"));
        Service::new(about, render::kube_apiserver(self.cluster, self.node), probe)
    }

    pub(super) fn api_turn(&self) -> ApiTurn {
        ApiTurn::new(self.cluster, self.node, &self.pki("ca.crt"))
    }

    /// Apart from its start: the controller manager begins as soon as it answers, and is there when it is ready.
    pub(super) fn api_ready(&self) -> ApiReady {
        ApiReady::new(Probe::api_server(api_url(self.cluster, self.node), self.pki("ca.crt")))
    }

    pub(super) fn kube_controller_manager(&self) -> Service {
        let about = About::new(
            ids::KUBE_CONTROLLER_MANAGER,
            "Start the controller manager",
            "it makes what is into what should be",
        );
        Service::new(
            about,
            render::kube_controller_manager(self.cluster, self.node),
            Probe::Port(ports::CONTROLLER_MANAGER),
        )
    }

    pub(super) fn kube_scheduler(&self) -> Service {
        let about = About::new(ids::KUBE_SCHEDULER, "Start the scheduler", "it finds a node for every pod");
        Service::new(about, render::kube_scheduler(self.cluster, self.node), Probe::Port(ports::SCHEDULER))
    }

    pub(super) fn kubelet(&self) -> Service<leave::Kubelet> {
        let about = About::new(ids::KUBELET, "Start the kubelet", "it runs the pods of this node");
        let health = format!("http://127.0.0.1:{}/healthz", ports::KUBELET_HEALTH);
        Service::new(about, render::kubelet(self.cluster, self.node, self.machine), Probe::Http(health))
    }

    pub(super) fn kube_proxy(&self) -> Service {
        let about = About::new(ids::KUBE_PROXY, "Start kube-proxy", "services have addresses by it");
        let health = format!("http://127.0.0.1:{}/livez", ports::KUBE_PROXY_HEALTH);
        Service::new(about, render::kube_proxy(self.cluster, self.node, self.machine), Probe::Http(health))
    }
}

/// The agent, which is the same everywhere.
pub(super) fn agent() -> Service {
    let about =
        About::new(ids::AGENT, "Start the agent", "everything on this node reaches the API through its balancer");
    Service::new(about, units::agent(), Probe::Port(ports::API_BALANCER))
}
