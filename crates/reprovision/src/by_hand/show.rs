//! What was found by hand, for people.

use checks::show::entry;
use explain::{counted, plain};

use super::Preflight;

/// All problems with their codes, or what the node would become.
pub fn show(found: &Preflight) -> String {
    let mut text = String::new();
    for problem in &found.problems {
        let fix: Vec<String> =
            (!problem.hint.is_empty()).then(|| format!("fix: {}", plain(&problem.hint))).into_iter().collect();
        text += &entry("problem", &format!("{} ", problem.code), &plain(&problem.message), &fix);
    }
    for warning in &found.warnings {
        text += &entry("warning", "", &plain(warning), &[]);
    }
    let seen = |key: &str| found.described.get(key).map_or("?", String::as_str);
    if !found.described.is_empty() {
        text += &format!("from {}\nto   {}\n", plain(seen("from")), plain(seen("to")));
    }
    text += &match found.problems.len() {
        0 => "nothing is in the way; nothing was changed\n".to_owned(),
        count => format!("{}: the node would be refused; nothing was changed\n", counted(count, "problem")),
    };
    text
}

#[cfg(test)]
mod tests {
    use explain::Diagnostic;

    use super::*;

    #[test]
    fn all_problems_with_their_codes_or_what_it_would_become() {
        let problem = |code: &str, message: &str, hint: &str| Diagnostic {
            code: code.into(),
            message: message.into(),
            hint: hint.into(),
        };
        let described = [("from", "kernel 5.14, dnf transaction 7"), ("to", "4.18"), ("target", "sha256:ab")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        let bad = Preflight {
            problems: vec![
                problem("BS-IPB-060", "the bootstrap API answers 401: it refuses the token", "create the Secret again"),
                problem("BS-IPB-018", "mirrors: `dnf` is \u{1b}[31mgone", ""),
            ],
            warnings: vec!["dnf-automatic.timer is active".to_owned()],
            described: [].into(),
        };
        let good = Preflight { problems: Vec::new(), warnings: Vec::new(), described: described.into() };
        insta::assert_snapshot!([bad, good].map(|found| show(&found)).join("---\n"));
    }
}
