//! `blackstart bootstrap status`.

use std::fmt::Write;

use jiff::Timestamp;
use nodekit::milestones::{COMPLETE, Progress};
use serde_json::json;

use super::{
    Source,
    checklist::{self, Item},
};
use crate::{
    Exit, Failure, Style,
    cli::BootstrapFrom as From,
    codes,
    context::{Context, Ended, block_on},
    output::painted,
    progress::busy,
};

pub(super) fn run(context: &Context, with_checklist: bool, from: &From) -> Result<(), Ended> {
    let source = Source::find(context, from)?;
    if with_checklist && !matches!(source, Source::Own) {
        let message = "the checklist is for the bootstrap node itself";
        return Err(Failure::usage(codes::ONLY_ON_BOOTSTRAP, message).into());
    }
    let (progress, items) = busy(context.out, "checking the bootstrap", || {
        block_on(async {
            let progress = source.progress(context).await?;
            let items = if with_checklist { checklist::check(context, &progress).await } else { Vec::new() };
            Ok::<_, Failure>((progress, items))
        })
    })??;
    if context.out.is_json() {
        let complete = progress.iter().any(|one| one.milestone.id == COMPLETE && one.reached.is_some());
        context.out.json(&json!({ "complete": complete, "milestones": progress, "checklist": items }))?;
    } else {
        context.out.text(&shown(&progress, &items, context.out.color()))?;
    }
    if items.iter().all(|item| item.is_met) { Ok(()) } else { Err(Ended::Reported(Exit::Failed)) }
}

fn shown(progress: &[Progress], items: &[Item], color: bool) -> String {
    let mut text = String::new();
    let mut before: Option<Timestamp> = None;
    for Progress { milestone, reached, waiting } in progress {
        let (mark, style) = if reached.is_some() { ("x", Style::Good) } else { (" ", Style::Warning) };
        let mark = painted(color, style, mark);
        let at = match (reached, waiting) {
            (Some(time), _) => format!("{}{}", time.strftime("%H:%M:%S"), lap(before, *time)),
            (None, Some(waiting)) => waiting.clone(),
            (None, None) => String::new(),
        };
        before = reached.or(before);
        let line = format!("[{mark}] {:>2}  {:<40}  {at}", milestone.number, milestone.title);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if !items.is_empty() {
        text += "\n";
    }
    for Item { name, is_met, seen } in items {
        let (mark, style) = if *is_met { ("ok  ", Style::Good) } else { ("fail", Style::Bad) };
        let _ = writeln!(text, "{}  {name:<28}  {seen}", painted(color, style, mark));
    }
    text
}

/// How long it took since the one before. Some are reached before their neighbours: then there is nothing to say.
fn lap(before: Option<Timestamp>, time: Timestamp) -> String {
    match before {
        Some(before) if time >= before => format!("  +{} s", time.duration_since(before).as_secs()),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use nodekit::milestones::ALL;

    use super::*;

    #[test]
    fn what_people_see() {
        let at = |second: i64| Timestamp::from_second(1_795_000_000 + second).unwrap();
        let one = |(milestone, number): (&'static nodekit::milestones::Milestone, i64)| Progress {
            milestone,
            reached: (number < 9).then(|| at(number * 2)),
            waiting: (number == 9).then(|| "waiting for master-02 to answer (connection refused)".to_owned()),
        };
        let progress: Vec<Progress> = ALL.iter().zip(1..).map(one).collect();
        let items = [
            Item { name: "static pods running", is_met: true, seen: "4 of 4 are ready".into() },
            Item { name: "etcd healthy", is_met: false, seen: "connection refused".into() },
        ];
        insta::assert_snapshot!(shown(&progress, &items, false));
    }
}
