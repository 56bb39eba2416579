//! `blackstart bootstrap status`.

use std::fmt::Write;

use nodekit::milestones::{self, Progress};
use serde_json::json;

use super::{
    super::boxes,
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
        let complete = milestones::completed(&progress).is_some();
        context.out.json(&json!({ "complete": complete, "milestones": progress, "checklist": items }))?;
    } else {
        context.out.text(&shown(&progress, &items, context.out.color()))?;
    }
    if items.iter().all(|item| item.is_met) { Ok(()) } else { Err(Ended::Reported(Exit::Failed)) }
}

fn shown(progress: &[Progress], items: &[Item], color: bool) -> String {
    let mut text = boxes::text(progress, color);
    if !items.is_empty() {
        text += "\n";
    }
    for Item { name, is_met, seen } in items {
        let (mark, style) = if *is_met { ("ok  ", Style::Good) } else { ("fail", Style::Bad) };
        let _ = writeln!(text, "{}  {name:<28}  {seen}", painted(color, style, mark));
    }
    text
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
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
