//! Every master can do without this machine: it has a vote in etcd, an API server that is ready, and a Ready Node.

use std::{collections::BTreeSet, net::IpAddr, path::PathBuf, sync::Arc};

use engine::{About, FilesOnly, Step, StepError, Verdict};
use etcd::Member;
use host::Host;
use kubeapi::{
    ApiError,
    k8s_openapi::api::core::v1::Node as ApiNode,
    kube::{Api, api::ListParams},
};
use nodekit::Layout;
use operations::readiness::Readiness;
use spec::{Node, ValidatedCluster};

use super::super::{ids, services::api_url};
use crate::{
    access::{self, Access},
    etcd_access::etcd_access,
    service::{Health, Probe},
};

/// Waits for them.
pub(super) struct MastersReady {
    masters: Vec<Master>,
    kubernetes_dir: PathBuf,
    access: Arc<Access>,
}

struct Master {
    name: String,
    ip: IpAddr,
    api: Probe,
}

/// What was found.
pub(super) struct Seen {
    /// What is missing, by master.
    missing: Vec<String>,
    /// Changes with every check: a machine is switched on when a person switches it on.
    moment: String,
}

impl MastersReady {
    pub(super) fn new(cluster: &ValidatedCluster, layout: &Layout, access: &Arc<Access>) -> Self {
        let ca = layout.kubernetes_dir.join("pki/ca.crt");
        let master = |master: &Node| Master {
            name: master.name.clone(),
            ip: master.ip,
            api: Probe::api_server(api_url(cluster, master), ca.clone()),
        };
        Self {
            masters: cluster.masters().map(master).collect(),
            kubernetes_dir: layout.kubernetes_dir.clone(),
            access: access.clone(),
        }
    }

    async fn ready_nodes(&self, host: &Host) -> Result<BTreeSet<String>, StepError> {
        let client = self.access.required(host).await?;
        let nodes = Api::<ApiNode>::all(client).list(&ListParams::default()).await;
        let nodes = nodes.map_err(|error| access::failed(&ApiError::of("list the nodes")(error)))?;
        Ok(nodes
            .items
            .iter()
            .filter(|node| Readiness::of_node(node).is_ready())
            .filter_map(|node| node.metadata.name.clone())
            .collect())
    }
}

/// What a master lacks, if it lacks something. Pure.
fn lacks(name: &str, ip: IpAddr, members: &[Member], api: &Health, is_ready: bool) -> Option<String> {
    let member = members.iter().find(|member| member.peer_urls.contains(&etcd::peer_url(ip)));
    match (member, api) {
        (None, _) => Some(format!("{name} to join etcd")),
        (Some(member), _) if member.is_learner => Some(format!("{name} to get a vote in etcd")),
        (Some(_), Health::NotYet { what, .. }) => Some(format!("{name}: {what}")),
        (Some(_), _) if !is_ready => Some(format!("node {name} to be Ready")),
        (Some(_), _) => None,
    }
}

impl Step for MastersReady {
    type Seen = Seen;
    type Undo = FilesOnly;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::MASTERS_READY, "Wait for the masters", "each of them must be able to do this machine's work")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let members = etcd_access(host, &self.kubernetes_dir)?.own().members().await;
        let members = members.map_err(|error| StepError::from_explained(&error).retryable())?;
        let ready = self.ready_nodes(host).await?;
        let mut missing = Vec::new();
        for Master { name, ip, api } in &self.masters {
            missing.extend(lacks(name, *ip, &members, &api.check(host).await?, ready.contains(name)));
        }
        Ok(Seen { missing, moment: host.clock.now().to_string() })
    }

    fn verify(&self, Seen { missing, moment }: &Seen) -> Verdict {
        if missing.is_empty() {
            return Verdict::Met;
        }
        Verdict::Waiting { what: missing.join("; "), progress: moment.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_first_things_first() {
        let ip: IpAddr = "10.0.0.11".parse().unwrap();
        let member = |is_learner| Member {
            id: 1,
            name: "m1".into(),
            peer_urls: vec![etcd::peer_url(ip)],
            client_urls: Vec::new(),
            is_learner,
        };
        let not_yet = Health::NotYet { what: "https://10.0.0.11:6443 to answer".into(), progress: String::new() };
        for (members, api, is_ready, expected) in [
            (vec![], &not_yet, false, Some("m1 to join etcd")),
            (vec![member(true)], &Health::Good, true, Some("m1 to get a vote in etcd")),
            (vec![member(false)], &not_yet, true, Some("m1: https://10.0.0.11:6443 to answer")),
            (vec![member(false)], &Health::Good, false, Some("node m1 to be Ready")),
            (vec![member(false)], &Health::Good, true, None),
        ] {
            assert_eq!(lacks("m1", ip, &members, api, is_ready).as_deref(), expected);
        }
    }
}
