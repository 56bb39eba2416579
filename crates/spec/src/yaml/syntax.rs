//! The library's syntax errors in words that help: the usual causes of each, and tabs before all else.

use granit_parser::{ErrorKind, Marker, ScanError};

use super::limits;
use crate::{
    codes,
    location::{FileId, Location, Span},
    problems::Finding,
};

/// A syntax error as a finding.
pub(super) fn finding(error: &ScanError, file: FileId, text: &str) -> Finding {
    let marker = error.marker();
    let location = Location { file, span: Some(span(marker, marker)) };
    if *error.kind() == ErrorKind::RecursionLimitExceeded {
        return too_deep(location);
    }
    // A tab in front of a line breaks the structure somewhere behind it, so what the library reports is a symptom.
    if let Some(tab) = first_tab_in_indentation(text, marker.line()) {
        let location = Location { file, span: Some(tab) };
        return Finding::error(codes::TABS, location, "this line is indented with a tab");
    }
    let (message, hint) = explain(error);
    Finding::error(codes::SYNTAX, location, message).hint(hint.map(str::to_owned))
}

/// Our own span from the library's markers, whose columns begin at 0.
pub(super) fn span(start: &Marker, end: &Marker) -> Span {
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    let offset = |marker: &Marker| number(marker.byte_offset().unwrap_or_default());
    Span {
        start: offset(start),
        end: offset(end),
        line: number(start.line()),
        column: number(start.col()).saturating_add(1),
    }
}

/// More nesting than any description needs.
pub(super) fn too_deep(location: Location) -> Finding {
    let message = format!("lists and mappings are nested more than {} deep", limits::DEPTH);
    Finding::error(codes::TOO_COMPLEX, location, message)
}

fn explain(error: &ScanError) -> (String, Option<&'static str>) {
    match error.kind() {
        ErrorKind::UnclosedQuotedScalar | ErrorKind::InvalidQuotedScalarIndent => (
            "a quote is opened and never closed before this line".into(),
            Some("close the quote on the line where it is opened"),
        ),
        ErrorKind::UnclosedFlowCollection { open } => {
            (format!("a `{open}` is opened and never closed"), Some("close the bracket"))
        }
        ErrorKind::UnexpectedEofFlowSequence => {
            ("a `[` is opened and never closed".into(), Some("add the missing `]`"))
        }
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            ("a `{` is opened and never closed".into(), Some("add the missing `}`"))
        }
        ErrorKind::MappingValueNotAllowed => (
            "a `:` is not possible here".into(),
            Some("check the indentation of this line and the one above; a value that holds `: ` needs quotes"),
        ),
        ErrorKind::SimpleKeyExpected | ErrorKind::ExpectedBlockMappingKey | ErrorKind::InvalidSimpleKey => (
            "a `key: value` was expected here".into(),
            Some("check for a missing `:` (and the space behind it) and the indentation of this line"),
        ),
        ErrorKind::InvalidIndentation
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::BlockSequenceEntryNotAllowed => (
            "the indentation does not fit the lines above".into(),
            Some(
                "give keys of one mapping, and the dashes of one list, the same indentation; or close a bracket further up",
            ),
        ),
        ErrorKind::UnknownAnchor => (
            "this alias refers to an anchor that does not exist".into(),
            Some("define the anchor (`&name`) further up"),
        ),
        ErrorKind::UnexpectedCharacter { character } => {
            (format!("a value cannot begin with `{}`", character.escape_default()), Some("put the value in quotes"))
        }
        other => (format!("this is not valid YAML: {other}"), None),
    }
}

/// The first tab that stands in a line's indentation, up to the line behind the error: a value that goes on in an
/// indented line is reported where it begins.
fn first_tab_in_indentation(text: &str, last_line: usize) -> Option<Span> {
    let mut start = 0;
    for (index, line) in text.split_inclusive('\n').enumerate().take(last_line + 1) {
        let indentation = line.len() - line.trim_start_matches([' ', '\t']).len();
        let blank = line.trim().is_empty() || line.trim_start().starts_with('#');
        if let Some(tab) = line[..indentation].find('\t').filter(|_| !blank) {
            let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
            return Some(Span {
                start: number(start + tab),
                end: number(start + indentation),
                line: number(index + 1),
                column: number(tab + 1),
            });
        }
        start += line.len();
    }
    None
}
