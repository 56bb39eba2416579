//! Where secrets lie on a machine: one line per path.

use std::path::Path;

use nodekit::Layout;

/// What a file at a path holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Private keys, or values behind keys that sound secret; the rest of it is no secret.
    Some,
    /// Nothing but a secret.
    Only,
    /// A Secret mounted into a pod: every file of it, but for what is there for everybody.
    Mounted,
    /// A container's settings, with environment variables.
    Environment,
}

/// Files of a sealed directory that are nothing but a secret.
const SEALED: &[&str] = &["join-secret", "join.key", "encryption.key", "backup.key"];

/// On a machine.
#[rustfmt::skip]
pub(super) fn of(layout: &Layout) -> Vec<(String, Holds)> {
    let Layout { state_dir, config_dir, kubernetes_dir } = layout;
    let state = |name: &str| state_dir.join(name).display().to_string();
    let kubernetes = |name: &str| kubernetes_dir.join(name).display().to_string();
    let mut paths = sealed(config_dir);
    paths.extend([
        (state("bootstrap-token"), Holds::Only),
        (state("keys-claim"), Holds::Only),
        (state("ceph-dashboard-password"), Holds::Only),
        (state("rotation.key"), Holds::Only),
        (state("worker-join-command"), Holds::Some),
        (state("*"), Holds::Some),
        (state("originals/*/*/*"), Holds::Some),
        (kubernetes("*"), Holds::Some),
        (kubernetes("pki/join.key"), Holds::Only),
        (kubernetes("pki/*"), Holds::Some),
        (kubernetes("pki/etcd/*"), Holds::Some),
        ("/var/lib/kubelet/pki/*".to_owned(), Holds::Some),
        ("/root/.kube/*".to_owned(), Holds::Some),
        ("/home/*/.kube/*".to_owned(), Holds::Some),
        ("/root/.ssh/*".to_owned(), Holds::Some),
        ("/etc/ssh/*".to_owned(), Holds::Some),
        ("/var/lib/blackstart-reprovision/secret.json".to_owned(), Holds::Some),
        ("/run/blackstart-reprovision/bootstrap-token".to_owned(), Holds::Only),
        ("/etc/ceph/*".to_owned(), Holds::Some),
        ("/var/lib/ceph/bootstrap-osd/*".to_owned(), Holds::Some),
        ("/var/lib/ceph/mon/*/keyring".to_owned(), Holds::Some),
        ("/var/lib/ceph/mgr/*/keyring".to_owned(), Holds::Some),
        ("/var/lib/ceph/osd/*/keyring".to_owned(), Holds::Some),
        ("/var/lib/ceph/osd/*/begun.json".to_owned(), Holds::Some),
        ("/etc/cni/net.d/*".to_owned(), Holds::Some),
        ("/etc/containerd/*".to_owned(), Holds::Some),
        ("/etc/NetworkManager/system-connections/*".to_owned(), Holds::Some),
        ("/var/lib/kubelet/pods/*/volumes/kubernetes.io~secret/*/*".to_owned(), Holds::Mounted),
        ("/var/lib/kubelet/pods/*/volumes/kubernetes.io~secret/*/..*/*".to_owned(), Holds::Mounted),
        ("/var/lib/kubelet/pods/*/volumes/kubernetes.io~projected/*/..*/*".to_owned(), Holds::Mounted),
        ("/run/containerd/io.containerd.runtime.v2.task/*/*/config.json".to_owned(), Holds::Environment),
    ]);
    paths
}

/// A directory made by `config seal`, also where it lies on the node.
pub(super) fn sealed(dir: &Path) -> Vec<(String, Holds)> {
    let below = |name: &str| dir.join(name).display().to_string();
    let only = SEALED.iter().map(|name| (below(name), Holds::Only));
    let some = ["*", "nodes/*", "pki/*", "pki/etcd/*"].map(|name| (below(name), Holds::Some));
    only.chain(some).collect()
}
