//! Problems as text for a terminal: code, place, source line with marks, and what to do.
//!
//! A pure function, so that every report can be compared with a snapshot. Colour only repeats what the words say.

use anstyle::{AnsiColor, Style};
use explain::{Diagnostic, counted};

use crate::problem::{Also, Excerpt, Position, Problem, Severity};

/// All problems, errors first, and a last line that counts them. Empty if there is nothing to report.
pub fn report(problems: &[Problem], color: bool) -> String {
    if problems.is_empty() {
        return String::new();
    }
    let palette = Palette::new(color);
    let mut text = String::new();
    for severity in [Severity::Error, Severity::Warning] {
        for problem in problems.iter().filter(|problem| problem.severity == severity) {
            one(&mut text, problem, &palette);
            text.push('\n');
        }
    }
    let count = |severity| problems.iter().filter(|problem| problem.severity == severity).count();
    let summary = [(count(Severity::Error), "error"), (count(Severity::Warning), "warning")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count, what))
        .collect::<Vec<_>>()
        .join(", ");
    text.push_str(&summary);
    text.push('\n');
    text
}

struct Palette {
    error: Style,
    warning: Style,
    frame: Style,
    strong: Style,
}

impl Palette {
    fn new(color: bool) -> Self {
        if !color {
            return Self { error: Style::new(), warning: Style::new(), frame: Style::new(), strong: Style::new() };
        }
        Self {
            error: AnsiColor::Red.on_default().bold(),
            warning: AnsiColor::Yellow.on_default().bold(),
            frame: AnsiColor::Blue.on_default().bold(),
            strong: Style::new().bold(),
        }
    }
}

fn one(text: &mut String, problem: &Problem, palette: &Palette) {
    let Problem { diagnostic: Diagnostic { code, message, hint }, severity, file, position, also, excerpt, .. } =
        problem;
    let (word, style) = match severity {
        Severity::Error => ("error", palette.error),
        Severity::Warning => ("warning", palette.warning),
    };
    let (strong, frame) = (palette.strong, palette.frame);
    line(text, &format!("{style}{word}[{code}]{style:#}{strong}: {message}{strong:#}"));
    let margin = margin(*position, also.as_ref());
    line(text, &format!("{margin}{frame}-->{frame:#} {}", location(file, *position)));
    if let (Some(excerpt), Some(position)) = (excerpt, position) {
        source(text, excerpt, *position, &Marks { sign: '^', label: "", style, margin: &margin, frame });
    }
    if let Some(Also { file, position, label, excerpt }) = also {
        line(text, &format!("{margin}{frame}:::{frame:#} {}", location(file, *position)));
        match (excerpt, position) {
            (Some(excerpt), Some(position)) => {
                source(text, excerpt, *position, &Marks { sign: '-', label, style: frame, margin: &margin, frame });
            }
            _ => line(text, &format!("{margin} {frame}={frame:#} {label}")),
        }
    }
    line(text, &format!("{margin} {frame}={frame:#} hint: {hint}"));
}

/// How the marks below a source line look.
struct Marks<'a> {
    sign: char,
    label: &'a str,
    style: Style,
    margin: &'a str,
    frame: Style,
}

fn source(text: &mut String, excerpt: &Excerpt, position: Position, marks: &Marks<'_>) {
    let Excerpt { line: source, before, marked } = excerpt;
    let Marks { sign, label, style, margin, frame } = marks;
    let width = margin.len();
    line(text, &format!("{margin} {frame}|{frame:#}"));
    line(text, &format!("{frame}{:>width$} |{frame:#} {source}", position.line));
    let signs: String = std::iter::repeat_n(*sign, *marked).collect();
    let space = " ".repeat(*before);
    let label = if label.is_empty() { String::new() } else { format!(" {label}") };
    line(text, &format!("{margin} {frame}|{frame:#} {space}{style}{signs}{label}{style:#}"));
}

fn location(file: &str, position: Option<Position>) -> String {
    match position {
        Some(Position { line, column }) => format!("{file}:{line}:{column}"),
        None => file.to_owned(),
    }
}

/// As wide as the longest line number that is shown.
fn margin(position: Option<Position>, also: Option<&Also>) -> String {
    let positions = position.into_iter().chain(also.and_then(|also| also.position));
    let widest = positions.map(|position| position.line.to_string().len()).max().unwrap_or(1);
    " ".repeat(widest)
}

fn line(text: &mut String, content: &str) {
    text.push_str(content.trim_end());
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check_text;

    const TWO_PROBLEMS: &str = "cluster:\n  name: home\n  bootstrap: {token: 'k2m8xq.7h3nd0s5jw9r4t1c'}\nnodes:\n  \
                                - {name: a, ip: 10.0.0.11, roles: [master], hardware: {mac_addresses: ['525400000010']}}\n  \
                                - {name: a, ip: 10.0.0.12, roles: [worker], hardware: {mac_addresses: ['525400000011']}}\n";

    #[test]
    fn plain() {
        insta::assert_snapshot!(report(&check_text(TWO_PROBLEMS).problems, false));
    }

    #[test]
    fn coloured() {
        let coloured = report(&check_text(TWO_PROBLEMS).problems, true);
        insta::assert_snapshot!(coloured.replace('\u{1b}', "ESC"));
    }

    #[test]
    fn json_for_scripts() {
        let checked = check_text(TWO_PROBLEMS);
        insta::assert_snapshot!(serde_json::to_string_pretty(&checked).unwrap());
    }

    #[test]
    fn nothing_to_report() {
        assert_eq!(report(&[], false), "");
    }
}
