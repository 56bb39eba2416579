//! `blackstart prep undo`: what was done for a preparation is undone, and nothing else.
//!
//! It needs the ledger and the notes beside it. Packages that were there before stay, as does what other packages need by
//! now; the latter is reported.

use std::{fmt::Write, path::PathBuf};

use ::explain::counted;
use ::prep::playbook;
use ::prep::{Prep, names, paths};
use engine::{Runner, StepFailure, StepUndo, UndoReport};
use serde_json::json;

use crate::{
    Exit, Failure, Style, codes,
    context::{Context, Ended, block_on, cancel_on_signal},
    output::{confirm, note, painted},
    progress,
};

pub(super) fn run(context: &Context, prep: Prep, dry_run: bool, yes: bool) -> Result<(), Ended> {
    if !context.host.is_live {
        return Err(Failure::usage(codes::NOT_LIVE, "this machine was not booted by systemd").into());
    }
    let disk = &*context.host.disk;
    if !playbook::is_begun(prep, disk)? && playbook::brought(prep, disk)?.is_empty() {
        if !dry_run {
            playbook::tidy(prep, disk)?;
        }
        return nothing(context, prep);
    }
    let is_reported_on_node = !playbook::brought(prep, disk)?.is_empty();
    let undos = playbook::undos(prep, disk)?;
    let mut runner = Runner::new(context.host.clone(), paths::state_dir(prep), prep.name());
    let mut plan = runner.plan_undo(&undos)?;
    plan.extend(files(&playbook::brought(prep, disk)?));
    if dry_run {
        return show_plan(context, prep, &plan);
    }
    if !yes {
        note(&question(prep, &plan));
    }
    confirm(yes, "Take all of this back?")?;
    runner.sinks.push(progress::sink(context.out));
    let mut report = block_on(async {
        let signals = cancel_on_signal(runner.cancel.clone());
        let report = runner.undo(&undos).await;
        signals.abort();
        report
    })??;
    let is_left = playbook::tidy(prep, disk)?;
    if is_reported_on_node && report.failed.is_empty() && !report.cancelled {
        report.notes.push(on_node(prep));
    }
    end(context, prep, &report, is_left)
}

/// What a pod has written on the Node, no user of this machine may remove.
fn on_node(prep: Prep) -> String {
    let [label, report, since] = [names::label(prep), names::annotation(prep), names::since(prep)];
    format!(
        "the Node still has the old label and report; `kubectl label node NODE {label}-` and \
         `kubectl annotate node NODE {report}- {since}-` end that"
    )
}

/// What the pod of a DaemonSet has brought goes last; it belongs to no step.
fn files(brought: &[PathBuf]) -> Option<StepUndo> {
    let shows: Vec<String> = brought.iter().map(|path| format!("remove {}", path.display())).collect();
    (!shows.is_empty()).then(|| StepUndo { step: "brought by the pod".to_owned(), shows, entries: Vec::new() })
}

fn nothing(context: &Context, prep: Prep) -> Result<(), Ended> {
    if context.out.is_json() {
        return Ok(());
    }
    Ok(context.out.text(&format!("{prep}: nothing to undo\n"))?)
}

fn show_plan(context: &Context, prep: Prep, plan: &[StepUndo]) -> Result<(), Ended> {
    if context.out.is_json() {
        let steps: Vec<_> = plan.iter().map(|step| json!({ "id": step.step, "changes": step.shows })).collect();
        return Ok(context.out.json(&json!({ "prep": prep.name(), "steps": steps }))?);
    }
    let mut text = lines(plan, context.out.color());
    let count: usize = plan.iter().map(|step| step.shows.len()).sum();
    let _ = writeln!(text, "\n{prep}: {} to undo; nothing was changed", counted(count, "change"));
    Ok(context.out.text(&text)?)
}

fn question(prep: Prep, plan: &[StepUndo]) -> String {
    format!("To undo on this machine, of {prep}:\n{}", lines(plan, false))
}

fn lines(plan: &[StepUndo], color: bool) -> String {
    let mut text = String::new();
    for step in plan.iter().filter(|step| !step.shows.is_empty()) {
        let _ = writeln!(text, "{}", painted(color, Style::Strong, &step.step));
        for change in &step.shows {
            let _ = writeln!(text, "  - {change}");
        }
    }
    text
}

fn end(context: &Context, prep: Prep, report: &UndoReport, is_left: bool) -> Result<(), Ended> {
    for StepFailure { step, error } in &report.failed {
        context.out.failure(&Failure::in_step(step, error));
    }
    if !context.out.is_json() {
        context.out.text(&ending(prep, report, is_left))?;
    }
    match (report.cancelled, report.failed.is_empty()) {
        (true, _) => Err(Ended::Reported(Exit::Interrupted)),
        (false, false) => Err(Ended::Reported(Exit::Failed)),
        (false, true) => Ok(()),
    }
}

fn ending(prep: Prep, report: &UndoReport, is_left: bool) -> String {
    let mut text: String = report.notes.iter().map(|note| format!("note: {note}\n")).collect();
    let steps = counted(report.undone.len(), "step");
    let again = format!("run `blackstart prep undo {prep}` again to go on");
    let _ = match (report.cancelled, report.failed.len()) {
        (true, _) => writeln!(text, "{prep}: stopped; {steps} undone; {again}"),
        (false, 0) if !is_left => writeln!(text, "{prep}: {steps} undone"),
        (false, count) => writeln!(text, "{prep}: {steps} undone, {} above; {again}", counted(count, "error")),
    };
    text
}

#[cfg(test)]
mod tests {
    use engine::StepError;

    use super::*;

    #[test]
    fn what_people_see() {
        let step = |step: &str, shows: &[&str]| StepUndo {
            step: step.into(),
            shows: shows.iter().map(|line| (*line).to_owned()).collect(),
            entries: Vec::new(),
        };
        let plan = [
            step("iscsi-proof", &[]),
            step("iscsid", &["stop iscsid.service", "disable iscsid.service"]),
            step("packages", &["remove packages open-iscsi"]),
        ];
        let undone = vec!["iscsid".to_owned(), "packages".to_owned()];
        let notes = vec!["the package open-iscsi stays: their-tool would go with it".to_owned()];
        let error = StepError::new(nodekit::codes::PACKAGES_BUSY, "process 7 keeps open-iscsi from being removed");
        let failed = vec![StepFailure { step: "packages".into(), error }];
        let reported = [
            question(Prep::Iscsi, &plan),
            ending(Prep::Iscsi, &UndoReport { undone: undone.clone(), ..UndoReport::default() }, false),
            ending(Prep::Iscsi, &UndoReport { undone: undone.clone(), notes, ..UndoReport::default() }, false),
            on_node(Prep::Gpu),
            ending(Prep::Iscsi, &UndoReport { undone: undone.clone(), failed, ..UndoReport::default() }, true),
            ending(Prep::Iscsi, &UndoReport { undone, cancelled: true, ..UndoReport::default() }, true),
        ];
        insta::assert_snapshot!(reported.join("\n"));
    }
}
