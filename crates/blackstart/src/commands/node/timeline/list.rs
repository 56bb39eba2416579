//! The runs that are kept, one line each.

use nodekit::run_record::RunSummary;

use super::labels;
use crate::progress::duration;

pub(super) fn as_text(all: &[RunSummary]) -> String {
    if all.is_empty() {
        return "no run was ever kept on this machine\n".to_owned();
    }
    let run = all.iter().map(|record| record.run.len()).max().unwrap_or_default();
    let mut text = format!("{:<run$}  {:<11}  {:<11}  {:>10}  STEPS\n", "RUN", "COMMAND", "OUTCOME", "TOOK");
    for record in all {
        let took = record.ended.unwrap_or(record.updated).duration_since(record.started);
        let took = duration(took.try_into().unwrap_or_default());
        let steps = format!("{} of {}", record.done, record.total);
        let (command, word) = (labels::command(record.purpose), labels::outcome(record.outcome));
        text += &format!("{:<run$}  {command:<11}  {word:<11}  {took:>10}  {steps}\n", record.run);
    }
    text
}

#[cfg(test)]
mod tests {
    use nodekit::run_record::Outcome;

    use super::*;
    use crate::commands::node::timeline::samples;

    #[test]
    fn one_line_per_run() {
        let interrupted = RunSummary { outcome: Outcome::Interrupted, ..RunSummary::from(&samples::working()) };
        insta::assert_snapshot!(as_text(&[interrupted, RunSummary::from(&samples::failed())]));
        assert_eq!(as_text(&[]), "no run was ever kept on this machine\n");
    }
}
