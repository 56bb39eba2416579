//! `cargo xtask test`: everything that must be true before a change lands.

use crate::{
    machine,
    run::{self, part, run_with, say},
};

/// How much of the suites that have more cases than anybody waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// A few, others every day.
    Sample,
    /// Every one.
    Full,
}

pub(crate) fn run(extent: Extent) -> Result<(), String> {
    part("what the tests need", || {
        machine::ensure(machine::TESTS)?;
        machine::ensure_toolchain("component", &["rustfmt", "clippy"])
    })?;
    part("format", || run::run("cargo", &["fmt", "--all", "--check"]))?;
    part("lints", || {
        // What needs machines is left out of plain `cargo test` and `cargo bench`, and so of `--all-targets` too.
        let suites =
            ["--test", "lab", "--test", "cluster", "--test", "recovery", "--bench", "lab-boot", "--bench", "cluster"];
        run::run(
            "cargo",
            &[&["clippy", "--package", "blackstart"], &suites[..], &["--locked", "--", "-D", "warnings"]].concat(),
        )?;
        run::run("cargo", &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])
    })?;
    part("tests", || run::run("cargo", &["test", "--workspace", "--locked"]))?;
    part("docs", || {
        run_with("cargo", &["doc", "--workspace", "--no-deps", "--locked"], &[("RUSTDOCFLAGS", "-D warnings")])
    })?;
    if !machine::is_root() {
        say(
            "the suites `lab`, `cluster` and `recovery` boot machines and need root: run `sudo cargo xtask test` for them",
        );
        return Ok(());
    }
    part("base image and components for the lab: long the first time, then kept", || {
        lab(&["up", "--name", "warm", "--masters", "1", "--workers", "0", "--machines-only"])?;
        lab(&["destroy", "--name", "warm", "--yes"])
    })?;
    part("lab", || suite("lab"))?;
    part("cluster", || suite("cluster"))?;
    part("recovery", || recovery(extent))
}

/// A suite that boots machines.
fn suite(name: &str) -> Result<(), String> {
    run::run("cargo", &["test", "--package", "blackstart", "--test", name, "--locked"])
}

/// Killed at steps of a bootstrap; its output tells at which, and how many recovered.
fn recovery(extent: Extent) -> Result<(), String> {
    let arguments = ["test", "--package", "blackstart", "--test", "recovery", "--locked", "--", "--nocapture"];
    let extent: &[_] = if extent == Extent::Full { &[("BLACKSTART_RECOVERY", "full")] } else { &[] };
    run_with("cargo", &arguments, extent)
}

fn lab(arguments: &[&str]) -> Result<(), String> {
    run::run("cargo", &[&["run", "--quiet", "--locked", "--package", "blackstart", "--", "lab"], arguments].concat())
}
