//! `blackstart node reset`: everything that was done on this machine is undone.
//!
//! ```text
//! ledger ─► what it would be, shown and agreed to ─► hold still ─► undo ─► tidy ─► what was left, and why
//! ```
//! It needs the ledger and nothing else. cluster.yaml and an API that answers only make the end politer: the node then
//! leaves its cluster instead of vanishing from it.

mod show;

use std::sync::Arc;

use engine::{Runner, StepFailure, UndoReport};
use nodekit::run_record::{Purpose, RecordKeeper};
use playbooks::cluster::{self, Reset};
use spec::ValidatedCluster;

use crate::{
    Exit, Failure,
    cli::ResetOptions,
    context::{Context, Ended, block_on, cancel_on_signal},
    output::{confirm, note},
    progress,
};

pub(in crate::commands) fn reset(context: &Context, options: &ResetOptions) -> Result<(), Ended> {
    let cluster = spec::check_dir(&context.config_source(None)).cluster;
    let node = name(context, cluster.as_ref(), options.node.as_deref())?;
    let reset = Reset {
        layout: &context.layout,
        cluster: cluster.as_ref(),
        node: node.as_deref(),
        keep_pki: options.keep_pki,
        keep_installed: !options.uninstall,
    };
    let undos = cluster::undos(&reset);
    let shown = node.as_deref().unwrap_or("node");
    let mut runner = Runner::new(context.host.clone(), &context.layout.state_dir, shown);
    let plan = runner.plan_undo(&undos)?;
    if options.dry_run {
        return show::dry_run(context, shown, &plan);
    }
    if plan.is_empty() {
        cluster::tidy(&*context.host.disk, &context.layout)?;
        // The one before may have been killed at its very end.
        if reset.keep_installed {
            cluster::enable_again(&context.host)?;
        }
        return nothing(context, reset.keep_installed);
    }
    block_on(cluster::may_leave(&reset, &context.host))??;
    if !options.yes {
        note(&show::question(shown, &plan, is_only_master(&reset)));
    }
    confirm(options.yes, "Take all of this back?")?;

    let keeper = Arc::new(RecordKeeper::new(&context.host.disk, &context.layout.state_dir, Purpose::Reset));
    runner.sinks.push(progress::sink(context.out));
    runner.sinks.push(keeper.clone());
    let report = block_on(async {
        let signals = cancel_on_signal(runner.cancel.clone());
        cluster::hold_still(&context.host, &plan).await?;
        if let Some(left) = cluster::arm_again(&reset, &context.host).await {
            note(&format!("{left}\n"));
        }
        let report = runner.undo(&undos).await;
        signals.abort();
        Ok::<_, Ended>(report?)
    })??;
    keeper.finish(); // its record goes with the rest, if nothing is left
    let is_kept = cluster::tidy(&*context.host.disk, &context.layout)?;
    if reset.keep_installed && report.failed.is_empty() && !report.cancelled {
        cluster::enable_again(&context.host)?;
    }
    end(context, &report, is_kept)
}

/// Which node this is: as given, as noted by an earlier run, or not known any more.
fn name(context: &Context, cluster: Option<&ValidatedCluster>, given: Option<&str>) -> Result<Option<String>, Failure> {
    if let (Some(cluster), Some(given)) = (cluster, given) {
        return Ok(Some(context.node(cluster, Some(given))?.name.clone()));
    }
    let noted = context.host.disk.read_optional(&context.layout.config_dir.join("node-identity"))?;
    let noted = noted.map(|noted| String::from_utf8_lossy(&noted).trim().to_owned());
    Ok(given.map(str::to_owned).or(noted).filter(|name| !name.is_empty()))
}

fn is_only_master(reset: &Reset<'_>) -> bool {
    let mut masters = reset.cluster.iter().flat_map(|cluster| cluster.masters());
    let first = masters.next().map(|master| master.name.as_str());
    first.is_some() && first == reset.node && masters.next().is_none()
}

fn nothing(context: &Context, keep_installed: bool) -> Result<(), Ended> {
    if context.out.is_json() {
        return Ok(());
    }
    context.out.text("nothing to undo: nothing was done on this machine, or all of it was undone\n")?;
    if keep_installed {
        context.out.text("`--uninstall` removes what `node install` put here, too\n")?;
    }
    Ok(())
}

/// Says what was left and why. What stays because it was to be kept is no failure, nor is what lies elsewhere.
fn end(context: &Context, report: &UndoReport, is_kept: bool) -> Result<(), Ended> {
    for StepFailure { step, error } in &report.failed {
        context.out.failure(&Failure::in_step(step, error));
    }
    if !context.out.is_json() {
        context.out.text(&show::end(report, &context.layout.state_dir, is_kept))?;
    }
    match (report.cancelled, report.failed.is_empty()) {
        (true, _) => Err(Ended::Reported(Exit::Interrupted)),
        (false, false) => Err(Ended::Reported(Exit::Failed)),
        (false, true) => Ok(()),
    }
}
