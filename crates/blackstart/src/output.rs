//! The one place that prints. Results go to standard output; progress and errors go to standard error.

use std::{
    fmt::Display,
    io::{self, BufRead, IsTerminal, Write},
};

use anstyle::AnsiColor;
use explain::Diagnostic;
use serde::Serialize;
use serde_json::json;

use crate::{
    Failure,
    cli::{Color, Form, Global},
    codes,
};

/// How a piece of text is meant; the words must say it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// All is well.
    Good,
    /// Worth a check.
    Warning,
    /// Wrong.
    Bad,
    /// A heading.
    Strong,
    /// Of less weight.
    Dim,
}

/// Where and how results are printed.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    form: Form,
    color: bool,
    color_errors: bool,
}

impl Output {
    /// As the options and the terminal say.
    pub fn new(global: &Global) -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let color = |terminal: bool| match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && !no_color,
        };
        Self {
            form: global.output,
            color: color(io::stdout().is_terminal()),
            color_errors: color(io::stderr().is_terminal()),
        }
    }

    /// True where a script reads the result.
    pub fn is_json(self) -> bool {
        self.form == Form::Json
    }

    /// True where the result is wanted as a picture.
    pub fn is_svg(self) -> bool {
        self.form == Form::Svg
    }

    /// Whether results are coloured.
    pub fn color(self) -> bool {
        self.color
    }

    /// Whether progress and errors are coloured.
    pub fn color_errors(self) -> bool {
        self.color_errors
    }

    /// Prints a result for people. Much of it comes from other machines, and must not drive the terminal: of what is not to be
    /// read only ends of lines, tabs and our own colours get through.
    pub fn text(self, text: &str) -> Result<(), Failure> {
        print(harmless(text).as_bytes())
    }

    /// Prints a result for scripts.
    pub fn json(self, value: &impl Serialize) -> Result<(), Failure> {
        let mut text =
            serde_json::to_vec_pretty(value).map_err(|error| Failure::new(codes::CANNOT_PRINT, error.to_string()))?;
        text.push(b'\n');
        print(&text)
    }

    /// Prints an error, once, where the program ends.
    pub fn failure(self, failure: &Failure) {
        let Diagnostic { code, message, hint } = &failure.diagnostic;
        let text = if self.is_json() {
            format!("{}\n", json!({ "error": failure.diagnostic }))
        } else {
            let error = painted(self.color_errors, Style::Bad, "error");
            let hint_word = painted(self.color_errors, Style::Strong, "hint");
            harmless(&format!("{error}[{code}]: {message}\n  {hint_word}: {hint}\n"))
        };
        note(&text);
    }
}

/// Text without whatever could do more to a terminal than lines, tabs and colours.
fn harmless(text: &str) -> String {
    let mut rest = text;
    let mut shown = String::with_capacity(text.len());
    while let Some(at) = rest.find(['\n', '\t', '\u{1b}']) {
        shown += &explain::plain(&rest[..at]);
        let length = if rest[at..].starts_with('\u{1b}') { colour(&rest[at..]) } else { 1 };
        match length {
            0 => shown.push(' '),
            length => shown += &rest[at..at + length],
        }
        rest = &rest[at + length.max(1)..];
    }
    shown + &explain::plain(rest)
}

/// How long the sequence is that a text begins with, if all it does is to choose a colour.
fn colour(text: &str) -> usize {
    let Some(numbers) = text.strip_prefix("\u{1b}[") else { return 0 };
    let end = numbers.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
    if numbers[end..].starts_with('m') && end <= 8 { end + 3 } else { 0 }
}

/// Text in a colour, if colours are wanted.
pub(crate) fn painted(color: bool, style: Style, text: impl Display) -> String {
    if !color {
        return text.to_string();
    }
    let style = match style {
        Style::Good => AnsiColor::Green.on_default(),
        Style::Warning => AnsiColor::Yellow.on_default(),
        Style::Bad => AnsiColor::Red.on_default().bold(),
        Style::Strong => anstyle::Style::new().bold(),
        Style::Dim => anstyle::Style::new().dimmed(),
    };
    format!("{style}{text}{style:#}")
}

/// How many characters fit into a line of the result.
pub(crate) fn width() -> usize {
    const WHERE_THERE_IS_NO_TERMINAL: usize = 100;
    terminal_size::terminal_size_of(io::stdout()).map_or(WHERE_THERE_IS_NO_TERMINAL, |(width, _)| width.0.into())
}

/// Asks before something is changed or lost.
pub(crate) fn confirm(yes: bool, question: &str) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(codes::NOT_CONFIRMED, "stdin is not a terminal; pass --yes"));
    }
    note(&format!("{question} Type `yes`: "));
    let mut answer = String::new();
    match io::stdin().lock().read_line(&mut answer) {
        Ok(_) if answer.trim() == "yes" => Ok(()),
        _ => Err(Failure::new(codes::DECLINED, "not confirmed, nothing was changed")),
    }
}

/// Writes to standard error. If that fails, there is no place left to report it.
pub(crate) fn note(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes to standard output. A reader that has seen enough (`| head`) is no error.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    print_to_reader(bytes).map(drop)
}

/// The same, for what has no end of its own: false once the reader is gone.
pub(crate) fn print_to_reader(bytes: &[u8]) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::new(codes::CANNOT_PRINT, format!("cannot write to standard output: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_tabs_and_colours_get_to_the_terminal() {
        let ours = format!("NODE\tSTATE\n{} größer\n", painted(true, Style::Bad, "failed"));
        assert_eq!(harmless(&ours), ours);
        for (text, expected) in [
            ("\u{1b}[2Jgone", " [2Jgone"),
            ("\u{1b}]0;title\u{7}", " ]0;title "),
            ("over\rwritten", "over written"),
            ("\u{9b}2J \u{202e}x", " 2J  x"),
            ("\u{1b}", " "),
            ("\u{1b}[31", " [31"),
            ("\u{1b}[31mred\u{1b}[0m", "\u{1b}[31mred\u{1b}[0m"),
        ] {
            assert_eq!(harmless(text), expected, "{text:?}");
        }
    }
}
