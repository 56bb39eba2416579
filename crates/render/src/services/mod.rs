//! The services of a node, one file each. All run on the node itself, as systemd units; those of the control plane
//! are described by a `Process`, of which a static pod can be made, too.

mod cni;
mod containerd;
mod encryption;
mod etcd;
mod kube_apiserver;
mod kube_controller_manager;
mod kube_proxy;
mod kube_scheduler;
mod kubelet;

pub use cni::cni_basic;
pub use containerd::containerd;
pub use encryption::{Encryption, EncryptionKey, EncryptionProvider};
pub use etcd::{EtcdFiles, etcd, etcd_alone, etcd_process};
pub use kube_apiserver::{kube_apiserver, kube_apiserver_process, service_account_issuer};
pub use kube_controller_manager::{kube_controller_manager, kube_controller_manager_process};
pub use kube_proxy::kube_proxy;
pub use kube_scheduler::{kube_scheduler, kube_scheduler_process};
pub(crate) use kubelet::for_every_node as kubelet_for_every_node;
pub use kubelet::kubelet;

/// How often those who do not lead ask whether they may. It is half the default: a cluster that starts waits for it.
const LEADER_RETRY: &str = "1s";
