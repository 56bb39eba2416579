//! `cargo xtask test`: everything that must be true before a change lands.

use crate::{
    machine,
    run::{self, part, run_with, say},
};

/// The suites that boot machines, each named for what it proves, in the order of what they stand on.
const SUITES: &[&str] =
    &["lab", "cluster", "security", "ha", "backup", "diagnose", "reset", "faults", "recovery", "ceph", "prep"];

/// How much of the suites that have more cases than anybody waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// A few, others every day.
    Sample,
    /// Every one.
    Full,
}

pub(crate) fn run(extent: Extent) -> Result<(), String> {
    part("what the tests need", || machine::ensure(machine::TESTS))?;
    lint()?;
    part("tests", || run::run("cargo", &["test", "--workspace", "--locked"]))?;
    if !machine::is_root() {
        let suites = SUITES.join(", ");
        say(&format!("the suites {suites} boot machines and need root: run `sudo cargo xtask test` for them"));
        return Ok(());
    }
    part("base image, components and Ceph for the lab: long the first time, then kept", || {
        lab(&["up", "--name", "warm", "--masters", "1", "--workers", "0", "--machines-only", "--ceph"])?;
        lab(&["destroy", "--name", "warm", "--yes"])
    })?;
    SUITES.iter().try_for_each(|name| part(name, || suite(name, extent)))
}

/// `cargo xtask lint`: what can be told by reading alone, before every commit.
pub(crate) fn lint() -> Result<(), String> {
    machine::ensure_toolchain("component", &["rustfmt", "clippy"])?;
    part("format", || run::run("cargo", &["fmt", "--all", "--check"]))?;
    part("lints", || {
        // What needs machines is left out of plain `cargo test` and `cargo bench`, and so of `--all-targets` too.
        let suites = SUITES.iter().flat_map(|suite| ["--test", *suite]);
        let benches = ["--bench", "lab-boot", "--bench", "cluster"];
        let named: Vec<&str> = suites.chain(benches).collect();
        for targets in [&["--all-targets"], &named[..]] {
            let all = ["clippy", "--workspace", "--locked"];
            run::run("cargo", &[&all, targets, &["--", "-D", "warnings"]].concat())?;
        }
        Ok(())
    })?;
    part("docs", || {
        run_with("cargo", &["doc", "--workspace", "--no-deps", "--locked"], &[("RUSTDOCFLAGS", "-D warnings")])
    })
}

/// A suite that boots machines. Those with many cases tell on the way which one they are at.
fn suite(name: &str, extent: Extent) -> Result<(), String> {
    // Of the whole workspace: naming the package would choose other features of the dependencies, and compile them again.
    let mut arguments = vec!["test", "--workspace", "--test", name, "--locked", "--", "--nocapture"];
    if extent == Extent::Full {
        arguments.push("--include-ignored");
    }
    let full: &[_] =
        if extent == Extent::Full { &[("BLACKSTART_TEST_FULL", "1"), ("BLACKSTART_RECOVERY", "full")] } else { &[] };
    run_with("cargo", &arguments, full)
}

/// With the program that the tests have made: `cargo run` would compile another, with other features.
fn lab(arguments: &[&str]) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| format!("cannot tell where this program is: {error}"))?;
    run::run(&own.with_file_name("blackstart").to_string_lossy(), &[&["lab"], arguments].concat())
}
