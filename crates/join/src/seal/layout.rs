//! Names of the files in a sealed directory, the same in `/etc/cluster-config` on the node.

/// The cluster's description.
pub const CLUSTER: &str = "cluster.yaml";
/// The nodes' own descriptions.
pub const NODES: &str = "nodes";
/// The node's own secret.
pub const SECRET: &str = "join-secret";
/// The cluster's CA, PEM.
pub const CA: &str = "ca.crt";
/// `sha256:…` of the CA's public key, as `kubeadm join` takes it.
pub const PIN: &str = "ca-pin";
/// Masters and the bootstrap node only: certificate and key, one PEM text, with which it answers before it has anything else.
pub const SERVING: &str = "serving.pem";
/// With the cluster's keys only (see [`super::keeper`]): the key from which all nodes' secrets are derived.
pub const JOIN_KEY: &str = "join.key";
/// With the cluster's keys only: base64 of the 32 bytes that encrypt Secrets in etcd.
pub const ENCRYPTION_KEY: &str = "encryption.key";
/// With the cluster's keys only: the CAs and the service account key, laid out as below `/etc/kubernetes`.
pub const PKI: &str = "pki";

/// Mode of every file.
pub(super) const FILE: u32 = 0o600;
/// Mode of every directory.
pub(super) const DIRECTORY: u32 = 0o700;
