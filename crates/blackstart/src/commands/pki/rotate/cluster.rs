//! What a rotation asks of the cluster, and how it sees where every node is.
//!
//! Connections are made again each time: certificates and servers are replaced on the way.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use agent::{
    AgentError, Status,
    rotation::{self, NAME, NAMESPACE, Rotation, Subject, Subjects, Successors, Turn, pass},
};
use etcd::Access;
use host::Host;
use jiff::{SignedDuration, Timestamp};
use join::{Marks, Member, ca_mark};
use kubeapi::{
    Client,
    k8s_openapi::api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Node as NodeObject, Secret},
    },
    kube::{
        Api, Error, ResourceExt,
        api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    },
};
use nodekit::{Layout, kubeconfig::Identity};
use pki::Stage;
use render::Encryption;
use serde_json::json;
use spec::{Node, ValidatedCluster, ports};

use super::{Work, ending, secrets};
use crate::{Failure, codes, commands::etcd::any_member, context::Context};

/// Three reports that did not come; `watch` calls it silent then.
const FRESH: SignedDuration = SignedDuration::from_secs(15);

/// The cluster, seen from one of its masters.
pub(super) struct Way<'a> {
    host: &'a Host,
    layout: &'a Layout,
    pub(super) cluster: &'a ValidatedCluster,
    own: &'a Node,
}

/// The last report of a node, and how old it is.
struct Heard {
    age: SignedDuration,
    status: Option<Status>,
}

impl<'a> Way<'a> {
    pub(super) fn new(host: &'a Host, layout: &'a Layout, cluster: &'a ValidatedCluster, own: &'a Node) -> Self {
        Self { host, layout, cluster, own }
    }

    /// What a stage consists of: this master first, so that what is wrong shows where the operator is.
    pub(super) fn work(&self, stage: Stage, subjects: &Subjects) -> Vec<Work> {
        let others = self.cluster.masters().filter(|master| master.name != self.own.name).map(|master| &master.name);
        let masters = std::iter::once(&self.own.name).chain(others);
        of_stage(masters, stage, subjects)
    }

    /// The rotation that goes on, if one does.
    pub(super) async fn read(&self) -> Result<Option<Rotation>, Failure> {
        let secret = self.secrets().await?.get_opt(NAME).await.map_err(api("read the rotation"))?;
        Ok(secret.as_ref().map(Rotation::of).transpose()?)
    }

    pub(super) async fn begin(&self, subjects: &Subjects, successors: &Successors) -> Result<Rotation, Failure> {
        let encryption = self.text("encryption.yaml")?;
        let pass = pass::make(self.host, self.layout)?;
        let rotation = Rotation::new(subjects, successors, &self.own.name, &encryption, &pass)?;
        let object: Secret = serde_json::from_value(rotation.object())
            .map_err(|error| Failure::new(agent::codes::NO_ROTATION, error.to_string()))?;
        let secrets = self.secrets().await?;
        secrets.create(&PostParams::default(), &object).await.map_err(api("begin the rotation"))?;
        Ok(rotation)
    }

    pub(super) async fn end(&self) -> Result<(), Failure> {
        let secrets = self.secrets().await?;
        match secrets.delete(NAME, &DeleteParams::default()).await {
            Err(Error::Api(status)) if status.code == 404 => {}
            ended => drop(ended.map_err(api("end the rotation"))?),
        }
        Ok(pass::forget(self.host, self.layout)?)
    }

    /// Announces whose turn it is. A master that has reached the stage has nothing to do.
    pub(super) async fn give(&self, stage: Stage, turn: &Turn) -> Result<(), Failure> {
        let (secrets, patch) = (self.secrets().await?, Patch::Merge(Rotation::order(stage, turn)));
        secrets.patch(NAME, &PatchParams::default(), &patch).await.map(drop).map_err(api("give the turn"))
    }

    /// Who has not reached the stage, and what is left there.
    pub(super) async fn missing(&self, stage: Stage, subjects: &Subjects, turn: &Turn) -> Result<Vec<String>, Failure> {
        match turn {
            Turn::Master(name) => {
                let reached = self.read().await?.and_then(|rotation| rotation.reached.get(name).copied());
                Ok(if reached >= Some(stage) { Vec::new() } else { vec![name.clone()] })
            }
            Turn::Nodes => {
                let marks = self.marks(stage, subjects)?;
                let heard = self.heard().await?;
                let missing = self.cluster.nodes().iter().filter_map(|node| left(node, heard.get(&node.name), &marks));
                let missing: Vec<String> = missing.collect();
                if missing.is_empty() { self.pods(stage, &marks.ca).await } else { Ok(missing) }
            }
        }
    }

    /// What every node is to trust and to hold.
    fn marks(&self, stage: Stage, subjects: &Subjects) -> Result<Marks, Failure> {
        let marks = rotation::marks(self.host, self.layout, Some((subjects, stage)))?;
        marks.ok_or_else(|| Failure::new(pki::codes::MAY_NOT_MAKE, "this master has no CA or no service account key"))
    }

    /// Encrypts every Secret with the key that comes first now, which is the same on every master.
    pub(super) async fn encrypt(&self, rotation: &Rotation, say: &dyn Fn(&str)) -> Result<usize, Failure> {
        let pass = pass::read(self.host, self.layout)?.ok_or(AgentError::Locked)?;
        let new = rotation.successors(&self.text("encryption.yaml")?, &pass)?.encryption();
        let missing = || Failure::new(codes::NOT_ENCRYPTED, "this rotation has no key for Secrets");
        let new = new.as_ref().and_then(Encryption::current).ok_or_else(missing)?;
        let access = Access::read(&*self.host.disk, &self.layout.kubernetes_dir)?;
        let (etcd, _) = any_member(&access, self.cluster, self.own).await?;
        secrets::encrypt(&etcd, &self.client().await?, new, say).await
    }

    /// Secrets that wait for a token of the new key.
    pub(super) async fn renew_tokens(&self) -> Result<Vec<String>, Failure> {
        let key = pki::token_key_id(self.text(pki::table::SERVICE_ACCOUNT.key)?.as_bytes());
        let key = key.ok_or_else(|| Failure::new(pki::codes::UNREADABLE, "this master's sa.key cannot be read"))?;
        secrets::renew_tokens(&self.client().await?, &key).await
    }

    pub(super) async fn back_up(&self, context: &Context) -> Result<PathBuf, Failure> {
        ending::back_up(context, self.cluster, self.own).await
    }

    /// Whether nodes' secrets are made here.
    pub(super) fn has_join_key(&self) -> Result<bool, Failure> {
        let given = self.host.disk.exists(&self.layout.kubernetes_dir.join("pki/join.key"))?;
        Ok(given || self.has_config(join::seal::layout::JOIN_KEY)?)
    }

    /// Whether the configuration directory has such a file.
    pub(super) fn has_config(&self, name: &str) -> Result<bool, Failure> {
        Ok(self.host.disk.exists(&self.layout.config_dir.join(name))?)
    }

    /// The nodes that have not been heard of lately.
    pub(super) async fn absent(&self) -> Result<Vec<String>, Failure> {
        let heard = self.heard().await?;
        let is_absent = |node: &&Node| heard.get(&node.name).is_none_or(|heard| heard.age > FRESH);
        Ok(self.cluster.nodes().iter().filter(is_absent).map(|node| node.name.clone()).collect())
    }

    /// The nodes of cluster.yaml that are no nodes of the cluster: removed, or not joined yet.
    pub(super) async fn not_members(&self) -> Result<Vec<String>, Failure> {
        let nodes: Api<NodeObject> = Api::all(self.client().await?);
        let nodes = nodes.list_metadata(&ListParams::default()).await.map_err(api("list the nodes"))?;
        let names: Vec<String> = nodes.iter().map(ResourceExt::name_any).collect();
        Ok(strangers(self.cluster, &names))
    }

    /// What pods are given to trust, and the cluster's own DNS, which reads it only when it starts.
    async fn pods(&self, stage: Stage, mark: &str) -> Result<Vec<String>, Failure> {
        let client = self.client().await?;
        let published: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
        let published = published.get_opt("kube-root-ca.crt").await.map_err(api("read what pods trust"))?;
        let trusted = published.and_then(|map| map.data?.remove("ca.crt")).map(|pem| ca_mark(&pem));
        if trusted.as_deref() != Some(mark) {
            return Ok(vec!["what pods trust (ConfigMap kube-root-ca.crt)".to_owned()]);
        }
        if stage != Stage::Trust {
            return Ok(Vec::new());
        }
        let deployments: Api<Deployment> = Api::namespaced(client, NAMESPACE);
        let Some(dns) = deployments.get_opt("coredns").await.map_err(api("get coredns"))? else {
            return Ok(Vec::new());
        };
        let key = "blackstart.io/trusts";
        let template =
            dns.spec.as_ref().and_then(|spec| spec.template.metadata.as_ref()?.annotations.as_ref()?.get(key));
        if template.map(String::as_str) != Some(mark) {
            let annotations = json!({ "spec": { "template": { "metadata": { "annotations": { key: mark } } } } });
            let patch = Patch::Merge(annotations);
            deployments.patch("coredns", &PatchParams::default(), &patch).await.map_err(api("restart coredns"))?;
            return Ok(vec!["coredns".to_owned()]);
        }
        Ok(if is_rolled_out(&dns) { Vec::new() } else { vec![dns.name_any()] })
    }

    /// The newest report of every node that any master has.
    async fn heard(&self) -> Result<BTreeMap<String, Heard>, Failure> {
        let identity = Identity::read(&self.text("super-admin.conf")?)
            .map_err(|error| Failure::new(agent::codes::KUBECONFIG, error.to_string()))?;
        let mut newest: BTreeMap<String, Heard> = BTreeMap::new();
        for master in self.cluster.masters() {
            let address = SocketAddr::new(master.ip, ports::JOIN);
            let shown = (identity.certificate.as_str(), identity.key.as_str());
            let member = Member::new(vec![address], &identity.ca, shown)?;
            // A master that does not answer knows nothing that another one could not know.
            let Ok(nodes) = member.nodes().await else { continue };
            for (name, report) in nodes.nodes.into_iter().filter_map(|node| Some((node.node, node.report?))) {
                let heard =
                    Heard { age: age(report.received, nodes.now), status: serde_json::from_value(report.status).ok() };
                if newest.get(&name).is_none_or(|known| heard.age < known.age) {
                    newest.insert(name, heard);
                }
            }
        }
        Ok(newest)
    }

    pub(super) async fn client(&self) -> Result<Client, Failure> {
        let kubeconfig = self.text("super-admin.conf")?;
        Ok(kubeapi::connect_with_short_timeout(&kubeconfig).await?)
    }

    async fn secrets(&self) -> Result<Api<Secret>, Failure> {
        Ok(Api::namespaced(self.client().await?, NAMESPACE))
    }

    /// A file beside the kubeconfigs.
    pub(super) fn text(&self, name: &str) -> Result<String, Failure> {
        let path = self.layout.kubernetes_dir.join(Path::new(name));
        Ok(String::from_utf8_lossy(&self.host.disk.read(&path)?).into_owned())
    }
}

/// Who is listed in cluster.yaml and not among these nodes.
fn strangers(cluster: &ValidatedCluster, members: &[String]) -> Vec<String> {
    let listed = cluster.nodes().iter().map(|node| node.name.clone());
    listed.filter(|name| !members.contains(name)).collect()
}

/// Masters, then what needs all of them, then all nodes, then what needs all of those.
fn of_stage<'a>(masters: impl Iterator<Item = &'a String>, stage: Stage, subjects: &Subjects) -> Vec<Work> {
    let signs = |subject| stage == Stage::Sign && subjects.contains(&subject);
    let mut work: Vec<Work> = masters.map(|name| Work::Turn(Turn::Master(name.clone()))).collect();
    work.extend(signs(Subject::Encryption).then_some(Work::Encrypt));
    work.extend(signs(Subject::ServiceAccount).then_some(Work::RenewTokens));
    work.push(Work::Turn(Turn::Nodes));
    work.extend(signs(Subject::ServiceAccount).then_some(Work::TokensRead));
    work
}

/// Why a node is waited for; `None` if it is where it has to be.
fn left(node: &Node, heard: Option<&Heard>, marks: &Marks) -> Option<String> {
    let status = heard.and_then(|heard| heard.status.as_ref());
    if status.is_some_and(|status| status.converged_on.as_ref() == Some(marks)) {
        return None;
    }
    match status.and_then(|status| status.not_converged.as_ref()) {
        Some(why) => Some(format!("{} ({why})", node.name)),
        None => Some(node.name.clone()),
    }
}

/// True when every pod is of the newest template and ready.
fn is_rolled_out(deployment: &Deployment) -> bool {
    let wanted = deployment.spec.as_ref().and_then(|spec| spec.replicas).or(Some(1));
    deployment.status.as_ref().is_some_and(|status| {
        status.observed_generation == deployment.metadata.generation
            && [status.replicas, status.updated_replicas, status.ready_replicas].iter().all(|count| *count == wanted)
    })
}

fn age(received: Timestamp, now: Timestamp) -> SignedDuration {
    now.duration_since(received)
}

fn api(doing: &'static str) -> impl FnOnce(Error) -> Failure {
    move |error| Failure::new(agent::codes::API, format!("cannot {doing}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One that was removed and still runs would be given new keys, and be back.
    #[test]
    fn who_is_listed_and_no_member_is_reported() {
        let nodes = [("a", "master", 1), ("b", "worker", 2), ("c", "worker", 3)]
            .map(|(name, role, last)| format!("  - {{name: {name}, ip: 10.0.0.1{last}, roles: [{role}]}}\n"));
        let text = format!("cluster:\n  name: test\nnodes:\n{}", nodes.concat());
        let cluster = spec::check_text(&text).cluster.unwrap();
        for (members, expected) in
            [(vec!["a", "b", "c"], vec![]), (vec!["a", "c", "other"], vec!["b"]), (vec![], vec!["a", "b", "c"])]
        {
            let members: Vec<String> = members.into_iter().map(str::to_owned).collect();
            assert_eq!(strangers(&cluster, &members), expected);
        }
    }

    #[test]
    fn a_stage_waits_for_what_its_subjects_need() {
        use Subject::{Backup, Ca, Encryption, Join, ServiceAccount};
        let masters = ["a".to_owned(), "b".to_owned()];
        let letters = |stage, subjects: &[Subject]| -> String {
            let subjects: Subjects = subjects.iter().copied().collect();
            let letter = |work: &Work| match work {
                Work::Turn(Turn::Master(name)) => name.clone(),
                Work::Turn(Turn::Nodes) => "*".to_owned(),
                Work::Encrypt => "E".to_owned(),
                Work::RenewTokens => "T".to_owned(),
                Work::TokensRead => "R".to_owned(),
            };
            of_stage(masters.iter(), stage, &subjects).iter().map(letter).collect()
        };
        for (subjects, expected) in [
            (vec![Ca], "ab*"),
            (vec![Join, Backup], "ab*"),
            (vec![Encryption], "abE*"),
            (vec![ServiceAccount], "abT*R"),
            (Subject::ALL.to_vec(), "abET*R"),
        ] {
            assert_eq!(letters(Stage::Sign, &subjects), expected, "{subjects:?}");
            assert_eq!(
                [Stage::Trust, Stage::Drop].map(|stage| letters(stage, &subjects)),
                ["ab*", "ab*"],
                "{subjects:?}"
            );
        }
    }
}
