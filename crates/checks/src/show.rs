//! Checks and what they found as text for people. The first word of a line says it all; colour is for the edge.

use crate::Check;

/// One line per check: its name, and what `about` says of it.
pub fn list<C>(checks: &[Check<C>], about: impl Fn(&Check<C>) -> String) -> String {
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or_default();
    checks.iter().map(|check| format!("{:width$}  {}\n", check.name, about(check))).collect()
}

/// One finding: a word for it, the column `name`, what was seen, and below that what goes with it.
pub fn entry(word: &str, name: &str, seen: &str, notes: &[String]) -> String {
    let margin = format!("{word:8} {name}").len();
    let mut text = format!("{word:8} {name}{seen}").trim_end().to_owned() + "\n";
    for note in notes {
        text += &format!("{:margin$}{note}\n", "");
    }
    text
}
