//! The chores of the project, so that nobody has to remember them: `cargo xtask` lists them.
//!
//! Everything a fresh Debian machine lacks is installed here, when it is needed and not before. It has no
//! dependencies, so that it builds in a second.

mod bench;
mod dist;
mod machine;
mod run;
mod test;

use std::process::ExitCode;

use test::Extent;

const USAGE: &str = "\
cargo xtask test             install what is missing, then check format, lints, all tests and docs
cargo xtask test --full      the same, and every case of the suites that otherwise play a few: hours
cargo xtask lint             only format, lints and docs: in a minute or two, before every commit
cargo xtask dist             build the release: one static file, with its man pages and completions
cargo xtask bench cluster    measure beside kubeadm how fast machines become a cluster; --rounds N, --only one|five|many
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["test"] => test::run(Extent::Sample),
        ["test", "--full"] => test::run(Extent::Full),
        ["lint"] => test::lint(),
        ["dist"] => dist::run(),
        ["bench", "cluster", ref options @ ..] => bench::cluster(options),
        _ => Err(format!("usage:\n{USAGE}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            run::say(&message);
            ExitCode::FAILURE
        }
    }
}
