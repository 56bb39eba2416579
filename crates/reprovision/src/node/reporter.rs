//! Carries the node's report to the cluster beside the work, and again until it has arrived.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use engine::{Event, Sink, State};
use tokio::{
    sync::Notify,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};
use upgrades::NodeReport;

use super::api::Api;

/// A node with much to say must not keep the API busy.
const BETWEEN: Duration = Duration::from_millis(500);
/// For the last report before a reboot: the cluster finds out without it too, only later.
const LAST: Duration = Duration::from_secs(5);

/// Carries the node's report to the cluster. Ends with its handle.
pub(crate) struct Reporter {
    shown: Arc<Shown>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Shown {
    /// What there is to report, and whether it has arrived.
    report: Mutex<Option<(NodeReport, bool)>>,
    changed: Notify,
    arrived: Notify,
}

impl Shown {
    fn set(&self, report: NodeReport) {
        let mut held = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = held.as_ref().is_some_and(|(before, _)| is_same(before, &report));
        if !is_same {
            *held = Some((report, false));
            self.changed.notify_one();
        }
    }

    fn set_again(&self) {
        let mut held = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, arrived)) = held.as_mut() {
            *arrived = false;
            self.changed.notify_one();
        }
    }

    fn unsent(&self) -> Option<NodeReport> {
        let held = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().filter(|(_, arrived)| !arrived).map(|(report, _)| report.clone())
    }

    fn sent(&self, report: &NodeReport) {
        let mut held = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((latest, arrived)) = held.as_mut().filter(|(latest, _)| latest == report) {
            tracing::debug!(state = %latest.state, "reported");
            *arrived = true;
            self.arrived.notify_waiters();
        }
    }
}

/// But for when they were made.
fn is_same(one: &NodeReport, other: &NodeReport) -> bool {
    NodeReport { at: other.at, ..one.clone() } == *other
}

impl Reporter {
    pub(crate) fn start(mut api: Api) -> Self {
        let shown = Arc::new(Shown::default());
        let held = shown.clone();
        let task = tokio::spawn(async move {
            loop {
                match held.unsent() {
                    Some(report) => {
                        if api.report(&report).await {
                            held.sent(&report);
                        }
                        sleep(BETWEEN).await;
                    }
                    None => held.changed.notified().await,
                }
            }
        });
        Self { shown, task }
    }

    /// What the node has to report now.
    pub(crate) fn show(&self, report: NodeReport) {
        self.shown.set(report);
    }

    /// The same once more: the Node has lost it.
    pub(crate) fn show_again(&self) {
        self.shown.set_again();
    }

    /// Whether the last report has not arrived yet.
    pub(crate) fn is_behind(&self) -> bool {
        self.shown.unsent().is_some()
    }

    /// Until there is something new to observe: after this time, or at once when the last report arrives.
    pub(crate) async fn await_arrival(&self, most: Duration) {
        if self.is_behind() {
            self.arrived(most).await;
        } else {
            sleep(most).await;
        }
    }

    /// Waits, not for long, until the last report has arrived.
    pub(crate) async fn flush(&self) {
        if !self.arrived(LAST).await {
            tracing::warn!("the last report has not arrived");
        }
    }

    async fn arrived(&self, most: Duration) -> bool {
        let arrive = async {
            loop {
                let arrived = self.shown.arrived.notified();
                if self.shown.unsent().is_none() {
                    return;
                }
                arrived.await;
            }
        };
        timeout(most, arrive).await.is_ok()
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The events of a run of steps, as progress of a report.
pub(crate) struct Steps {
    /// None before the kubelet.
    shown: Option<Arc<Shown>>,
    report: Mutex<NodeReport>,
}

impl Steps {
    /// Shows what a run of steps does as progress of this report.
    pub(crate) fn new(reporter: Option<&Reporter>, report: NodeReport) -> Arc<Self> {
        Arc::new(Self { shown: reporter.map(|reporter| reporter.shown.clone()), report: Mutex::new(report) })
    }

    /// Ends when nothing was shown for so long.
    pub(crate) async fn silent_for(&self, most: Duration) {
        let mut seen = self.progress();
        let mut since = Instant::now();
        while since.elapsed() < most {
            sleep(BETWEEN).await;
            let now = self.progress();
            if now != seen {
                (seen, since) = (now, Instant::now());
            }
        }
    }

    /// How much was shown.
    pub(crate) fn progress(&self) -> u64 {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).progress
    }
}

impl Sink for Steps {
    fn event(&self, event: &Event) {
        if matches!(event.state, State::RunStarted | State::RunFinished) {
            return;
        }
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        report.progress += 1;
        report.text = event.text.clone().recorded();
        report.at = event.time;
        if let Some(shown) = &self.shown {
            shown.set(report.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::note::Note;

    #[test]
    fn a_report_is_sent_until_it_has_arrived_and_again_where_it_was_lost() {
        let json = r#"{"version":1,"run":"r","command":"check","driver":"rhel","secret":"s","applySeconds":1,"confirmSeconds":1}"#;
        let report = Note::new("w1", serde_json::from_str(json).unwrap()).report("one", jiff::Timestamp::UNIX_EPOCH);
        let shown = Shown::default();
        shown.set_again();
        assert_eq!(shown.unsent(), None, "nothing was shown yet");
        shown.set(report.clone());
        assert_eq!(shown.unsent().as_ref(), Some(&report));
        shown.sent(&report);
        shown.set(report.clone());
        assert_eq!(shown.unsent(), None);
        shown.set_again();
        assert_eq!(shown.unsent(), Some(report));
    }
}
