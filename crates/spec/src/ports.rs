//! The ports that a node uses. One list, for those who listen, those who connect and those who check that they are free.

/// etcd, for its clients.
pub const ETCD_CLIENT: u16 = 2379;
/// etcd, for its other members.
pub const ETCD_PEER: u16 = 2380;
/// etcd's health and metrics, on loopback only.
pub const ETCD_METRICS: u16 = 2381;
/// The load balancer in the agent, on loopback only: where everything on a node finds the API.
pub const API_BALANCER: u16 = 7443;
/// The join service on every master.
pub const JOIN: u16 = 7444;
/// kube-proxy's metrics, on loopback only.
pub const KUBE_PROXY_METRICS: u16 = 10249;
/// The kubelet's health, on loopback only.
pub const KUBELET_HEALTH: u16 = 10248;
/// The kubelet, for the API server.
pub const KUBELET: u16 = 10250;
/// kube-proxy's health, for load balancers.
pub const KUBE_PROXY_HEALTH: u16 = 10256;
/// The controller manager, on loopback only.
pub const CONTROLLER_MANAGER: u16 = 10257;
/// The scheduler, on loopback only.
pub const SCHEDULER: u16 = 10259;
