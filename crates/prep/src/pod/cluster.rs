//! The cluster as a pod knows it. Whatever the API does, the pod goes on: what could not be reported is reported later.

use std::time::Duration;

use jiff::Timestamp;
use kubeapi::{
    ApiError, Client,
    k8s_openapi::api::core::v1::{Event, Node},
    kube::{
        Api, Config,
        api::{Patch, PatchParams, PostParams},
    },
};
use operations::outage::Outage;
use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::node_events::{is_reported, new_events, patch, since, with_api};
use crate::{PodError, Prep, Report, Reported};

/// A pod that reports does not work: it must not wait long.
const ANSWER: Duration = Duration::from_secs(10);

/// The cluster as a pod knows it.
pub(super) struct Cluster {
    prep: Prep,
    node: String,
    /// How long what was reported is taken for still being there.
    trusted: Duration,
    access: Option<Access>,
    outage: Outage,
    /// What was last reported, and when.
    reported: Option<(Report, Instant)>,
    /// Events that have not been sent yet.
    pending: Vec<Value>,
}

#[derive(Clone)]
struct Access {
    client: Client,
    address: String,
}

impl Cluster {
    pub(super) fn new(prep: Prep, node: &str, trusted: Duration) -> Self {
        let outage = Outage::new("reach the Kubernetes API");
        Self { prep, node: node.to_owned(), trusted, access: None, outage, reported: None, pending: Vec::new() }
    }

    /// Whether the API answered when it was last asked.
    pub(super) fn answers(&self) -> bool {
        self.outage.lasting().is_none()
    }

    /// A client; none while the pod has no account, which is logged once.
    pub(super) fn client(&mut self) -> Option<Client> {
        let access = self.access();
        self.note(access).map(|access| access.client)
    }

    /// Says once that the API does not answer, and once that it does again.
    pub(super) fn note<T>(&mut self, asked: Result<T, PodError>) -> Option<T> {
        match asked {
            Ok(answer) => {
                self.outage.over();
                Some(answer)
            }
            Err(error) => {
                self.outage.failed_with(&error, reason(&error));
                None
            }
        }
    }

    /// Reports that something begins, to a cluster that has never heard of this node; one that has keeps what it knows
    /// until there is a result, because others select nodes by it.
    pub(super) async fn begin(&mut self, report: &Report) {
        let begun = answered(self.try_begin(report)).await;
        self.note(begun);
    }

    async fn try_begin(&mut self, report: &Report) -> Result<(), PodError> {
        if self.reported.is_none() && self.check().await?.0.is_none() {
            self.patch(&patch(report, report.at)).await?;
        }
        Ok(())
    }

    /// Writes a report to the Node, as far as the Node does not say so already.
    pub(super) async fn report(&mut self, report: &Report) {
        let reported = answered(self.try_report(report)).await;
        self.note(reported);
    }

    async fn try_report(&mut self, report: &Report) -> Result<(), PodError> {
        let report = with_api(report, &self.access()?.address);
        let is_known = self.reported.as_ref().is_some_and(|(reported, when)| {
            when.elapsed() < self.trusted && Report { at: report.at, ..reported.clone() } == report
        });
        if !is_known {
            let (output, uid) = self.check().await?;
            if !is_reported(output.as_ref(), &report) {
                self.patch(&patch(&report, since(output.as_ref(), &report))).await?;
                let before = output.and_then(|output| output.report);
                let now = Timestamp::now();
                let events = new_events(before.as_ref(), &report);
                self.pending.extend(events.iter().map(|event| event.event(self.prep, (&self.node, &uid), now)));
            }
            self.reported = Some((report, Instant::now()));
        }
        self.send_pending().await
    }

    async fn send_pending(&mut self) -> Result<(), PodError> {
        while let Some(event) = self.pending.first() {
            let doing = "write an Event";
            let event: Event = serde_json::from_value(event.clone())
                .map_err(|error| ApiError::Manifest { origin: doing.to_owned(), why: error.to_string() })?;
            let events: Api<Event> = Api::namespaced(self.access()?.client, "default");
            match events.create(&PostParams::default(), &event).await {
                Ok(_) => {}
                // It was written, and the answer got lost.
                Err(kubeapi::kube::Error::Api(status)) if status.code == 409 => {}
                Err(error) => return Err(ApiError::of(doing)(error).into()),
            }
            self.pending.remove(0);
        }
        Ok(())
    }

    /// What the Node says, and its uid.
    async fn check(&mut self) -> Result<(Option<Reported>, String), PodError> {
        let nodes: Api<Node> = Api::all(self.access()?.client);
        let found = nodes.get_metadata(&self.node).await.map_err(ApiError::of("read the own Node"))?.metadata;
        let reported = Reported::of(self.prep, found.labels.as_ref(), found.annotations.as_ref());
        Ok((reported, found.uid.unwrap_or_default()))
    }

    async fn patch(&mut self, patch: &Value) -> Result<(), PodError> {
        let nodes: Api<Node> = Api::all(self.access()?.client);
        let patched = nodes.patch_metadata(&self.node, &PatchParams::default(), &Patch::Merge(patch)).await;
        patched.map_err(ApiError::of("change the own Node"))?;
        Ok(())
    }

    /// The service account's; the library reads its token again before it ends.
    fn access(&mut self) -> Result<Access, PodError> {
        if let Some(access) = &self.access {
            return Ok(access.clone());
        }
        let unusable = |error: &dyn std::error::Error| PodError::NoAccount(explain::chain(error));
        let mut config = Config::incluster().map_err(|error| unusable(&error))?;
        config.connect_timeout = Some(ANSWER);
        config.read_timeout = Some(ANSWER);
        // The pod asks again on its own, and wants to know why.
        config.default_retry = false;
        config.proxy_url = None;
        let address = config.cluster_url.to_string();
        let client = Client::try_from(config).map_err(|error| unusable(&error))?;
        Ok(self.access.insert(Access { client, address }).clone())
    }
}

async fn answered<T>(asked: impl Future<Output = Result<T, PodError>>) -> Result<T, PodError> {
    timeout(ANSWER, asked).await.unwrap_or_else(|_| {
        let why = format!("no answer within {} s", ANSWER.as_secs());
        Err(ApiError::Unreachable { doing: "talk to the cluster".to_owned(), why }.into())
    })
}

/// Without what was being done: a server that does not answer does not answer whatever it is asked.
fn reason(error: &PodError) -> String {
    match error {
        PodError::Api(ApiError::Unreachable { why, .. }) => why.clone(),
        other => explain::chain(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{State, names, pod::testing::Server, samples};

    async fn cluster(server: &Server) -> Cluster {
        let access = Access { client: server.serve().await, address: "https://10.96.0.1/".to_owned() };
        let cluster = Cluster::new(Prep::Iscsi, "w1", Duration::from_mins(10));
        Cluster { access: Some(access), ..cluster }
    }

    fn output(server: &Server) -> (String, usize, usize) {
        server.with(|held| {
            let label = held.node["metadata"]["labels"][names::label(Prep::Iscsi)].as_str().unwrap_or("-").to_owned();
            (label, held.patches, held.events.len())
        })
    }

    #[test]
    fn a_server_that_does_not_answer_is_named_once() {
        let unreachable = |doing: &str| {
            PodError::from(ApiError::Unreachable { doing: doing.to_owned(), why: "connection refused".to_owned() })
        };
        assert_eq!(reason(&unreachable("take a slot")), reason(&unreachable("read the own Node")));
        assert_ne!(reason(&unreachable("take a slot")), reason(&PodError::NoNodeName));
    }

    #[tokio::test]
    async fn only_changes_are_reported() {
        let server = Server::default();
        let mut cluster = cluster(&server).await;
        let working = Report { state: State::Working, ..samples::ready() };
        cluster.begin(&working).await;
        assert_eq!(output(&server), ("working".into(), 1, 0));
        for _ in 0..3 {
            cluster.report(&samples::incapable()).await;
        }
        assert_eq!(output(&server), ("incapable".into(), 2, 3));
        cluster.begin(&working).await;
        assert_eq!(output(&server), ("incapable".into(), 2, 3), "a second look takes nothing back");

        let mut next = Cluster { reported: None, ..cluster };
        next.report(&samples::incapable()).await;
        assert_eq!(output(&server), ("incapable".into(), 2, 3), "nor does the next pod");
        next.report(&samples::ready()).await;
        assert_eq!(output(&server), ("ready".into(), 3, 4));
    }

    #[tokio::test]
    async fn what_could_not_be_reported_is_reported_later_and_once() {
        let server = Server::default();
        let mut cluster = cluster(&server).await;
        server.with(|held| held.is_away = true);
        cluster.report(&samples::ready()).await;
        assert!(!cluster.answers());
        server.with(|held| held.is_away = false);
        cluster.report(&samples::ready()).await;
        cluster.report(&samples::ready()).await;
        assert_eq!((cluster.answers(), output(&server)), (true, ("ready".into(), 1, 1)));
    }

    #[tokio::test]
    async fn a_label_that_was_removed_comes_back() {
        let server = Server::default();
        let mut cluster = cluster(&server).await;
        cluster.report(&samples::ready()).await;
        server.with(|held| held.node["metadata"]["labels"] = Value::Null);
        cluster.report(&samples::ready()).await;
        assert_eq!(output(&server).0, "-", "it is not looked for all the time");
        cluster.trusted = Duration::ZERO;
        cluster.report(&samples::ready()).await;
        assert_eq!(output(&server), ("ready".into(), 2, 1));
    }
}
