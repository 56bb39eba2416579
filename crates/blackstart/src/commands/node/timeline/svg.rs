//! A run as one SVG file that a browser opens: nothing outside it is needed, light and dark follow the reader's settings,
//! and pointing at a bar shows what it was.
//!
//! Work is a filled bar, waiting a hatched one, so that colours are never the only signal.

use std::{fmt::Write, time::Duration};

use explain::counted;
use nodekit::run_record::StepState;

use super::{
    chart::{Chart, Kind, Piece, Row},
    labels, ticks,
};
use crate::progress::duration;

const WIDTH: u64 = 1080;
/// Where bars begin and end.
const LEFT: u64 = 230;
const RIGHT: u64 = 960;
/// Where the first row begins.
const TOP: u64 = 96;
const ROW: u64 = 24;
const BAR: u64 = 14;
/// A bar of less is not seen.
const THINNEST: u64 = 2;

const STYLE: &str = "\
svg { font: 13px ui-sans-serif, system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; background: #ffffff; }
.paper { fill: #ffffff; } .band { fill: #f5f7fa; }
text { fill: #1f2933; } .title { font-size: 18px; font-weight: 600; } .dim { fill: #616e7c; } .end { text-anchor: end; }
.mid { text-anchor: middle; } .grid { stroke: #d9dfe6; }
.work { fill: #2f6fb5; } .same { fill: #8a97a6; } .bad { fill: #c2362b; } .bad-text { fill: #b3261e; font-weight: 600; }
.hatch { stroke: #7fa8d4; stroke-width: 2; } .wait { fill: url(#hatch); stroke: #7fa8d4; }
.again { stroke: #1f2933; stroke-width: 2; } .small { font-size: 11px; }
@media (prefers-color-scheme: dark) {
svg { background: #14181d; } .paper { fill: #14181d; } .band { fill: #1b2128; }
text { fill: #e4e9ef; } .dim { fill: #98a4b3; } .grid { stroke: #2f3843; }
.work { fill: #5a9be0; } .same { fill: #6b7888; } .bad { fill: #ef6a5e; } .bad-text { fill: #ff8a80; }
.hatch { stroke: #3f6ea3; } .wait { stroke: #3f6ea3; } .again { stroke: #e4e9ef; }
}
";

/// The whole file.
pub(super) fn draw(chart: &Chart<'_>) -> String {
    let bottom = TOP + ROW * chart.rows.len() as u64;
    let height = bottom + 48;
    let title = title(chart);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         role=\"img\" aria-label=\"{title}\">\n<style>\n{STYLE}</style>\n<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" \
         patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><line class=\"hatch\" x1=\"0\" y1=\"0\" x2=\"0\" \
         y2=\"6\"/></pattern></defs>\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n"
    );
    svg += &head(chart, &title);
    for index in (0..chart.rows.len() as u64).step_by(2) {
        let y = TOP + ROW * index;
        let _ = writeln!(svg, "<rect class=\"band\" x=\"12\" y=\"{y}\" width=\"{}\" height=\"{ROW}\"/>", WIDTH - 24);
    }
    svg += &axis(chart.span, bottom);
    for (index, row) in (0..).zip(&chart.rows) {
        svg += &draw_row(row, chart.span, TOP + ROW * index);
    }
    svg += &legend(bottom + 28, chart.rows.iter().any(|row| !row.again.is_empty()));
    svg + "</svg>\n"
}

fn title(chart: &Chart<'_>) -> String {
    let record = chart.record;
    let on = if record.node.is_empty() { String::new() } else { format!(" on {}", record.node) };
    let steps = format!("{} of {}", record.done, counted(record.total, "step"));
    let outcome = labels::outcome(record.outcome);
    escape(&format!("{}{on}: {outcome}, {steps} in {}", labels::command(record.purpose), duration(chart.span)))
}

fn head(chart: &Chart<'_>, title: &str) -> String {
    let record = chart.record;
    let began = record.started.strftime("%Y-%m-%d %H:%M:%S UTC");
    let second = format!("run {}, began {began}, blackstart {}", record.run, record.version);
    let mut text = format!("<text class=\"title\" x=\"20\" y=\"34\">{title}</text>\n");
    let _ = writeln!(text, "<text class=\"dim\" x=\"20\" y=\"56\">{}</text>", escape(&second));
    text
}

fn axis(span: Duration, bottom: u64) -> String {
    let step = ticks::step(span, 8);
    let mut text = String::new();
    let mut mark = Duration::ZERO;
    while mark <= span {
        let (x, label) = (x_of(mark, span), ticks::label(mark, step));
        let _ = writeln!(
            text,
            "<line class=\"grid\" x1=\"{x}\" y1=\"{TOP}\" x2=\"{x}\" y2=\"{bottom}\"/>\
             <text class=\"dim small mid\" x=\"{x}\" y=\"{}\">{label}</text>",
            TOP - 8
        );
        mark += step;
    }
    text
}

fn draw_row(row: &Row<'_>, span: Duration, y: u64) -> String {
    let step = row.step;
    let (middle, state) = (y + ROW / 2 + 5, labels::state(step.state));
    let name_class = if step.state.is_bad() { "bad-text" } else { "name" };
    let error = step.error().map(|failure| format!(": {}", failure.diagnostic)).unwrap_or_default();
    let mut text = format!("<g><title>{}</title>\n", escape(&format!("{}: {state}{error}", step.title)));
    let _ = writeln!(
        text,
        "<text class=\"{name_class}\" x=\"20\" y=\"{middle}\">{} {}</text>",
        labels::sign(step.state),
        escape(&step.id)
    );
    for piece in &row.pieces {
        text += &bar(piece, step.state, span, y + (ROW - BAR) / 2);
    }
    for (number, at) in &row.again {
        let x = x_of(*at, span);
        let _ = writeln!(
            text,
            "<g><line class=\"again\" x1=\"{x}\" y1=\"{}\" x2=\"{x}\" y2=\"{}\"/><text class=\"small end\" x=\"{}\" \
             y=\"{}\">{number}</text><title>attempt {number}</title></g>",
            y + 2,
            y + ROW - 2,
            x - 4,
            middle - 1
        );
    }
    let took = if row.pieces.is_empty() { "not tried".to_owned() } else { duration(row.took()) };
    let _ = writeln!(text, "<text class=\"dim end\" x=\"{}\" y=\"{middle}\">{took}</text></g>", WIDTH - 20);
    text
}

fn bar(piece: &Piece<'_>, state: StepState, span: Duration, y: u64) -> String {
    let x = x_of(piece.from, span);
    let width = (x_of(piece.until, span) - x).max(THINNEST);
    let class = match (piece.kind, state) {
        (Kind::Wait(_) | Kind::Pause(_), _) => "wait",
        (Kind::Work, state) if state.is_bad() => "bad",
        (Kind::Work, StepState::Unchanged) => "same",
        (Kind::Work, _) => "work",
    };
    let what = match piece.kind {
        Kind::Work => "work".to_owned(),
        Kind::Wait(what) => format!("waited for {what}"),
        Kind::Pause(error) => format!("paused after: {error}"),
    };
    let what = escape(&format!("{what} ({}, from {})", duration(piece.length()), duration(piece.from)));
    format!(
        "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BAR}\" rx=\"2\"><title>{what}</title></rect>\n"
    )
}

fn legend(y: u64, has_more_attempts: bool) -> String {
    let box_at = |class: &str, x: u64, words: &str| {
        format!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{}\" width=\"22\" height=\"12\" rx=\"2\"/>\
             <text class=\"dim\" x=\"{}\" y=\"{y}\">{words}</text>\n",
            y - 11,
            x + 30
        )
    };
    let boxes =
        [("work", 20, "work"), ("wait", 110, "wait"), ("same", 200, "was there already"), ("bad", 370, "failed")]
            .map(|(class, x, words)| box_at(class, x, words))
            .concat();
    if !has_more_attempts {
        return boxes;
    }
    format!(
        "{boxes}<line class=\"again\" x1=\"470\" y1=\"{}\" x2=\"470\" y2=\"{}\"/><text class=\"dim\" x=\"480\" \
         y=\"{y}\">begin of another attempt</text>\n",
        y - 13,
        y + 3
    )
}

/// Where a moment is between the left and the right edge.
fn x_of(time: Duration, span: Duration) -> u64 {
    let offset = time.as_nanos() * u128::from(RIGHT - LEFT) / span.as_nanos().max(1);
    LEFT + u64::try_from(offset).unwrap_or(u64::MAX).min(RIGHT - LEFT)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::node::timeline::samples;

    #[test]
    fn one_file_with_everything_in_it() {
        let mut record = samples::failed();
        record.steps[1].title = "Issue <the> \"certificates\" & keys".into();
        let svg = draw(&Chart::of(&record, record.updated));
        assert!(!svg.replace("http://www.w3.org/2000/svg", "").contains("http"), "nothing is fetched");
        insta::assert_snapshot!(svg);
    }
}
