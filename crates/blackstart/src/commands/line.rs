//! A line of text in several styles that knows how wide it is.

use crate::{Style, output::painted};

/// A line for a person.
#[derive(Debug, Clone, Default)]
pub(super) struct Line(Vec<(Option<Style>, String)>);

impl Line {
    /// Adds plain text.
    pub(super) fn text(self, text: impl AsRef<str>) -> Self {
        self.add(None, text.as_ref())
    }

    /// Adds text in a style; the words must say it too.
    pub(super) fn styled(self, style: Style, text: impl AsRef<str>) -> Self {
        self.add(Some(style), text.as_ref())
    }

    /// Adds blanks up to a column, at least two.
    pub(super) fn tab(self, column: usize) -> Self {
        let blanks = column.saturating_sub(self.width()).max(2);
        self.add(None, &" ".repeat(blanks))
    }

    fn add(mut self, style: Option<Style>, text: &str) -> Self {
        // Much of it was written by another machine, and must not drive the terminal.
        self.0.push((style, explain::plain(text).into_owned()));
        self
    }

    fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.chars().count()).sum()
    }

    /// As printed, cut to a width if there is one.
    pub(super) fn print(&self, width: Option<usize>, color: bool) -> String {
        let whole = self.width();
        let fits = width.is_none_or(|width| whole <= width);
        let mut left = if fits { whole } else { width.unwrap_or(whole).saturating_sub(1) };
        let mut printed = String::new();
        for (style, text) in &self.0 {
            let part: String = text.chars().take(left).collect();
            left -= part.chars().count();
            match style {
                Some(style) if !part.is_empty() => printed += &painted(color, *style, part),
                _ => printed += &part,
            }
        }
        if fits { printed.trim_end().to_owned() } else { printed + "…" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_the_width_whatever_the_style() {
        let line = Line::default().styled(Style::Good, "ready").tab(8).text("a\u{1b}[2Jb");
        for (width, expected) in [
            (None, "ready   a [2Jb"),
            (Some(14), "ready   a [2Jb"),
            (Some(10), "ready   a…"),
            (Some(3), "re…"),
            (Some(1), "…"),
        ] {
            assert_eq!(line.print(width, false), expected, "{width:?}");
        }
        assert_eq!(line.print(Some(3), true), "\u{1b}[32mre\u{1b}[0m…");
    }
}
