//! The number that chooses which cases are played where there are too many for one run.
//!
//! It follows from the commit that is checked out, so a commit plays the same cases today and tomorrow, and the next commit
//! others. `BLACKSTART_TEST_SEED=N` plays those of another number again. What takes
//! minutes is played by one commit of two or of four (`cases.rs`).

use std::{env, process::Command};

/// Where the seed is given.
pub(crate) const VARIABLE: &str = "BLACKSTART_TEST_SEED";

/// Where there is no git, or no commit.
const WITHOUT_COMMIT: u64 = 1;

/// Seeds are below it: short enough to be typed.
const BOUND: u64 = 100_000;

/// The seed that is asked for, else that of the commit.
pub(crate) fn chosen() -> Result<u64, String> {
    match env::var(VARIABLE) {
        Ok(wanted) => wanted.parse().map_err(|_| format!("{VARIABLE} is not a number: `{wanted}`")),
        Err(_) => Ok(commit().as_deref().and_then(of_commit).unwrap_or(WITHOUT_COMMIT)),
    }
}

/// The commit that is checked out. A user who runs suites as root need not own the checkout.
fn commit() -> Option<String> {
    let here = env!("CARGO_MANIFEST_DIR");
    let output = Command::new("git").args(["-C", here, "-c", "safe.directory=*", "rev-parse", "HEAD"]).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// An id is a hash already: of its first digits, so that even is as frequent as odd.
fn of_commit(id: &str) -> Option<u64> {
    let number = u64::from_str_radix(id.get(..15)?, 16).ok()?;
    Some(number % BOUND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_always_has_the_same_seed() {
        for (commit, expected) in [
            ("d8c26e9b1f0a4c7e8d2b3a5f6c7d8e9f0a1b2c3d\n", Some(28_519)),
            ("05d2674000000000000000000000000000000000\n", Some(52_832)),
            ("05d2674000000010000000000000000000000000\n", Some(52_833)),
            ("", None),
            ("fatal: not a git repository", None),
        ] {
            assert_eq!(of_commit(commit), expected, "{commit}");
        }
    }

    #[test]
    fn seeds_are_of_both_kinds() {
        let digits = "0123456789abcdef".chars();
        let seeds = digits.filter_map(|digit| of_commit(&format!("05d267400000000{digit}")[1..]));
        assert_eq!(seeds.filter(|seed| seed.is_multiple_of(2)).count(), 8);
    }

    #[test]
    fn what_is_checked_out_has_one_seed() {
        assert_eq!(chosen(), chosen());
    }
}
