//! The source line around a place, fit to be printed: one line, not too long, no control characters, no secrets.

use crate::{location::Span, problem::Excerpt, secret};

/// Longest line shown, in characters; longer ones are cut around the marked text.
const MAX_LINE: usize = 120;
/// Characters kept in front of the marked text when a line is cut.
const KEEP_BEFORE: usize = 40;
/// How far to look for the ends of a line: no shown line is longer, whatever its characters.
const WINDOW_BYTES: usize = 4 * MAX_LINE;
/// Longest offending text shown, in characters.
const MAX_TEXT: usize = 60;

/// The text of a span; empty if the span does not fit the text.
pub(crate) fn slice(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize).unwrap_or_default()
}

/// The text of a span for showing: its first line, shortened, without control characters and secrets.
pub(crate) fn shortened(text: &str, span: Span) -> String {
    let start = slice(text, span);
    let start = &start[..start.floor_char_boundary(WINDOW_BYTES)];
    let first_line = start.lines().next().unwrap_or_default();
    quoted_part(&secret::masked(first_line))
}

/// Text a user typed, cut to a length that fits a message and without control characters.
pub(crate) fn quoted_part(text: &str) -> String {
    let mut part: String = text.chars().take(MAX_TEXT).map(printable).collect();
    if text.chars().nth(MAX_TEXT).is_some() {
        part.push('…');
    }
    part
}

/// The source line around a span. Marks end with the line.
pub(crate) fn around(text: &str, span: Span) -> Excerpt {
    let start = text.floor_char_boundary(span.start as usize);
    // A line of 16 MiB must not be searched once per problem.
    let window_start = text.floor_char_boundary(start.saturating_sub(WINDOW_BYTES));
    let window_end = text.floor_char_boundary(start + WINDOW_BYTES);
    let line_start = text[window_start..start].rfind(is_line_end).map_or(window_start, |at| window_start + at + 1);
    let line_end = text[start..window_end].find(is_line_end).map_or(window_end, |at| start + at);
    let marked_end = text.floor_char_boundary(span.end as usize).clamp(start, line_end);

    let line: String = secret::masked_line(&text[line_start..line_end]).chars().map(printable).collect();
    let before = text[line_start..start].chars().count();
    let marked = text[start..marked_end].chars().count();
    shorten(&line, before, marked)
}

/// The excerpt with the marked characters masked.
pub(crate) fn hidden(Excerpt { line, before, marked }: &Excerpt) -> Excerpt {
    let marks = *before..before + marked;
    let hide = |(index, character)| if marks.contains(&index) { '*' } else { character };
    Excerpt { line: line.chars().enumerate().map(hide).collect(), before: *before, marked: *marked }
}

fn shorten(line: &str, before: usize, marked: usize) -> Excerpt {
    let length = line.chars().count();
    let skip = if length > MAX_LINE && before > KEEP_BEFORE { before - KEEP_BEFORE } else { 0 };
    let mut shown: String = line.chars().skip(skip).take(MAX_LINE).collect();
    if skip > 0 {
        shown.replace_range(..shown.chars().next().map_or(0, char::len_utf8), "…");
    }
    if length > skip + MAX_LINE {
        shown.push('…');
    }
    let before = before - skip;
    Excerpt {
        line: shown.trim_end().to_owned(),
        before,
        marked: marked.clamp(1, MAX_LINE.saturating_sub(before).max(1)),
    }
}

fn printable(character: char) -> char {
    match character {
        '\t' => '→',
        control if control.is_control() => '\u{fffd}',
        other => other,
    }
}

fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span_of(text: &str, part: &str) -> Span {
        let start = u32::try_from(text.find(part).unwrap()).unwrap();
        Span { start, end: start + u32::try_from(part.len()).unwrap(), line: 1, column: 1 }
    }

    #[test]
    fn the_line_and_the_marks() {
        for (text, part, line, before, marked) in [
            ("a: 1\nb: two\nc: 3\n", "two", "b: two", 3, 3),
            ("a: 1\r\nb: two\r\n", "two", "b: two", 3, 3),
            ("ä: ö\n", "ö", "ä: ö", 3, 1),
            ("\tx: 1", "\t", "→x: 1", 0, 1),
            ("a: 'x\n  y'", "'x\n  y'", "a: 'x", 3, 2),
            ("a: \u{1b}[31mred", "red", "a: \u{fffd}[31mred", 8, 3),
        ] {
            assert_eq!(around(text, span_of(text, part)), Excerpt { line: line.into(), before, marked }, "{text:?}");
        }
    }

    #[test]
    fn a_long_line_is_cut_around_the_marks() {
        let text = format!("{}HERE{}", "x".repeat(100_000), "y".repeat(100_000));
        let excerpt = around(&text, span_of(&text, "HERE"));
        let shown: String = excerpt.line.chars().skip(excerpt.before).take(excerpt.marked).collect();
        assert_eq!(shown, "HERE");
        assert!(excerpt.line.chars().count() <= MAX_LINE + 1);
    }

    #[test]
    fn marks_of_a_long_value_stay_in_the_line() {
        let text = "z".repeat(5_000);
        let excerpt = around(&text, Span { start: 0, end: 5_000, line: 1, column: 1 });
        assert_eq!(excerpt.marked, MAX_LINE);
    }
}
