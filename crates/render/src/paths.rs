//! Where things are on a node. The certificates' places are those of the table in the `pki` crate.

/// Kubeconfigs, certificates and the control plane's own configuration.
pub(crate) const KUBERNETES: &str = "/etc/kubernetes";
/// The CA that signs the API server and everything that talks to it. Every node has its certificate.
pub(crate) const CLUSTER_CA: &str = "/etc/kubernetes/pki/ca.crt";
/// What the API server writes down of who did what.
pub(crate) const LOGS: &str = "/var/log/kubernetes";
/// etcd's data.
pub(crate) const ETCD_DATA: &str = "/var/lib/etcd";
/// Where the container runtime listens.
pub(crate) const CONTAINERD_SOCKET: &str = "unix:///run/containerd/containerd.sock";

/// Where volume plugins of old are looked for; by default it is below `/usr`, which cannot be written everywhere.
pub(crate) const VOLUME_PLUGINS: &str = "/var/lib/kubelet/volume-plugins";

/// A file in the directory of certificates.
pub(crate) fn pki(name: &str) -> String {
    format!("{KUBERNETES}/pki/{name}")
}

/// A kubeconfig or another file of the control plane.
pub(crate) fn kubernetes(name: &str) -> String {
    format!("{KUBERNETES}/{name}")
}
