//! Does what comes next, and notes it. What the note speaks of is begun only when it is on the disk.

use std::{path::Path, sync::Arc, time::Duration};

use engine::{Playbook, Runner};
use explain::{Diagnostic, Explain, counted};
use host::{Cmd, Host, write_atomic};
use nodekit::{cleanup::tree, systemd};
use tokio::time::sleep;

use super::{
    NodeError, Options,
    api::Api,
    next::{Action, Why},
    note::{At, Note},
    preflight::preflight,
    reporter::{Reporter, Steps},
    units,
};
use crate::{Run, Secret, codes, drivers, paths};

/// After it was asked to reboot, a machine is down sooner than this.
const GOING_DOWN: Duration = Duration::from_mins(2);
/// Where the engine keeps its ledger for the run.
const WORK: &str = "work";
/// What stays between runs: the rest of the state directory is of one run only.
const STAYS: [&str; 2] = ["note.json", "lock"];

/// What acting takes.
pub(crate) struct Work<'a> {
    pub(crate) host: &'a Host,
    pub(crate) options: &'a Options,
    /// None before the kubelet.
    pub(crate) api: Option<&'a mut Api>,
    pub(crate) reporter: Option<&'a Reporter>,
    pub(crate) boot_id: &'a str,
}

impl Work<'_> {
    /// Does it, and returns the note as it is then.
    pub(crate) async fn act(mut self, note: Option<Note>, action: Action) -> Result<Option<Note>, NodeError> {
        let Some(note) = note else {
            let Action::Begin(order) = action else { return Ok(None) };
            return self.noted(self.begin(order)?).map(Some);
        };
        let boot = self.boot_id.to_owned();
        let next = match action {
            Action::Wait | Action::Leave => return Ok(Some(note)),
            Action::Begin(order) => self.begin(order)?,
            Action::Check => self.check(note).await?,
            Action::Arm => {
                units::enable(self.host).await?;
                note.at(At::Armed { boot }, "armed; waits for its label to be removed")
            }
            Action::Commit => note.at(At::Stage1, "committed"),
            Action::Disarm { is_new_boot } => self.disarm(note, is_new_boot)?,
            Action::Stage1 => self.stage1(note).await?,
            Action::Stage2 => self.stage2(note).await?,
            Action::Reboot { is_forced } => return self.reboot(note, is_forced).await.map(Some),
            Action::Return => self.returned(note)?,
            Action::Confirm => self.confirm(note).await?,
            Action::GoBack(why) => note.failed(At::GoingBack, why.diagnostic()),
            Action::StayStuck => note.failed(At::Stuck, Why::NotConfirmed.diagnostic()),
            Action::WayBack => self.way_back(note).await?,
            Action::RolledBack => self.rolled_back(note)?,
        };
        self.noted(next).map(Some)
    }

    fn noted(&self, note: Note) -> Result<Note, NodeError> {
        note.write(self.host)?;
        tracing::info!(run = note.order.run, state = %note.at.state(), "{}", note.text.message());
        Ok(note)
    }

    /// What the last run left is of no use to this one.
    fn begin(&self, order: upgrades::Order) -> Result<Note, NodeError> {
        tidy(self.host)?;
        Ok(Note::new(&self.options.node, order))
    }

    async fn check(&mut self, note: Note) -> Result<Note, NodeError> {
        let secret = match self.secret(&note).await {
            Ok(secret) => secret,
            // The right to read it may come a moment after the order; the cluster has a deadline for it.
            Err(error) => {
                sleep(Duration::from_secs(1)).await;
                let is_new = note.text.error().is_none_or(|before| before.code != error.code().id);
                return Ok(if is_new { note.not_checked_yet(error.diagnostic().recorded()) } else { note });
            }
        };
        let run = run_of(&note, secret);
        let found = preflight(drivers::of(note.order.driver), &run, self.host).await;
        for warning in &found.warnings {
            tracing::warn!("{warning}");
        }
        let mut note = Note { seen: found.described, ..note };
        if found.problems.is_empty() {
            return Ok(note.at(At::Checked, "preflight found no problem"));
        }
        note = note.at(At::Refused, counted(found.problems.len(), "problem"));
        note.problems = found.problems;
        self.ended(note)
    }

    /// From the disk, else from the cluster: after a reboot there may be none.
    async fn secret(&mut self, note: &Note) -> Result<Secret, NodeError> {
        if let Some(bytes) = self.host.disk.read_optional(&paths::secret())? {
            return serde_json::from_slice(&bytes).map_err(|error| NodeError::BadNote(error.to_string()));
        }
        // Before the kubelet nothing is checked, so there is always one.
        let Some(api) = &mut self.api else { return Ok(Secret::default()) };
        let secret = api.secret(&note.order.secret).await?;
        let json = serde_json::to_vec(&secret).map_err(|error| NodeError::BadNote(error.to_string()))?;
        write_atomic(&*self.host.disk, &paths::secret(), &json, 0o600)?;
        Ok(secret)
    }

    fn disarm(&self, note: Note, is_new_boot: bool) -> Result<Note, NodeError> {
        let note = if is_new_boot {
            let message = "the machine was rebooted while it was armed";
            note.failed(At::Disarmed, Diagnostic::new(codes::INTERRUPTED, message).recorded())
        } else {
            note.at(At::Disarmed, "disarmed; nothing was changed")
        };
        self.ended(note)
    }

    async fn stage1(&mut self, note: Note) -> Result<Note, NodeError> {
        let secret = self.secret(&note).await?;
        let (driver, run) = (drivers::of(note.order.driver), run_of(&note, secret));
        let note = match self.steps(note, &driver.stage1(&run)?).await? {
            Ok(note) => note,
            Err(failed) => return Ok(failed),
        };
        match driver.needs_reboot(&run, self.host).await {
            Ok(true) => {
                let boot = self.boot_id.to_owned();
                Ok(note.at(At::Rebooting { boot, tries: 0 }, "stage 1 is done; rebooting"))
            }
            Ok(false) => Ok(note.at(At::Stage2, "stage 1 is done; no reboot is needed")),
            Err(error) => Ok(note.gives_up(error.diagnostic().recorded())),
        }
    }

    async fn stage2(&mut self, note: Note) -> Result<Note, NodeError> {
        let secret = self.secret(&note).await?;
        let note = if note.at == At::Stage2 { note } else { self.noted(note.at(At::Stage2, "back; stage 2"))? };
        let list = drivers::of(note.order.driver).stage2(&run_of(&note, secret))?;
        match self.steps(note, &list).await? {
            Ok(note) => self.returned(note),
            Err(failed) => Ok(failed),
        }
    }

    fn returned(&self, note: Note) -> Result<Note, NodeError> {
        let since = systemd::uptime(&*self.host.disk)?.unwrap_or_default();
        let boot = self.boot_id.to_owned();
        Ok(note.at(At::Returned { boot, since }, "all is done; waits to be confirmed"))
    }

    /// Runs a list of steps; the note of a run that failed says where to.
    async fn steps(&self, note: Note, list: &Playbook) -> Result<Result<Note, Note>, NodeError> {
        let seconds = note.order.apply_seconds;
        let (runner, steps) = self.runner(&note);
        let ran = tokio::select! {
            ran = runner.run(list) => Ok(ran),
            () = steps.silent_for(Duration::from_secs(seconds)) => Err(()),
        };
        let note = Note { progress: steps.progress(), ..note };
        let failure = match ran {
            Err(()) => {
                let message = format!("`{}` has shown no progress for {seconds} s", list.name());
                Diagnostic::new(codes::TIMED_OUT, message).recorded()
            }
            Ok(report) => match report?.failed.into_iter().next() {
                None => return Ok(Ok(note)),
                Some(failed) => failed.error.diagnostic().recorded(),
            },
        };
        Ok(Err(note.gives_up(failure)))
    }

    fn runner(&self, note: &Note) -> (Runner, Arc<Steps>) {
        let mut runner = Runner::new(self.host.clone(), paths::state(WORK), &note.node);
        let report = note.report(self.boot_id, self.host.clock.now());
        let steps = Steps::new(self.reporter, report);
        runner.sinks.push(steps.clone());
        (runner, steps)
    }

    /// What cannot be tidied up any more does no harm: the node is what it was to become.
    async fn confirm(&self, note: Note) -> Result<Note, NodeError> {
        if let Some(undos) = drivers::of(note.order.driver).finish() {
            for failed in self.runner(&note).0.undo(&undos).await?.failed {
                tracing::warn!(step = failed.step, "{}", explain::chain(&failed.error));
            }
        }
        self.ended(note.at(At::Done, "done"))
    }

    async fn way_back(&self, note: Note) -> Result<Note, NodeError> {
        let driver = drivers::of(note.order.driver);
        let undos = match driver.undos(&*self.host.disk) {
            Ok(undos) => undos,
            Err(error) => return Ok(note.failed(At::Stuck, error.diagnostic().recorded())),
        };
        let (runner, steps) = self.runner(&note);
        let undone = runner.undo(&undos).await?;
        let note = Note { progress: steps.progress(), ..note };
        for left in &undone.notes {
            tracing::warn!("{left}");
        }
        if let Some(failed) = undone.failed.first() {
            let message = format!("{}: {}", failed.step, explain::chain(&failed.error));
            let failure = Diagnostic::new(codes::NO_WAY_BACK, message).recorded();
            return Ok(Note { text: explain::Message::Error(failure), at: At::Stuck, ..note });
        }
        if driver.way_back_reboots() {
            let boot = self.boot_id.to_owned();
            return Ok(note.keeping_failure(At::RebootingBack { boot, tries: 0 }));
        }
        self.rolled_back(note)
    }

    fn rolled_back(&self, note: Note) -> Result<Note, NodeError> {
        self.ended(note.keeping_failure(At::RolledBack))
    }

    /// The note says that the machine goes down before it is asked to.
    async fn reboot(&self, note: Note, is_forced: bool) -> Result<Note, NodeError> {
        let at = match note.at.clone() {
            At::Rebooting { boot, tries } => At::Rebooting { boot, tries: tries + 1 },
            At::RebootingBack { boot, tries } => At::RebootingBack { boot, tries: tries + 1 },
            other => other,
        };
        let note = self.noted(Note { at, reboots: note.reboots + 1, ..note })?;
        if let Some(reporter) = self.reporter {
            reporter.show(note.report(self.boot_id, self.host.clock.now()));
            reporter.flush().await;
        }
        let command = Cmd::new("systemctl").arg("reboot").args(is_forced.then_some("--force"));
        if let Err(error) = self.host.commands.run(&command).await {
            tracing::warn!(code = codes::NOT_REBOOTED.id, "{}", explain::chain(&error));
        }
        sleep(GOING_DOWN).await;
        tracing::warn!(
            code = codes::NOT_REBOOTED.id,
            "the machine has not gone down within {} s",
            GOING_DOWN.as_secs()
        );
        Ok(note)
    }

    /// Nothing of a run that is over stays, above all no secret. A node that is stuck keeps what its repair may need.
    fn ended(&self, note: Note) -> Result<Note, NodeError> {
        let note = self.noted(note)?;
        tidy(self.host)?;
        Ok(note)
    }
}

impl Why {
    fn diagnostic(self) -> Diagnostic<String> {
        match self {
            Self::Ordered => Diagnostic::new(codes::ORDERED_BACK, "the cluster ordered the node to go back"),
            Self::NotConfirmed => Diagnostic::new(codes::NOT_CONFIRMED, "no confirmation in time"),
        }
        .recorded()
    }
}

impl Note {
    /// It cannot be checked yet, and is tried again.
    fn not_checked_yet(mut self, failure: Diagnostic<String>) -> Self {
        self.text = explain::Message::Error(failure);
        self
    }

    /// The work has failed: back, or left to a person as it is.
    fn gives_up(self, failure: Diagnostic<String>) -> Self {
        let at = if self.order.goes_back { At::GoingBack } else { At::Stuck };
        self.failed(at, failure)
    }

    /// Further on the way back, with the reason why.
    fn keeping_failure(mut self, at: At) -> Self {
        self.at = at;
        self.progress += 1;
        if let Some(failure) = self.failure.clone() {
            self.text = explain::Message::Error(failure);
        }
        self
    }
}

/// The note; of a run that was killed right after its end nothing else stays either.
pub(crate) fn read(host: &Host) -> Result<Option<Note>, NodeError> {
    let note = Note::read(host)?;
    match note.as_ref().map(|note| &note.at) {
        // What its repair may need stays.
        Some(At::Stuck) => host::remove_file(&*host.disk, &paths::secret())?,
        Some(at) if at.state().is_end() => tidy(host)?,
        _ => {}
    }
    Ok(note)
}

fn tidy(host: &Host) -> Result<(), NodeError> {
    let disk = &*host.disk;
    for name in disk.list(Path::new(paths::STATE_DIR))? {
        if !STAYS.contains(&name.as_str()) {
            tree::remove(disk, &paths::state(&name))?;
        }
    }
    Ok(())
}

fn run_of(note: &Note, secret: Secret) -> Run {
    Run { node: note.node.clone(), order: note.order.clone(), secret: Arc::new(secret) }
}

#[cfg(test)]
mod tests {
    use upgrades::{Command, Order};

    use super::*;

    #[test]
    fn a_run_that_failed_goes_back_unless_it_is_not_to() {
        for (goes_back, expected) in [(true, At::GoingBack), (false, At::Stuck)] {
            let order = Order {
                version: 1,
                run: "r".into(),
                command: Command::Check,
                driver: upgrades::Driver::Rhel,
                secret: "s".into(),
                apply_seconds: 1,
                confirm_seconds: 1,
                goes_back,
                by_agent: false,
            };
            let failure = Diagnostic::new(codes::TIMED_OUT, "stage 1").recorded();
            let failed = Note::new("w1", order).gives_up(failure.clone());
            assert_eq!((failed.at, failed.failure), (expected, Some(failure)));
        }
    }
}
