//! `blackstart node timeline`: when each step of a run began, how long it took and what it waited for.
//!
//! A record becomes a [`Chart`], which knows times and no widths; `bars` draws it with characters, `svg` as a picture. To
//! draw it another way: one more file beside these two. Below a bootstrap node's bars are its milestones.

mod bars;
mod chart;
pub(super) mod labels;
mod list;
#[cfg(test)]
mod samples;
mod svg;
mod ticks;

use ::explain::did_you_mean;
use nodekit::{
    milestones::{self, WithMilestones},
    run_record::{RunRecord, RunSummary},
};
use serde_json::json;

use self::chart::Chart;
use super::super::boxes;
use crate::{
    Failure, codes,
    context::{Context, Ended},
    output,
};

pub(in crate::commands) fn timeline(context: &Context, run: Option<&str>, list: bool) -> Result<(), Ended> {
    if list {
        return list_all(context);
    }
    let record = find(context, run)?;
    let record = RunRecord { outcome: record.outcome_seen_by(&*context.host.disk), ..record };
    if context.out.is_json() {
        return Ok(context.out.json(&WithMilestones::from(&record))?);
    }
    let chart = Chart::of(&record, context.host.clock.now());
    Ok(context.out.text(&if context.out.is_svg() {
        svg::draw(&chart)
    } else {
        bars::draw(&chart, output::width(), context.out.color()) + &laps(&record, context.out.color())
    })?)
}

/// When each milestone of a bootstrap node was reached in this run; nothing for other nodes.
fn laps(record: &RunRecord, color: bool) -> String {
    let progress = milestones::of_run(record);
    progress.map(|progress| format!("\nmilestones\n{}", boxes::text(&progress, color))).unwrap_or_default()
}

/// The runs that are kept, the newest first.
fn list_all(context: &Context) -> Result<(), Ended> {
    let disk = &*context.host.disk;
    let all = RunRecord::all(disk, &context.layout.state_dir)?;
    let all: Vec<RunSummary> = all.iter().map(|record| RunSummary::seen_by(record, disk)).collect();
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "runs": all }))?);
    }
    Ok(context.out.text(&list::as_text(&all))?)
}

fn find(context: &Context, run: Option<&str>) -> Result<RunRecord, Failure> {
    let (disk, state_dir) = (&*context.host.disk, &context.layout.state_dir);
    let found = match run {
        Some(run) => RunRecord::read(disk, state_dir, run)?,
        None => RunRecord::latest(disk, state_dir)?,
    };
    match (found, run) {
        (Some(record), _) => Ok(record),
        (None, None) => Err(Failure::new(codes::NO_SUCH_RUN, "no run was ever kept on this machine")
            .with_hint("start one with `blackstart node up`")),
        (None, Some(run)) => {
            let kept = RunRecord::all(disk, state_dir)?;
            let similar = did_you_mean(run, kept.iter().map(|record| record.run.as_str()));
            let similar = similar.map(|run| format!("; did you mean `{run}`?")).unwrap_or_default();
            Err(Failure::new(codes::NO_SUCH_RUN, format!("no run `{run}` is kept on this node{similar}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bootstrap_nodes_run_has_laps_and_no_other_has() {
        for other in [samples::failed(), samples::working()] {
            assert_eq!(laps(&other, false), "");
            assert!(serde_json::to_value(WithMilestones::from(&other)).unwrap().get("milestones").is_none());
        }
        let record = samples::bootstrap();
        insta::assert_snapshot!(laps(&record, false));
        let value = serde_json::to_value(WithMilestones::from(&record)).unwrap();
        let reached = &value["milestones"][3]["reached"];
        assert_eq!((&value["node"], reached), (&"bootstrap".into(), &json!(samples::at(4_200))));
    }
}
