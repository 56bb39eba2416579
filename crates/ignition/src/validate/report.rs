//! Problems as text for a terminal.

use explain::{Diagnostic, counted};

use super::Problem;

/// All problems, and a last line that counts them. Empty if there is nothing to report.
pub fn report(problems: &[Problem]) -> String {
    if problems.is_empty() {
        return String::new();
    }
    let one = |problem: &Problem| {
        let Problem { diagnostic: Diagnostic { code, message, hint }, file, line, column } = problem;
        let location = if *line == 0 { file.clone() } else { format!("{file}:{line}:{column}") };
        format!("error[{code}]: {message}\n --> {location}\n  = hint: {hint}\n\n")
    };
    problems.iter().map(one).collect::<String>() + &counted(problems.len(), "error") + "\n"
}
