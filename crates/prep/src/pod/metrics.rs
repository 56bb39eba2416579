//! What a pod offers to Prometheus: `http://POD:9469/metrics`.

use std::{
    fmt::Write,
    net::{Ipv6Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
};

use axum::{Router, http::header::CONTENT_TYPE, routing::get};
use jiff::Timestamp;
use tokio::net::TcpListener;

use crate::{PodError, Prep, Requirement, State, Verdict, names};

/// What is measured.
#[derive(Debug, Clone)]
pub(super) struct Figures {
    pub(super) prep: Prep,
    pub(super) state: Option<State>,
    pub(super) last_run: Option<Timestamp>,
    pub(super) runs: u64,
    pub(super) failures: u32,
    pub(super) waits_for_slot: bool,
    pub(super) api_answers: bool,
    pub(super) requirements: Vec<Requirement>,
}

/// The same, where others can read it.
#[derive(Clone)]
pub(super) struct Metrics(Arc<Mutex<Figures>>);

impl Metrics {
    pub(super) fn new(prep: Prep) -> Self {
        Self(Arc::new(Mutex::new(Figures {
            prep,
            state: None,
            last_run: None,
            runs: 0,
            failures: 0,
            waits_for_slot: false,
            api_answers: false,
            requirements: Vec::new(),
        })))
    }

    pub(super) fn set(&self, change: impl FnOnce(&mut Figures)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn text(&self) -> String {
        text(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Answers every client, for ever.
    pub(super) async fn serve(self) -> Result<(), PodError> {
        let port = names::metrics_port(self.0.lock().unwrap_or_else(PoisonError::into_inner).prep);
        let failed = |source| PodError::Metrics { port, source };
        // Of both families, where there are both.
        let everywhere = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
        let listener = match TcpListener::bind(everywhere).await {
            Ok(listener) => listener,
            Err(_) => TcpListener::bind(SocketAddr::from(([0, 0, 0, 0], port))).await.map_err(failed)?,
        };
        let answer = move || {
            let text = self.text();
            async move { ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text) }
        };
        axum::serve(listener, Router::new().route("/metrics", get(answer))).await.map_err(failed)
    }
}

const STATES: [State; 5] = [State::Working, State::Ready, State::NotApplicable, State::Incapable, State::Failed];

fn text(figures: &Figures) -> String {
    let prep = figures.prep;
    let mut text = String::new();
    let mut metric = |name: &str, kind: &str, help: &str, values: &[(String, String)]| {
        let _ = writeln!(text, "# HELP blackstart_prep_{name} {help}\n# TYPE blackstart_prep_{name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(text, "blackstart_prep_{name}{{prep=\"{prep}\"{labels}}} {value}");
        }
    };
    let one = |value: String| [(String::new(), value)];
    let flag = |value: bool| u8::from(value).to_string();

    let states = STATES.map(|state| (format!(",state=\"{state}\""), flag(figures.state == Some(state))));
    metric("state", "gauge", "How far the node is: 1 for the state it is in.", &states);
    let is_fine = figures.state.is_some_and(State::is_fine);
    metric("fine", "gauge", "Whether the node is prepared, or has nothing to be prepared.", &one(flag(is_fine)));
    if let Some(at) = figures.last_run {
        metric("last_run_timestamp_seconds", "gauge", "When the last run ended.", &one(at.as_second().to_string()));
    }
    metric("runs_total", "counter", "Runs that this pod has seen end.", &one(figures.runs.to_string()));
    let failures = one(figures.failures.to_string());
    metric("failures_in_a_row", "gauge", "Runs in a row that did not end well.", &failures);
    metric("waits_for_slot", "gauge", "Whether other nodes are worked on first.", &one(flag(figures.waits_for_slot)));
    metric("api_answers", "gauge", "Whether the Kubernetes API answered last.", &one(flag(figures.api_answers)));
    let verdicts = |found: &Requirement| {
        [Verdict::Met, Verdict::Warning, Verdict::Unmet, Verdict::Unknown]
            .map(|verdict| (format!(",name=\"{}\",verdict=\"{verdict}\"", found.name), flag(found.verdict == verdict)))
    };
    let requirements: Vec<_> = figures.requirements.iter().flat_map(verdicts).collect();
    metric("requirement", "gauge", "What the node should have: 1 for what was found of it.", &requirements);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured() {
        let metrics = Metrics::new(Prep::Gpu);
        metrics.set(|figures| {
            figures.state = Some(State::NotApplicable);
            figures.last_run = Timestamp::from_second(1_800_000_000).ok();
            figures.runs = 3;
            let (name, verdict) = ("memory".to_owned(), Verdict::Warning);
            figures.requirements = vec![Requirement { name, verdict, detail: "3.1 GiB".to_owned() }];
        });
        insta::assert_snapshot!(metrics.text());
    }
}
