//! A run as bars of characters, as wide as the terminal.
//!
//! Work is a full block, waiting a light one; a digit marks where another attempt begins. Signs and words say what the
//! colours say.

use std::time::Duration;

use explain::{Diagnostic, counted};
use nodekit::run_record::{Outcome, RecordedError, StepState};

use super::{
    chart::{Chart, Piece, Row},
    labels, ticks,
};
use crate::{Style, output::painted, progress::duration};

/// Below this, bars show nothing.
const NARROWEST: usize = 20;
const WORK: char = '█';
/// Work that is short against a cell.
const SLIVER: char = '▏';
const WAIT: char = '░';
/// Between the parts of the legend.
const GAP: &str = "   ";

/// The whole picture.
pub(super) fn draw(chart: &Chart<'_>, width: usize, color: bool) -> String {
    let names = chart.rows.iter().map(|row| row.step.id.len()).max().unwrap_or_default().max("step".len());
    let times = chart.rows.iter().map(|row| took(row).chars().count()).max().unwrap_or_default();
    let cells = width.saturating_sub(names + times + " ✓  ".len()).max(NARROWEST);
    let scale = Scale { cells, span: chart.span };

    let mut text = head(chart, color);
    if !chart.rows.is_empty() {
        let axis = painted(color, Style::Dim, format!("{:names$}   {}", "step", scale.axis()));
        text += &format!("\n{}\n", axis.trim_end());
    }
    for row in &chart.rows {
        let style = style(row.step.state);
        let (sign, bar) = (labels::sign(row.step.state), scale.bar(row));
        let (sign, bar) = (painted(color, style, sign), painted(color, style, bar));
        text += &format!("{:names$} {sign} {bar} {:>times$}\n", row.step.id, took(row));
    }
    text += &legend(chart, width, color);
    text + &remarks(chart, color)
}

fn head(chart: &Chart<'_>, color: bool) -> String {
    let record = chart.record;
    let on = if record.node.is_empty() { String::new() } else { format!(" on {}", record.node) };
    let what = painted(color, Style::Strong, format!("{}{on}", labels::command(record.purpose)));
    let style = match record.outcome {
        Outcome::Done => Style::Good,
        Outcome::Working => Style::Strong,
        Outcome::Failed | Outcome::Interrupted => Style::Bad,
        Outcome::Cancelled => Style::Warning,
    };
    let ended = painted(color, style, labels::outcome(record.outcome));
    let steps = format!("{} of {}", record.done, counted(record.total, "step"));
    let began = record.started.strftime("%Y-%m-%d %H:%M:%S UTC");
    format!("{what}: {ended}, {steps} in {}\nrun {}, began {began}\n", duration(chart.span), record.run)
}

fn took(row: &Row<'_>) -> String {
    match (row.pieces.is_empty(), row.step.ended) {
        (true, _) => "not tried".to_owned(),
        (false, Some(_)) => duration(row.took()),
        (false, None) => format!("{} …", duration(row.took())),
    }
}

fn style(state: StepState) -> Style {
    match state {
        StepState::Working | StepState::Waiting => Style::Strong,
        StepState::Done | StepState::Undone => Style::Good,
        StepState::Unchanged => Style::Dim,
        StepState::Failed | StepState::NotUndone => Style::Bad,
        StepState::Retrying | StepState::NotTried | StepState::Cancelled => Style::Warning,
    }
}

/// Only what is there to be seen.
fn legend(chart: &Chart<'_>, width: usize, color: bool) -> String {
    let waits = chart.rows.iter().flat_map(|row| &row.pieces).any(|piece| !piece.kind.is_work());
    let again = chart.rows.iter().any(|row| !row.again.is_empty());
    let mut parts: Vec<String> = [
        (chart.rows.iter().any(|row| !row.pieces.is_empty()), "█ work"),
        (waits, "░ wait"),
        (again, "2 begin of another attempt"),
    ]
    .into_iter()
    .filter(|(shown, _)| *shown)
    .map(|(_, text)| text.to_owned())
    .collect();
    for row in &chart.rows {
        let part = format!("{} {}", labels::sign(row.step.state), labels::state(row.step.state));
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut().filter(|line| line.chars().count() + GAP.len() + part.chars().count() <= width) {
            Some(line) => *line += &format!("{GAP}{part}"),
            None => lines.push(part),
        }
    }
    lines.iter().map(|line| format!("{}\n", painted(color, Style::Dim, line))).collect()
}

/// What is waited for, and what went wrong.
fn remarks(chart: &Chart<'_>, color: bool) -> String {
    let mut text = String::new();
    for row in &chart.rows {
        if let (Some(waiting), Some(piece)) = (row.step.waiting(), row.pieces.last()) {
            let since = duration(chart.span.saturating_sub(piece.from));
            text += &format!("\n{} waits for {} ({since})", row.step.id, waiting.what);
        }
    }
    let errors = errors(chart);
    for Failed { step, attempts, failure } in &errors {
        let Diagnostic { code, message, hint } = &failure.diagnostic;
        let at = painted(color, Style::Bad, format!("error[{code}]"));
        let which = if attempts.len() == 1 { "attempt" } else { "attempts" };
        let which = format!("{which} {}", attempts.join(", "));
        text += &format!("\n{at}: step `{step}`, {which}: {message}\n  hint: {hint}");
    }
    if let (true, Some(error)) = (errors.is_empty(), &chart.record.last_error) {
        let Diagnostic { code, message, hint } = &error.diagnostic;
        let at = painted(color, Style::Bad, format!("error[{code}]"));
        text += &format!("\n{at}: {message}\n  hint: {hint}");
    }
    if text.is_empty() { text } else { text + "\n" }
}

/// What went wrong in one or more attempts at a step.
struct Failed<'a> {
    step: &'a str,
    attempts: Vec<String>,
    failure: &'a RecordedError,
}

/// Every error; attempts that ended with the same one are reported together.
fn errors<'a>(chart: &Chart<'a>) -> Vec<Failed<'a>> {
    let mut all: Vec<Failed<'a>> = Vec::new();
    for step in chart.rows.iter().map(|row| row.step) {
        for attempt in &step.attempts {
            let Some(failure) = &attempt.error else { continue };
            let is_same = |last: &&mut Failed<'a>| {
                last.step == step.id && last.failure.diagnostic.message == failure.diagnostic.message
            };
            match all.last_mut().filter(is_same) {
                Some(last) => last.attempts.push(attempt.number.to_string()),
                None => all.push(Failed { step: &step.id, attempts: vec![attempt.number.to_string()], failure }),
            }
        }
    }
    all
}

/// How times become cells.
struct Scale {
    cells: usize,
    span: Duration,
}

impl Scale {
    /// The cell a moment falls into.
    fn cell(&self, time: Duration) -> usize {
        let cell = time.as_nanos() * self.cells as u128 / self.span.as_nanos().max(1);
        usize::try_from(cell).unwrap_or(usize::MAX).min(self.cells - 1)
    }

    /// The moment, in nanoseconds, at which a cell begins.
    fn begin(&self, cell: usize) -> u128 {
        self.span.as_nanos() * cell as u128 / self.cells as u128
    }

    /// A mark and its time where there is room for it.
    fn axis(&self) -> String {
        let mut line = String::new();
        let step = ticks::step(self.span, self.cells / 12);
        let mut mark = Duration::ZERO;
        while mark <= self.span {
            let label = format!("|{}", ticks::label(mark, step));
            let cell = self.cell(mark);
            if cell + label.chars().count() > self.cells {
                break;
            }
            line += &" ".repeat(cell.saturating_sub(line.chars().count()));
            line += &label;
            mark += step;
        }
        line
    }

    fn bar(&self, row: &Row<'_>) -> String {
        let mut cells: Vec<char> = (0..self.cells).map(|cell| self.shade(cell, &row.pieces)).collect();
        for (number, at) in &row.again {
            cells[self.cell(*at)] = char::from_digit((*number).min(9), 10).unwrap_or('+');
        }
        cells.into_iter().collect()
    }

    /// What fills most of a cell; a step that is shorter than one is seen all the same.
    fn shade(&self, cell: usize, pieces: &[Piece<'_>]) -> char {
        let (left, right) = (self.begin(cell), self.begin(cell + 1));
        let overlap =
            |piece: &Piece<'_>| piece.until.as_nanos().min(right).saturating_sub(piece.from.as_nanos().max(left));
        let sum = |work: bool| pieces.iter().filter(|piece| piece.kind.is_work() == work).map(overlap).sum::<u128>();
        let (work, wait) = (sum(true), sum(false));
        let begins_here = pieces.first().is_some_and(|piece| self.cell(piece.from) == cell);
        match (work + wait) * 4 {
            quarters if quarters < right - left && begins_here => SLIVER,
            quarters if quarters < right - left || quarters == 0 => ' ',
            _ if wait > work => WAIT,
            _ => WORK,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::node::timeline::samples;

    #[test]
    fn a_run_that_failed() {
        let record = samples::failed();
        let chart = Chart::of(&record, record.updated);
        insta::assert_snapshot!(draw(&chart, 100, false));
        insta::assert_snapshot!("narrow", draw(&chart, 50, false));
    }

    #[test]
    fn a_run_under_way() {
        let record = samples::working();
        insta::assert_snapshot!(draw(&Chart::of(&record, samples::at(75_000)), 100, false));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let record = samples::failed();
        let chart = Chart::of(&record, record.updated);
        for width in [60, 80, 132, 250] {
            let drawn = draw(&chart, width, false);
            let bars: Vec<&str> = drawn.lines().filter(|line| line.contains(WORK) && !line.contains("work")).collect();
            assert_eq!(bars.len(), 3, "{drawn}");
            assert!(bars.iter().all(|line| line.chars().count() <= width), "{width}:\n{drawn}");
        }
    }

    #[test]
    fn colours_add_nothing_to_the_words() {
        let record = samples::failed();
        let chart = Chart::of(&record, record.updated);
        let styles = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
        assert_ne!(draw(&chart, 100, true), draw(&chart, 100, false));
        assert_eq!(styles.replace_all(&draw(&chart, 100, true), ""), draw(&chart, 100, false));
    }
}
