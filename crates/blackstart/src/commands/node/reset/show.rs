//! What a reset says: before, instead of, and after it.

use std::{fmt::Write, path::Path};

use ::explain::counted;
use engine::{StepUndo, UndoEntry, UndoReport};
use playbooks::cluster;
use serde_json::json;

use crate::{
    Style,
    context::{Context, Ended},
    output::painted,
};

/// Everything that would be undone, in that order.
pub(super) fn dry_run(context: &Context, node: &str, plan: &[StepUndo]) -> Result<(), Ended> {
    if context.out.is_json() {
        let steps: Vec<_> = plan.iter().map(|step| json!({ "id": step.step, "changes": step.shows })).collect();
        return Ok(context.out.json(&json!({ "node": node, "steps": steps }))?);
    }
    Ok(context.out.text(&list(node, plan, context.out.color()))?)
}

fn list(node: &str, plan: &[StepUndo], color: bool) -> String {
    let mut text = String::new();
    for step in plan.iter().filter(|step| !step.shows.is_empty()) {
        let _ = writeln!(text, "{}", painted(color, Style::Strong, &step.step));
        for change in &step.shows {
            let _ = writeln!(text, "  - {change}");
        }
    }
    let count = plan.iter().map(|step| step.shows.len()).sum();
    let steps = counted(plan.len(), "step");
    let _ = writeln!(text, "\n{node}: {steps} and {} to undo; nothing was changed", counted(count, "change"));
    text
}

/// What a person should know before agreeing.
pub(super) fn question(node: &str, plan: &[StepUndo], is_only_master: bool) -> String {
    let entries = || plan.iter().flat_map(|step| &step.entries);
    let removed = entries().filter(|undo| matches!(undo, UndoEntry::RemoveFile(_) | UndoEntry::RemoveLink(_))).count();
    let restored =
        entries().filter(|undo| matches!(undo, UndoEntry::Restore { .. } | UndoEntry::RestoreLink { .. })).count();
    let is_file = |line: &&String| entries().any(|undo| undo.to_string() == **line);
    let others = plan.iter().flat_map(|step| &step.shows).filter(|line| !is_file(line));
    let mut text = format!("{} will be undone on {node}:\n", counted(plan.len(), "step"));
    for line in others {
        let _ = writeln!(text, "  - {line}");
    }
    let _ = writeln!(text, "  - remove {}, restore {}", counted(removed, "file"), counted(restored, "file"));
    text.push_str("`--dry-run` shows every single one.\n");
    if is_only_master {
        text.push_str("This is the only master: the cluster ends with it, and with it everything that etcd holds.\n");
    }
    text
}

/// How it ended.
pub(super) fn end(report: &UndoReport, state_dir: &Path, is_kept: bool) -> String {
    let UndoReport { undone, kept, failed, notes, cancelled } = report;
    let mut text = String::new();
    for note in notes {
        let _ = writeln!(text, "left elsewhere: {note}");
    }
    if !kept.is_empty() {
        let _ = writeln!(text, "kept: {}", kept.join(", "));
    }
    let steps = counted(undone.len(), "step");
    let _ = match (cancelled, failed.len()) {
        (true, _) => writeln!(text, "stopped: {steps} undone; run `blackstart node reset` again to go on"),
        (false, 0) if is_kept => {
            let is_installed = kept.iter().any(|step| cluster::INSTALLED.iter().any(|id| id.as_str() == step));
            let next = if is_installed { "\nreboot or `blackstart node up` to retry" } else { "" };
            writeln!(text, "{steps} undone; {} knows what was kept{next}", state_dir.join("ledger.json").display())
        }
        (false, 0) => writeln!(text, "{steps} undone; nothing of blackstart is left on this machine"),
        (false, count) => writeln!(
            text,
            "{steps} undone, {} above: see why, then run `blackstart node reset` again to go on",
            counted(count, "error")
        ),
    };
    text
}

#[cfg(test)]
mod tests {
    use engine::{StepError, StepFailure};

    use super::*;

    fn plan() -> Vec<StepUndo> {
        vec![
            StepUndo {
                step: "kubelet".into(),
                shows: vec![
                    "remove the Node object worker-01 from the cluster".into(),
                    "stop kubelet.service".into(),
                    "remove /var/lib/kubelet/config.yaml".into(),
                    "remove directory /var/lib/kubelet if it is empty".into(),
                ],
                entries: vec![
                    UndoEntry::Act { key: "start".into() },
                    UndoEntry::RemoveFile("/var/lib/kubelet/config.yaml".into()),
                    UndoEntry::RemoveDirectory("/var/lib/kubelet".into()),
                ],
            },
            StepUndo {
                step: "host-name".into(),
                shows: vec!["remove all of /var/lib/etcd".into(), "restore /etc/hosts".into()],
                entries: vec![
                    UndoEntry::Act { key: "all of /var/lib/etcd".into() },
                    UndoEntry::Restore { path: "/etc/hosts".into(), mode: 0o644, original: "/o".into() },
                ],
            },
            StepUndo { step: "preflight".into(), shows: Vec::new(), entries: Vec::new() },
        ]
    }

    #[test]
    fn before_and_instead() {
        insta::assert_snapshot!("dry-run", list("worker-01", &plan(), false));
        insta::assert_snapshot!("question", question("worker-01", &plan(), false));
        assert!(question("master-01", &plan(), true).contains("the cluster ends with it"));
    }

    #[test]
    fn after() {
        let state_dir = Path::new("/var/lib/cluster-state");
        let error = StepError::new(playbooks::codes::NOT_OURS, "x holds containers that are not the cluster's");
        let undone = vec!["record".to_owned(), "kubelet".to_owned()];
        let clean = UndoReport { undone: undone.clone(), ..UndoReport::default() };
        let kept = UndoReport {
            undone: undone.clone(),
            kept: vec!["pki".into()],
            notes: vec!["the Node object `worker-01` is still in the cluster: no master answers".into()],
            ..UndoReport::default()
        };
        let installed = UndoReport {
            undone: undone.clone(),
            kept: vec!["own-units".into(), "program".into()],
            ..UndoReport::default()
        };
        let failed = UndoReport {
            undone: undone.clone(),
            failed: vec![StepFailure { step: "units".into(), error }],
            ..UndoReport::default()
        };
        let stopped = UndoReport { undone, cancelled: true, ..UndoReport::default() };
        let text: Vec<String> = [(clean, false), (kept, true), (installed, true), (failed, true), (stopped, true)]
            .iter()
            .map(|(report, is_kept)| end(report, state_dir, *is_kept))
            .collect();
        insta::assert_snapshot!("end", text.join("\n"));
    }
}
