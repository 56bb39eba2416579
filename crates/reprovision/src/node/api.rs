//! The cluster as this node sees it: its own Node and its own Secret, with the kubelet's credential and nothing else.

use std::path::{Path, PathBuf};

use explain::{Explain, chain};
use host::Host;
use kubeapi::{
    ApiError, Client,
    k8s_openapi::api::core::v1::{Node, Secret as ApiSecret},
    kube::{
        self,
        api::{Patch, PatchParams},
    },
};
use serde_json::json;
use upgrades::{NodeReport, NodeState, Order, names};

use super::{NodeError, Options};
use crate::Secret;

/// Of our own clusters and kubeadm's, and of RHCOS.
const KUBECONFIGS: [&str; 2] = ["/etc/kubernetes/kubelet.conf", "/var/lib/kubelet/kubeconfig"];

/// What is seen of the Node, in one observation.
pub(crate) struct ObservedNode {
    pub(crate) order: Option<Order>,
    pub(crate) is_labelled: bool,
    /// The run for which the Node shows that this machine is armed.
    pub(crate) armed_for: Option<String>,
    /// A Node that was made again has none.
    pub(crate) has_report: bool,
}

/// The cluster as this node sees it.
pub(crate) struct Api {
    host: Host,
    options: Options,
    client: Option<Client>,
    /// What the last failure was: each is logged once.
    failure: Option<String>,
}

impl Api {
    pub(crate) fn new(host: &Host, options: &Options) -> Self {
        Self { host: host.clone(), options: options.clone(), client: None, failure: None }
    }

    /// The Node; none where it cannot be seen now.
    pub(crate) async fn observe(&mut self) -> Option<ObservedNode> {
        let observed = self.try_observe().await;
        let observed = self.log(observed, "see its Node")?;
        let annotations = observed.metadata.annotations.unwrap_or_default();
        let labels = observed.metadata.labels.unwrap_or_default();
        let report = annotations.get(names::REPORT_ANNOTATION).and_then(|report| NodeReport::read(report));
        Some(ObservedNode {
            has_report: report.is_some(),
            armed_for: report.filter(|report| report.state == NodeState::Armed).map(|report| report.run),
            order: annotations.get(names::ORDER_ANNOTATION).and_then(|order| Order::read(order)),
            is_labelled: labels.get(names::SCHEDULE_LABEL).is_some_and(|value| value == names::SCHEDULED),
        })
    }

    async fn try_observe(&mut self) -> Result<Node, NodeError> {
        let nodes: kube::Api<Node> = kube::Api::all(self.client().await?);
        Ok(nodes.get(&self.options.node).await.map_err(ApiError::of(format!("see node {}", self.options.node)))?)
    }

    /// Whether the report has arrived.
    pub(crate) async fn report(&mut self, report: &NodeReport) -> bool {
        let sent = self.try_report(report).await;
        self.log(sent, "report").is_some()
    }

    async fn try_report(&mut self, report: &NodeReport) -> Result<(), NodeError> {
        let nodes: kube::Api<Node> = kube::Api::all(self.client().await?);
        let text = serde_json::to_string(report).map_err(|error| NodeError::BadNote(error.to_string()))?;
        let patch = json!({ "metadata": { "annotations": { names::REPORT_ANNOTATION: text } } });
        let sent = nodes.patch(&self.options.node, &PatchParams::default(), &Patch::Merge(patch)).await;
        sent.map_err(ApiError::of("write the report"))?;
        Ok(())
    }

    /// The Secret of this name.
    pub(crate) async fn secret(&mut self, name: &str) -> Result<Secret, NodeError> {
        let secrets: kube::Api<ApiSecret> = kube::Api::namespaced(self.client().await?, names::NAMESPACE);
        let found = secrets.get(name).await.map_err(ApiError::of("read a Secret"));
        let found = found.map_err(|source| NodeError::NoSecret { name: name.to_owned(), source })?;
        let data = found.data.unwrap_or_default().into_iter();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Secret::new(data.map(|(key, value)| (key, text(value.0))).collect()))
    }

    /// A client, made again after every failure: the kubelet's certificate changes, and so does what it belongs to.
    async fn client(&mut self) -> Result<Client, NodeError> {
        if let Some(client) = &self.client {
            return Ok(client.clone());
        }
        let kubeconfig = self.kubeconfig()?;
        let text = String::from_utf8_lossy(&self.host.disk.read(&kubeconfig)?).into_owned();
        let client = kubeapi::connect_with_short_timeout(&text).await?;
        self.client = Some(client.clone());
        Ok(client)
    }

    fn kubeconfig(&self) -> Result<PathBuf, NodeError> {
        if let Some(path) = &self.options.kubeconfig {
            return Ok(path.clone());
        }
        for path in KUBECONFIGS.map(Path::new) {
            if self.host.disk.exists(path)? {
                return Ok(path.to_path_buf());
            }
        }
        Err(NodeError::NoKubeconfig(KUBECONFIGS.join(", ")))
    }

    fn log<T>(&mut self, done: Result<T, NodeError>, what: &str) -> Option<T> {
        match done {
            Ok(done) => {
                if self.failure.take().is_some() {
                    tracing::info!("the API answers again");
                }
                Some(done)
            }
            Err(error) => {
                self.client = None;
                let why = chain(&error);
                if self.failure.as_ref() != Some(&why) {
                    tracing::warn!(code = error.code().id, hint = error.advice(), "cannot {what}: {why}; trying on");
                    self.failure = Some(why);
                }
                None
            }
        }
    }
}
