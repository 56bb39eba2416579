//! There is room for packages and for what is kept of the old ones.

use checks::{Check, Checking, Finding, Inconclusive, Part};

use super::command;
use crate::{codes, drivers::Subject};

/// See [`super`].
pub(super) const CHECK: Check<Subject> = Check::new("space", "/ and /var have 2 GiB free", &[codes::NO_SPACE], check);

/// In KiB.
const LEAST: u64 = 2 << 20;

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async {
        let printed = subject.host.commands.run(&command("df", ["-Pk", "/", "/var"])).await?;
        evaluate(&printed.stdout)
    })
}

/// From `df -Pk`: below the heading a line per directory, the fourth column is what is free, the last where that is.
fn evaluate(df: &str) -> Result<Vec<Finding>, Inconclusive> {
    let mut found = Vec::new();
    for line in df.lines().skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, _, _, free, _, mount] = words[..] else { return Err(Inconclusive(format!("`df` prints `{line}`"))) };
        let free: u64 = free.parse().map_err(|_| Inconclusive(format!("`df` prints `{line}`")))?;
        let message = format!("{} MiB are free in {mount}, and {} are needed", free >> 10, LEAST >> 10);
        let finding = Finding::cause(codes::NO_SPACE, Part::Machine, message);
        // Both may be one file system.
        if free < LEAST && !found.contains(&finding) {
            found.push(finding);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_df_prints() {
        let root = |free: u64| format!("/dev/sda1 65792556 16000000 {free} 25% /\n");
        let var = |free: u64| format!("/dev/sdb1 65792556 16000000 {free} 25% /var\n");
        let heading = "Filesystem 1024-blocks Used Available Capacity Mounted on\n";
        for (lines, expected) in [
            (root(LEAST) + &var(LEAST), vec![]),
            (root(LEAST) + &var(LEAST - 1), vec!["2047 MiB are free in /var, and 2048 are needed"]),
            (root(1024) + &root(1024), vec!["1 MiB are free in /, and 2048 are needed"]),
        ] {
            let found = evaluate(&format!("{heading}{lines}")).unwrap();
            assert_eq!(found.iter().map(|found| found.evidence.as_str()).collect::<Vec<_>>(), expected);
        }
        assert!(evaluate(&format!("{heading}df: /: no\n")).is_err());
    }
}
