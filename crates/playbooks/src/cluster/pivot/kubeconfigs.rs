//! The kubeconfigs that people use on the bootstrap node, in `/etc/kubernetes/kubeconfigs`.

use std::path::{Path, PathBuf};

use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Content, Host};
use nodekit::Layout;
use spec::{Node, ValidatedCluster, ports};

use super::super::{ids, services::api_url};

/// For the administrator, by the cluster's own endpoint.
const ADMIN: &str = "admin.kubeconfig";
/// For users and programs on this machine, by its balancer: also when its own API server is gone.
const LOCALHOST: &str = "localhost.kubeconfig";

/// Where the one for this machine is.
pub(super) fn localhost(layout: &Layout) -> PathBuf {
    directory(layout).join(LOCALHOST)
}

fn directory(layout: &Layout) -> PathBuf {
    layout.kubernetes_dir.join("kubeconfigs")
}

/// Writes both.
pub(super) struct Kubeconfigs {
    directory: PathBuf,
    admin: PathBuf,
    super_admin: PathBuf,
    /// The API server of this machine.
    own: String,
}

impl Kubeconfigs {
    pub(super) fn new(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Self {
        Self {
            directory: directory(layout),
            admin: layout.kubernetes_dir.join("admin.conf"),
            super_admin: layout.kubernetes_dir.join("super-admin.conf"),
            own: api_url(cluster, node),
        }
    }

    fn wanted(&self, admin: Option<Vec<u8>>, super_admin: Option<Vec<u8>>) -> Vec<Change> {
        let file = |name: &str, text: Vec<u8>| Change::File {
            path: self.directory.join(name),
            mode: 0o600,
            content: Content::Secret(text),
        };
        let local = super_admin.map(|text| file(LOCALHOST, through_balancer(&text, &self.own)));
        let files = admin.map(|text| file(ADMIN, text)).into_iter().chain(local);
        [Change::Directory { path: self.directory.clone(), mode: 0o700 }].into_iter().chain(files).collect()
    }
}

/// The same kubeconfig with the balancer of this machine in place of its API server.
fn through_balancer(kubeconfig: &[u8], own: &str) -> Vec<u8> {
    let balancer = format!("https://127.0.0.1:{}", ports::API_BALANCER);
    String::from_utf8_lossy(kubeconfig).replace(own, &balancer).into_bytes()
}

impl Step for Kubeconfigs {
    type Seen = Vec<Change>;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(
            ids::KUBECONFIGS,
            "Write the kubeconfigs",
            "kubectl works on this machine, whichever API server is ready",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Change>, StepError> {
        let read = |path: &Path| host.disk.read_optional(path);
        Ok(Change::missing(self.wanted(read(&self.admin)?, read(&self.super_admin)?), &*host.disk)?)
    }

    fn plan(&self, missing: &Vec<Change>) -> Result<Vec<Change>, StepError> {
        Ok(missing.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_server_is_another() {
        let text = b"clusters: [{ cluster: { server: https://10.0.0.9:6443, data: QUJD } }]";
        let local = through_balancer(text, "https://10.0.0.9:6443");
        assert_eq!(
            String::from_utf8(local).unwrap(),
            "clusters: [{ cluster: { server: https://127.0.0.1:7443, data: QUJD } }]"
        );
    }
}
