//! The chores of the project, so that they need not be remembered: `cargo xtask` lists them.
//!
//! Everything a fresh Debian machine lacks is installed here, when it is needed and not before. It has no
//! dependencies, so that it builds in a second.

mod bench;
mod dist;
mod lanes;
mod machine;
mod run;
#[path = "../../tests/support/seed.rs"]
mod seed;
mod test;

use std::process::ExitCode;

use test::Choice;

const USAGE: &str = "\
cargo xtask test             install what is missing, then check format, lints, all tests and docs
cargo xtask test --full      the same, and every case of the suites that otherwise play a few: hours
cargo xtask test --seed N    the same cases as a run that printed BLACKSTART_TEST_SEED=N; otherwise the commit chooses
cargo xtask lint             only format, lints and docs: in a minute or two, before every commit
cargo xtask unit             only the tests that need no machines
cargo xtask suite NAME...    only these suites on machines, two at a time, as root; --full and --seed N as above
cargo xtask dist             build the release: one static file, with its man pages and completions
cargo xtask bench cluster    measure beside kubeadm how fast machines become a cluster; --rounds N, --only one|five|many
cargo xtask bench pivot      measure a bootstrap node beside a plain bootstrap of the same masters; --rounds N
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            run::say(&message);
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), String> {
    match *arguments {
        ["lint"] => test::lint(),
        ["dist"] => dist::run(),
        ["bench", "cluster", ref options @ ..] => bench::cluster(options),
        ["bench", "pivot", ref options @ ..] => bench::cluster(&[&["--only", "pivot"], options].concat()),
        ["test", ref options @ ..] => match Choice::read(options)? {
            (choice, names) if names.is_empty() => test::run(choice),
            _ => Err(usage()),
        },
        ["unit", ref options @ ..] => match Choice::read(options)? {
            (choice, names) if names.is_empty() => test::unit(choice),
            _ => Err(usage()),
        },
        ["suite", ref options @ ..] => match Choice::read(options)? {
            (_, names) if names.is_empty() => Err(usage()),
            (choice, names) => test::suites(&names, choice),
        },
        _ => Err(usage()),
    }
}

fn usage() -> String {
    format!("usage:\n{USAGE}suites: {}", test::SUITES.join(" "))
}
