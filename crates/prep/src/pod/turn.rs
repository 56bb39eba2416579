//! One turn of a pod's loop: look, do the next thing, report.

use std::time::Duration;

use explain::Message;
use jiff::{SignedDuration, Timestamp};
use nodekit::from_pod::Journal;
use operations::slots::Held;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::{
    Failure, Pod,
    next::{Next, Seen, Why, next},
    node_events::of_pod,
    turns::spread,
    unit,
};
use crate::{PodError, Report, State, paths};

/// Between two checks of a node with which nothing happens.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);
/// Between two checks of a unit that runs.
const POLL: Duration = Duration::from_secs(3);
/// So many checks in a row may go unanswered.
const MOST_MISSES: u32 = 10;
/// How often a slot is kept fresh.
const RENEW: Duration = Duration::from_secs(15);

impl Pod {
    /// Does the next thing and says for how long there is nothing to do.
    pub(super) async fn turn(&mut self) -> Result<Duration, PodError> {
        self.heartbeat.beat();
        self.put()?;
        let (report, boot_id) = (self.report()?, self.boot_id()?);
        let now = Timestamp::now();
        let seen = Seen {
            is_running: unit::is_running(&*self.commands, self.prep).await?,
            report: report.as_ref(),
            boot_id: &boot_id,
            put_at: self.putting.put_at(),
            history: &self.history,
            now,
            interval: self.settings.check_interval + spread(&self.settings.node, self.settings.check_interval / 10),
        };
        match next(&seen) {
            Next::Wait(until) => {
                self.tidy_slots().await;
                self.publish_last(report).await;
                let left = Duration::try_from(until.duration_since(Timestamp::now())).unwrap_or_default();
                Ok(left.min(CHECK_INTERVAL))
            }
            Next::Follow => {
                tracing::info!("{} runs already; following it", paths::unit(self.prep));
                // A report that says `working` was written when the unit began.
                let since = report.filter(|report| report.state == State::Working).map_or(now, |report| report.at);
                let held = self.own_slot().await;
                self.follow(since, held).await?;
                self.end(None).await
            }
            Next::Run(why) => self.work(why).await,
        }
    }

    /// While nothing happens: what is wrong with the runs, else the report of the last one.
    async fn publish_last(&mut self, report: Option<Report>) {
        let is_over = |failure: &mut Failure| {
            // The turn got this far, so what was wrong around the runs is; what was wrong with one, if a later one ended.
            let later = report.as_ref().filter(|report| report.at > failure.report.at);
            !failure.of_run || later.is_some_and(|report| report.state != State::Working)
        };
        self.failure.take_if(is_over);
        let wrong = self.failure.as_ref().map(|failure| failure.report.clone());
        if let Some(report) = wrong.or(report) {
            self.publish(&report).await;
        }
    }

    async fn work(&mut self, why: Why) -> Result<Duration, PodError> {
        let waits = of_pod(
            self.prep,
            State::Working,
            Message::text("the first run on this node waits for its turn, or is under way"),
            &self.boot_id()?,
            Timestamp::now(),
        );
        self.cluster.begin(&waits).await;
        let Some(held) = self.slot().await else { return Ok(Duration::ZERO) };
        tracing::info!(slot = held.name(), "starting {}: {why}", paths::unit(self.prep));
        let started = Timestamp::now();
        if let Err(error) = self.start().await {
            self.release(held).await;
            return Err(error);
        }
        self.follow(started, Some(held)).await?;
        self.end(Some(started)).await
    }

    /// Waiting for a slot may have taken long enough for a file to have been removed.
    async fn start(&mut self) -> Result<(), PodError> {
        self.put()?;
        unit::start(&*self.commands, self.prep).await
    }

    fn put(&mut self) -> Result<(), PodError> {
        for path in self.putting.put()? {
            tracing::info!("{} is in place on the node", path.display());
        }
        Ok(())
    }

    /// Reads what a run has left, and reports it.
    async fn end(&mut self, started: Option<Timestamp>) -> Result<Duration, PodError> {
        let unit = paths::unit(self.prep);
        // The clocks are the same one, but a file may round its time.
        let slack = SignedDuration::from_secs(2);
        let is_old = |report: &Report| started.is_some_and(|started| report.at + slack < started);
        let report =
            self.report()?.filter(|report| !is_old(report)).ok_or(PodError::NoReport { unit: unit.clone() })?;
        if report.state == State::Working {
            return Err(PodError::Killed { unit });
        }
        self.history.note(Timestamp::now(), report.state);
        self.failure = None;
        let code = report.code().unwrap_or("none");
        tracing::info!(state = report.state.name(), code, "{unit} has ended: {}", report.text.message());
        self.publish(&report).await;
        Ok(Duration::ZERO)
    }

    /// Follows the unit to its end: its lines into the log, the slot kept fresh.
    async fn follow(&mut self, since: Timestamp, mut held: Option<Held>) -> Result<(), PodError> {
        let mut journal = match Journal::follow(&paths::unit(self.prep), since).map_err(PodError::Journal) {
            Ok(journal) => Some(journal),
            Err(error) => {
                tracing::warn!("{}; the work goes on", explain::chain(&error));
                None
            }
        };
        let began = Instant::now();
        let mut renewed = began;
        let mut misses = 0;
        let mut poll = interval(POLL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                line = next_line(&mut journal) => match line {
                    Ok(Some(line)) => (self.say)(&line),
                    Ok(None) => journal = None,
                    Err(error) => {
                        tracing::warn!("{}; the work goes on", explain::chain(&error));
                        journal = None;
                    }
                },
                _ = poll.tick() => {
                    self.heartbeat.beat();
                    match unit::is_running(&*self.commands, self.prep).await {
                        Ok(true) => misses = 0,
                        Ok(false) => break,
                        // An installation may restart the very daemons that are asked.
                        Err(_) if misses < MOST_MISSES => misses += 1,
                        Err(error) => return Err(error),
                    }
                    if renewed.elapsed() >= RENEW {
                        renewed = Instant::now();
                        held = self.keep(held, began.elapsed()).await;
                    }
                }
            }
        }
        if let Some(journal) = journal {
            journal.rest(&*self.say).await;
        }
        if let Some(held) = held {
            self.release(held).await;
        }
        Ok(())
    }

    fn report(&self) -> Result<Option<Report>, PodError> {
        let path = paths::report(self.prep);
        let Some(text) = self.host.disk.read_optional(&path)? else { return Ok(None) };
        match serde_json::from_slice::<Report>(&text) {
            Ok(report) => Ok(Some(report)),
            Err(error) => {
                tracing::warn!("{}", PodError::BadReport { path, why: error.to_string() });
                Ok(None)
            }
        }
    }

    pub(super) fn boot_id(&self) -> Result<String, PodError> {
        Ok(nodekit::boot_id(&*self.host.disk)?)
    }
}

async fn next_line(journal: &mut Option<Journal>) -> Result<Option<String>, PodError> {
    match journal {
        Some(journal) => journal.next().await.map_err(PodError::Journal),
        None => std::future::pending().await,
    }
}
