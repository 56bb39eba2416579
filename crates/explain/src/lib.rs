//! Stable codes for everything that can go wrong, the one way to print an error, and words that all messages share.
//!
//! A code is a constant: its id never changes its meaning, because people search for it. Each crate declares its
//! codes in one list with [`codes!`]; `docs/reference/codes.md` is generated from those lists. To add one: a new line
//! in the crate's `codes.rs`, with the next free number.

mod diagnostic;

use std::{borrow::Cow, error::Error};

pub use diagnostic::{Diagnostic, Message};

/// A stable code: what it means, and what a person does about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// For example `BS-LEDGER-003`.
    pub id: &'static str,
    /// What was found, in one line, without details of the case.
    pub meaning: &'static str,
    /// What to do about it.
    pub fix: &'static str,
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

/// An error that carries its code, so that the edge can print it and scripts can match it.
///
/// `Display` says what was being done, to what, and what was seen; it never repeats its source.
pub trait Explain: Error {
    /// The stable code.
    fn code(&self) -> Code;

    /// What to do in this very case, where that is more than the code's own `fix`.
    fn hint(&self) -> Option<String> {
        None
    }

    /// What is advised: the hint for this case, else the code's own `fix`.
    fn advice(&self) -> String {
        self.hint().unwrap_or_else(|| self.code().fix.to_owned())
    }

    /// All of it as the one value that is shown, recorded and sent.
    fn diagnostic(&self) -> Diagnostic {
        Diagnostic { code: self.code(), message: chained(self), hint: self.advice() }
    }
}

/// Declares the codes of a crate as constants, and `ALL` as the list of them.
#[macro_export]
macro_rules! codes {
    ($( $name:ident = $id:literal, $meaning:literal, $fix:literal; )*) => {
        $(
            #[doc = concat!("`", $id, "`: ", $meaning, ".")]
            pub const $name: $crate::Code = $crate::Code { id: $id, meaning: $meaning, fix: $fix };
        )*
        /// All codes of this crate, in the order of their declaration.
        pub const ALL: &[$crate::Code] = &[$($name),*];
    };
}

/// Text of another machine, fit for a terminal and a log: whatever could move the cursor, change colours, turn the direction of
/// writing or begin a line of its own is a space.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_unprintable) {
        Cow::Owned(text.chars().map(|character| if is_unprintable(character) { ' ' } else { character }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Control characters, and those that only change how others are shown.
fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// The error and its sources on one line: `what: why: the cause of that`.
pub fn chain(error: &dyn Error) -> String {
    chained(error)
}

fn chained<E: Error + ?Sized>(error: &E) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// `1 node`, `3 nodes`.
pub fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// The candidate a person most likely meant, if one is near enough to say so.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let allowed = 1 + word.chars().count() / 4;
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&word, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_near_or_not_made() {
        let roles = ["master", "control-plane", "worker", "ceph-mon"];
        for (word, expected) in [
            ("mastre", Some("master")),
            ("Worker", Some("worker")),
            ("control_plane", Some("control-plane")),
            ("cephmon", Some("ceph-mon")),
            ("database", None),
            ("", None),
        ] {
            assert_eq!(did_you_mean(word, roles), expected, "{word}");
        }
    }

    #[test]
    fn one_is_singular_and_nothing_else_is() {
        assert_eq!([0, 1, 2].map(|number| counted(number, "node")), ["0 nodes", "1 node", "2 nodes"]);
    }

    #[test]
    fn what_another_machine_says_cannot_drive_the_terminal() {
        for (text, expected) in [
            ("worker-01: größer, 日本", "worker-01: größer, 日本"),
            ("\u{1b}[31mred\r\nnext", " [31mred  next"),
            ("c1 \u{9b}31m bell \u{7}", "c1  31m bell  "),
            ("right to left \u{202e}txt.exe \u{2066}x\u{2069}", "right to left  txt.exe  x "),
            ("hidden \u{200b}\u{feff}\u{e0041}", "hidden    "),
        ] {
            assert_eq!(plain(text), expected, "{text:?}");
        }
        assert!(matches!(plain("as it is"), Cow::Borrowed(_)));
    }

    #[test]
    fn the_chain_is_on_one_line() {
        #[derive(Debug)]
        struct Outer(std::io::Error);
        impl std::fmt::Display for Outer {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("reading the ledger")
            }
        }
        impl Error for Outer {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.0)
            }
        }
        let error = Outer(std::io::Error::other("disk on fire"));
        assert_eq!(chain(&error), "reading the ledger: disk on fire");
    }
}
