//! The node gets its certificates from a master's join service.
//!
//! Once it has all its files it never asks again: the kubelet renews its own certificate, the agent the others.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::{About, Act, Planned, Step, StepError, Undo};
use host::{Change, Content, Host};
use join::{Joined, wire::ClaimedRole};
use pki::{Proof, kubeconfig};
use secrecy::ExposeSecret;
use spec::ports;

use super::ids;
use crate::membership::{self, Membership};
use nodekit::cleanup::tree::Own;

/// Where the kubelet keeps and renews its certificates.
pub(super) const KUBELET_PKI: &str = "/var/lib/kubelet/pki";
/// The first one, and the name it reads.
const KUBELET_FIRST: &str = "/var/lib/kubelet/pki/kubelet-client-first.pem";
const KUBELET_CURRENT: &str = "/var/lib/kubelet/pki/kubelet-client-current.pem";

/// Joins once.
pub(super) struct Join {
    membership: Arc<Membership>,
    kubernetes_dir: PathBuf,
}

/// The file that is written last.
pub(super) fn last_file(kubernetes_dir: &Path) -> PathBuf {
    kubernetes_dir.join("agent.conf")
}

/// The files that make a member, the one that is written last at the end.
fn files(kubernetes_dir: &Path) -> [PathBuf; 5] {
    let below = |name: &str| kubernetes_dir.join(name);
    [
        below("pki/ca.crt"),
        KUBELET_CURRENT.into(),
        below("kubelet.conf"),
        below("kube-proxy.conf"),
        last_file(kubernetes_dir),
    ]
}

/// What joining writes: these files, and the kubelet's first certificate, which it replaces by others.
fn written(kubernetes_dir: &Path) -> Vec<PathBuf> {
    let mut written = files(kubernetes_dir).to_vec();
    written.insert(1, KUBELET_FIRST.into());
    written
}

impl Join {
    pub(super) fn new(membership: &Arc<Membership>, kubernetes_dir: &Path) -> Self {
        Self { membership: membership.clone(), kubernetes_dir: kubernetes_dir.to_path_buf() }
    }

    async fn join(&self, host: &Host) -> Result<Joined, StepError> {
        let (applicant, trust) = self.membership.applicant(&*host.disk, ClaimedRole::Worker)?;
        let joined = self.membership.client(trust).await.join(&applicant).await;
        joined.map_err(|error| membership::failed(&error))
    }

    /// The files, in an order in which a crash does no harm: a kubeconfig comes after what it names.
    fn changes(&self, joined: &Joined) -> Vec<Change> {
        let Joined { ca_pem, kubelet, kube_proxy, agent, .. } = joined;
        let server = format!("https://127.0.0.1:{}", ports::API_BALANCER);
        let [ca, current, kubelet_conf, proxy_conf, agent_conf] = files(&self.kubernetes_dir);
        let secret = |path: PathBuf, text: String| Change::File {
            path,
            mode: 0o600,
            content: Content::Secret(text.into_bytes()),
        };
        let conf = |user: &str, proof: Proof<'_>| {
            kubeconfig(&self.membership.cluster, user, &server, ca_pem.as_bytes(), proof)
        };
        let inside = |pair: &join::Pair, user: &str| {
            conf(user, Proof::Inside { certificate_pem: &pair.cert_pem, key_pem: pair.key_pem.expose_secret() })
        };
        let kubelet_user = format!("system:node:{}", self.membership.node);
        vec![
            secret(ca, ca_pem.clone()),
            secret(KUBELET_FIRST.into(), format!("{}{}", kubelet.cert_pem, kubelet.key_pem.expose_secret())),
            Change::Link { path: current, target: KUBELET_FIRST.into() },
            secret(kubelet_conf, conf(&kubelet_user, Proof::File(Path::new(KUBELET_CURRENT)))),
            secret(proxy_conf, inside(kube_proxy, "system:kube-proxy")),
            secret(agent_conf, inside(agent, &format!("blackstart:agent:{}", self.membership.node))),
        ]
    }
}

impl Step for Join {
    /// The files that are not there.
    type Seen = Vec<PathBuf>;
    type Undo = Member;

    fn about(&self) -> About {
        About::new(ids::JOIN, "Join the cluster", "a master hands out the node's certificates against its secret")
    }

    async fn observe(&self, host: &Host) -> Result<Vec<PathBuf>, StepError> {
        let mut missing = Vec::new();
        for path in files(&self.kubernetes_dir) {
            if host.disk.meta(&path)?.is_none() {
                missing.push(path);
            }
        }
        Ok(missing)
    }

    fn plan(&self, missing: &Vec<PathBuf>) -> Result<Vec<Planned>, StepError> {
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let masters: Vec<String> = self.membership.masters.iter().map(ToString::to_string).collect();
        let what = format!("ask {} for this node's certificates", masters.join(", "));
        Ok(vec![
            Change::Directory { path: self.kubernetes_dir.join("pki"), mode: 0o700 }.into(),
            Planned::fetch("join", what, written(&self.kubernetes_dir)),
        ])
    }

    async fn fetch(&self, _act: &Act, host: &Host) -> Result<Vec<Change>, StepError> {
        Ok(self.changes(&self.join(host).await?))
    }
}

/// How a member's files are undone. The kubelet has renewed its own under other names, so its directory goes whole.
pub(super) struct Member {
    pub(super) kubernetes_dir: PathBuf,
}

impl Undo for Member {
    fn shows_act(&self, key: &str) -> Option<String> {
        Some(format!("undo {key}"))
    }

    async fn act(&self, _key: &str, host: &Host) -> Result<(), StepError> {
        for path in files(&self.kubernetes_dir).into_iter().rev() {
            host::remove_file(&*host.disk, &path)?;
        }
        Own::below(KUBELET_PKI).remove(host, &[]).await
    }
}

#[cfg(test)]
mod tests {
    use join::Pair;
    use nodekit::Layout;

    use super::*;

    /// The engine refuses to write anything else.
    #[test]
    fn joining_writes_what_was_planned_and_in_that_order() {
        let text = "cluster: { name: home }\n\
            nodes: [{ name: m, ip: 192.168.1.10, roles: [master] }, { name: w, ip: 192.168.1.11, roles: [worker] }]";
        let cluster = spec::check_text(text).cluster.unwrap();
        let layout = Layout::default();
        let membership = Arc::new(Membership::new(&cluster, cluster.node("w").unwrap(), &layout, None));
        let step = Join::new(&membership, &layout.kubernetes_dir);
        let pair = || Pair { cert_pem: "certificate".into(), key_pem: "key".to_owned().into() };
        let joined = Joined {
            master: "192.168.1.10:7444".parse().unwrap(),
            ca_pem: "ca".into(),
            kubelet: pair(),
            kube_proxy: pair(),
            agent: pair(),
            api_servers: Vec::new(),
        };
        let written: Vec<PathBuf> = step.changes(&joined).iter().map(|change| change.path().to_path_buf()).collect();
        let planned = step.plan(&vec!["/etc/kubernetes/agent.conf".into()]).unwrap();
        assert_eq!(planned.iter().flat_map(Planned::fetched).cloned().collect::<Vec<_>>(), written);
        assert!(step.plan(&Vec::new()).unwrap().is_empty());
    }
}
