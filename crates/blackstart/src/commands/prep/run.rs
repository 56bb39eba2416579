//! `blackstart prep iscsi`, `blackstart prep gpu`: the work on this machine, and the report on it.
//!
//! ```text
//! survey ─► the run has the lock: report `working` ─► steps ─► report: ready, not-applicable, incapable, failed
//! ```
//! The report is what others see, the pod that started this above all. A run that finds another one at work leaves it to
//! that one. A run that is killed leaves `working`, and the next run goes on.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use ::explain::Message;
use ::prep::{
    Report, State, Verdict, paths,
    playbook::{Survey, Task},
};
use engine::{Event, Runner, Sink};
use host::{Disk, HostError, create_dir_all, write_atomic};
use jiff::Timestamp;

use super::super::plan;
use crate::{
    Exit, Failure, Style, codes,
    context::{Context, Ended, block_on},
    output::{note, painted},
};

pub(super) fn run(context: &Context, task: &Task, dry_run: bool) -> Result<(), Ended> {
    if !context.host.is_live {
        return Err(Failure::usage(codes::NOT_LIVE, "this machine was not booted by systemd").into());
    }
    let survey = block_on(Survey::take(task, &context.host))??;
    let playbook = task.playbook(&survey)?;
    let state_dir = paths::state_dir(task.prep());
    let machine = machine(context)?;
    if dry_run {
        let runner = Runner::new(context.host.clone(), &state_dir, &machine);
        return show_plan(context, &machine, &block_on(runner.plan(&playbook))?);
    }
    let begun = Arc::new(Begun::new(context, survey.working(task, &context.host)?));
    let ran = context.run_to_its_end(&state_dir, &machine, &playbook, vec![begun.clone()]);
    let ended = match ran {
        // The process that holds the lock has a report of its own to write.
        Err(failure) if failure.diagnostic.code == engine::codes::LOCKED => return Err(failure.into()),
        Err(failure) => return Err(broken(context, &begun.report, failure)),
        Ok(ended) => ended,
    };
    let reported = context.report_failures(&ended);
    let report = match block_on(survey.report(task, &context.host, &ended))? {
        Err(error) => return Err(broken(context, &begun.report, error.into())),
        Ok(report) => report,
    };
    write(&*context.host.disk, &report)?;
    begun.outcome()?;
    if !context.out.is_json() {
        note(&warnings(&report, context.out.color_errors()));
    }
    reported?;
    show(context, &report, ended.changed.is_empty())
}

/// What the machine calls itself, for those who listen.
fn machine(context: &Context) -> Result<String, HostError> {
    let name = context.host.disk.read_optional(Path::new("/proc/sys/kernel/hostname"))?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&name).trim().to_owned())
}

/// A run that could not go on as a whole, or whose end cannot be reported: a ledger that cannot be read, a disk that is full.
/// What broke it is worth more than that it cannot be written down.
fn broken(context: &Context, working: &Report, failure: Failure) -> Ended {
    match write(&*context.host.disk, &of_broken(working, &failure, context.host.clock.now())) {
        Err(unwritten) => {
            context.out.failure(&failure);
            unwritten.into()
        }
        Ok(()) => failure.into(),
    }
}

fn of_broken(working: &Report, failure: &Failure, at: Timestamp) -> Report {
    Report { state: State::Failed, text: Message::Error(failure.diagnostic.clone().recorded()), at, ..working.clone() }
}

fn write(disk: &dyn Disk, report: &Report) -> Result<(), Failure> {
    let path = paths::report(report.prep);
    let mut text = serde_json::to_vec_pretty(report)
        .map_err(|error| Failure::new(codes::CANNOT_PRINT, format!("the report cannot be written: {error}")))?;
    text.push(b'\n');
    if let Some(dir) = path.parent() {
        create_dir_all(disk, dir, 0o755)?;
    }
    Ok(write_atomic(disk, &path, &text, 0o644)?)
}

/// Writes that a run is under way, once it has the lock and before its first step.
struct Begun {
    disk: Arc<dyn Disk>,
    report: Report,
    failed: Mutex<Option<Failure>>,
}

impl Begun {
    fn new(context: &Context, report: Report) -> Self {
        Self { disk: context.host.disk.clone(), report, failed: Mutex::default() }
    }

    /// What went wrong with it, reported at the end: the work itself does not depend on it.
    fn outcome(&self) -> Result<(), Failure> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

impl Sink for Begun {
    fn event(&self, event: &Event) {
        if event.state == engine::State::RunStarted
            && let Err(failure) = write(&*self.disk, &self.report)
        {
            *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
        }
    }
}

fn show_plan(context: &Context, machine: &str, steps: &[engine::StepPlan]) -> Result<(), Ended> {
    if context.out.is_json() {
        let steps: Vec<_> = steps.iter().map(plan::as_json).collect();
        context.out.json(&serde_json::json!({ "node": machine, "steps": steps }))?;
    } else {
        context.out.text(&plan::listed(steps, plan::Detail::Full, context.out.color()))?;
    }
    if steps.iter().any(|step| step.changes.is_err()) { Err(Ended::Reported(Exit::Failed)) } else { Ok(()) }
}

/// What such a machine should have and this one has not.
fn warnings(report: &Report, color: bool) -> String {
    let lacking = report.requirements.iter().filter(|found| matches!(found.verdict, Verdict::Warning | Verdict::Unmet));
    let lacking = lacking.filter(|found| !report.text.message().contains(&found.detail)); // the error has it
    let word = painted(color, Style::Warning, "warning");
    lacking.map(|found| format!("{word}: {}: {}\n", found.name, found.detail)).collect()
}

/// Scripts have heard every step, and find the rest in the report.
fn show(context: &Context, report: &Report, is_unchanged: bool) -> Result<(), Ended> {
    if context.out.is_json() {
        return Ok(());
    }
    let unchanged = if is_unchanged { "; nothing was changed" } else { "" };
    Ok(context.out.text(&format!("{}: {}; {}{unchanged}\n", report.prep, report.state, report.text.message()))?)
}

#[cfg(test)]
mod tests {
    use host::RealDisk;

    use super::*;

    #[test]
    fn the_report_is_whole_and_says_what_broke_a_run() {
        let root = tempfile::tempdir().unwrap();
        let disk = RealDisk::new(root.path());
        let report = Report {
            version: 1,
            prep: ::prep::Prep::Iscsi,
            state: State::Working,
            text: Message::text("a run is under way"),
            seen: std::collections::BTreeMap::new(),
            requirements: vec![::prep::Requirement {
                name: "memory".into(),
                verdict: Verdict::Warning,
                detail: "2.0 GiB; at least 4 GB are recommended".into(),
            }],
            at: "2026-11-17T02:00:00Z".parse().unwrap(),
            boot_id: "b".into(),
        };
        assert_eq!(warnings(&report, false), "warning: memory: 2.0 GiB; at least 4 GB are recommended\n");
        let failure = Failure::new(engine::codes::LEDGER_DAMAGED, "the ledger cannot be read");
        write(&disk, &of_broken(&report, &failure, report.at)).unwrap();
        let text = String::from_utf8(disk.read(&paths::report(::prep::Prep::Iscsi)).unwrap()).unwrap();
        insta::assert_snapshot!(text);
    }
}
