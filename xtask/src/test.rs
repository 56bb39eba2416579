//! `cargo xtask test`: everything that must be true before a change lands.

use crate::{
    machine,
    run::{self, part, run_with, say},
};

pub(crate) fn run() -> Result<(), String> {
    part("what the tests need", || {
        machine::ensure(machine::TESTS)?;
        machine::ensure_toolchain("component", &["rustfmt", "clippy"])
    })?;
    part("format", || run::run("cargo", &["fmt", "--all", "--check"]))?;
    part("lints", || {
        // The lab suite is left out of plain `cargo test`, and so of `--all-targets` too.
        run::run("cargo", &["clippy", "--package", "blackstart", "--test", "lab", "--locked", "--", "-D", "warnings"])?;
        run::run("cargo", &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])
    })?;
    part("tests", || run::run("cargo", &["test", "--workspace", "--locked"]))?;
    part("docs", || {
        run_with("cargo", &["doc", "--workspace", "--no-deps", "--locked"], &[("RUSTDOCFLAGS", "-D warnings")])
    })?;
    if !machine::is_root() {
        say("the lab suite boots machines and needs root: run `sudo cargo xtask test` for it");
        return Ok(());
    }
    part("base image and components for the lab: long the first time, then kept", || {
        lab(&["up", "--name", "warm", "--masters", "1", "--workers", "0"])?;
        lab(&["destroy", "--name", "warm", "--yes"])
    })?;
    part("lab", || run::run("cargo", &["test", "--package", "blackstart", "--test", "lab", "--locked"]))
}

fn lab(arguments: &[&str]) -> Result<(), String> {
    run::run("cargo", &[&["run", "--quiet", "--locked", "--package", "blackstart", "--", "lab"], arguments].concat())
}
