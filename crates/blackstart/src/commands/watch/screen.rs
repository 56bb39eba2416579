//! A picture on a terminal that is drawn over itself.
//!
//! The alternate screen is used, so that a change of the terminal's size or a long picture leaves no traces; when the
//! screen is left, whatever was there before is back. One write per picture: nothing flickers.

use std::io::{self, Write};

use terminal_size::{Height, Width, terminal_size};

use crate::commands::line::Line;

const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l";
const LEAVE: &str = "\u{1b}[?25h\u{1b}[?1049l";
const HOME: &str = "\u{1b}[H";
const CLEAR_LINE: &str = "\u{1b}[K";
const CLEAR_BELOW: &str = "\u{1b}[J";

/// The terminal, until this is dropped.
pub(super) struct Screen {
    color: bool,
}

impl Screen {
    /// Takes the terminal over.
    pub(super) fn enter(color: bool) -> Self {
        write(ENTER);
        Self { color }
    }

    /// Shows a picture, made for the terminal's width, in place of the last one.
    pub(super) fn draw(&self, lines: impl FnOnce(usize) -> Vec<Line>) {
        let (Width(width), Height(height)) = terminal_size().unwrap_or((Width(80), Height(24)));
        write(&picture(&lines(width.into()), width.into(), height.into(), self.color));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        write(LEAVE);
    }
}

/// What is written for a picture on a terminal of this size.
fn picture(lines: &[Line], width: usize, height: usize, color: bool) -> String {
    let whole = lines.len() <= height;
    let shown = if whole { lines.len() } else { height.saturating_sub(1) };
    let mut printed: Vec<String> = lines.iter().take(shown).map(|line| line.print(Some(width), color)).collect();
    if !whole {
        let more = format!("… {} more lines: `--once` prints all", lines.len() - shown);
        printed.push(Line::default().text(more).print(Some(width), color));
    }
    // No line feed behind the last line: it would scroll a picture that fills the terminal.
    format!("{HOME}{}{CLEAR_LINE}{CLEAR_BELOW}", printed.join(&format!("{CLEAR_LINE}\r\n")))
}

/// The terminal may be gone; then the signal that follows ends the program.
fn write(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_fits_its_terminal() {
        let lines: Vec<Line> = (1..=5).map(|number| Line::default().text(format!("line number {number}"))).collect();
        let shown =
            |width, height| picture(&lines, width, height, false).replace('\u{1b}', "ESC").replace("\r\n", "\n");
        insta::assert_snapshot!(format!("{}\n---\n{}", shown(80, 5), shown(10, 3)));
    }
}
