//! What a rotation asks of the cluster, and how it tells where everybody is.
//!
//! Connections are made anew each time: certificates and servers are replaced on the way.

use std::{collections::BTreeMap, net::SocketAddr, path::Path};

use agent::{
    Identity, Status,
    rotation::{NAME, NAMESPACE, Rotation, Turn},
};
use host::Host;
use jiff::{SignedDuration, Timestamp};
use join::{Member, authority_mark};
use kubeapi::{
    Client,
    k8s_openapi::api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Secret},
    },
    kube::{
        Api, Error, ResourceExt,
        api::{DeleteParams, Patch, PatchParams, PostParams},
    },
};
use pki::{Stage, Successors};
use playbooks::Layout;
use serde_json::json;
use spec::{Node, ValidatedCluster, ports};

use crate::Failure;

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

    /// The turns of a stage: this master first, so that what is wrong shows where somebody looks.
    pub(super) fn turns(&self) -> Vec<Turn> {
        let others = self.cluster.masters().filter(|master| master.name != self.own.name);
        let masters = std::iter::once(self.own).chain(others).map(|master| Turn::Master(master.name.clone()));
        masters.chain([Turn::Nodes]).collect()
    }

    /// The rotation that goes on, if one does.
    pub(super) async fn read(&self) -> Result<Option<Rotation>, Failure> {
        let secret = self.secrets().await?.get_opt(NAME).await.map_err(api("read the rotation"))?;
        Ok(secret.as_ref().map(Rotation::of).transpose()?)
    }

    pub(super) async fn begin(&self, successors: &Successors) -> Result<Rotation, Failure> {
        let encryption = self.text("encryption.yaml")?;
        let rotation = Rotation::new(successors, &self.own.name, &encryption)?;
        let object: Secret = serde_json::from_value(rotation.object())
            .map_err(|error| Failure::new(agent::codes::NO_ROTATION, error.to_string()))?;
        let secrets = self.secrets().await?;
        secrets.create(&PostParams::default(), &object).await.map_err(api("begin the rotation"))?;
        Ok(rotation)
    }

    pub(super) async fn end(&self) -> Result<(), Failure> {
        let secrets = self.secrets().await?;
        match secrets.delete(NAME, &DeleteParams::default()).await {
            Err(Error::Api(status)) if status.code == 404 => Ok(()),
            ended => ended.map(drop).map_err(api("end the rotation")),
        }
    }

    /// Tells everybody whose turn it is. A master that has reached the stage has nothing to do.
    pub(super) async fn give(&self, stage: Stage, turn: &Turn) -> Result<(), Failure> {
        let (secrets, patch) = (self.secrets().await?, Patch::Merge(Rotation::order(stage, turn)));
        secrets.patch(NAME, &PatchParams::default(), &patch).await.map(drop).map_err(api("give the turn"))
    }

    /// Who has not reached the stage.
    pub(super) async fn missing(&self, stage: Stage, turn: &Turn) -> Result<Vec<String>, Failure> {
        match turn {
            Turn::Master(name) => {
                let reached = self.read().await?.and_then(|rotation| rotation.reached.get(name).copied());
                Ok(if reached >= Some(stage) { Vec::new() } else { vec![name.clone()] })
            }
            Turn::Nodes => {
                let mark = authority_mark(&self.text("pki/ca.crt")?);
                let heard = self.heard().await?;
                let is_there = |node: &&Node| {
                    let status = heard.get(&node.name).and_then(|heard| heard.status.as_ref());
                    status.is_some_and(|status| status.settled_on.as_deref() == Some(&mark))
                };
                let missing = self.cluster.nodes().iter().filter(|node| !is_there(node));
                let missing: Vec<String> = missing.map(|node| node.name.clone()).collect();
                if missing.is_empty() { self.pods(stage, &mark).await } else { Ok(missing) }
            }
        }
    }

    /// The nodes that have not been heard of lately.
    pub(super) async fn absent(&self) -> Result<Vec<String>, Failure> {
        let heard = self.heard().await?;
        let is_absent = |node: &&Node| heard.get(&node.name).is_none_or(|heard| heard.age > FRESH);
        Ok(self.cluster.nodes().iter().filter(is_absent).map(|node| node.name.clone()).collect())
    }

    /// What pods are given to trust, and the cluster's own DNS, which reads it only when it starts.
    async fn pods(&self, stage: Stage, mark: &str) -> Result<Vec<String>, Failure> {
        let client = self.client().await?;
        let published: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
        let published = published.get_opt("kube-root-ca.crt").await.map_err(api("read what pods trust"))?;
        let trusted = published.and_then(|map| map.data?.remove("ca.crt")).map(|pem| authority_mark(&pem));
        if trusted.as_deref() != Some(mark) {
            return Ok(vec!["what pods trust (ConfigMap kube-root-ca.crt)".to_owned()]);
        }
        if stage != Stage::Trust {
            return Ok(Vec::new());
        }
        let deployments: Api<Deployment> = Api::namespaced(client, NAMESPACE);
        let Some(dns) = deployments.get_opt("coredns").await.map_err(api("look at coredns"))? else {
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

    async fn client(&self) -> Result<Client, Failure> {
        let kubeconfig = self.text("super-admin.conf")?;
        Ok(kubeapi::connect_impatiently(&kubeconfig).await?)
    }

    async fn secrets(&self) -> Result<Api<Secret>, Failure> {
        Ok(Api::namespaced(self.client().await?, NAMESPACE))
    }

    fn text(&self, name: &str) -> Result<String, Failure> {
        let path = self.layout.kubernetes_dir.join(Path::new(name));
        Ok(String::from_utf8_lossy(&self.host.disk.read(&path)?).into_owned())
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
