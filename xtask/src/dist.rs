//! `cargo xtask dist`: what is shipped.

use std::{fs, path::Path};

use crate::{
    machine,
    run::{self, output, part, run_with, say},
};

const TARGET: &str = "x86_64-unknown-linux-musl";

pub(crate) fn run() -> Result<(), String> {
    part("what the release needs", || {
        machine::ensure(machine::DIST)?;
        machine::ensure_toolchain("target", &[TARGET])
    })?;
    part("build", || {
        let arguments = ["build", "--locked", "--profile", "dist", "--target", TARGET, "--package", "blackstart"];
        run_with("cargo", &arguments, &[("SOURCE_DATE_EPOCH", date_of_the_source()?)])
    })?;
    let built = format!("target/{TARGET}/dist/blackstart");
    part("check", || {
        let binary = fs::read(&built).map_err(|error| format!("cannot read {built}: {error}"))?;
        is_static(&binary).and_then(|()| is_harmless(&binary)).map_err(|why| format!("{built} {why}"))
    })?;
    let dist = Path::new("target/dist-files");
    part("man pages and completions", || extras(&built, dist))?;
    let size = fs::copy(&built, dist.join("blackstart")).map_err(|error| format!("cannot copy {built}: {error}"))?;
    say(&format!("{}: {:.1} MB, static, stripped", dist.join("blackstart").display(), megabytes(size)));
    Ok(())
}

/// The date that goes into the program: a clock before it is plainly wrong. That of the last commit, so that the same
/// source gives the same file; packagers may set their own.
fn date_of_the_source() -> Result<String, String> {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok();
    given
        .or_else(|| output("git", &["log", "-1", "--format=%ct"]))
        .map(|seconds| seconds.trim().to_owned())
        .ok_or_else(|| "cannot find the date of the source: set SOURCE_DATE_EPOCH, or build from a git checkout".into())
}

/// A static file has no program interpreter that would load libraries for it.
fn is_static(binary: &[u8]) -> Result<(), String> {
    let is_dynamic = contains(binary, "/ld-linux") || contains(binary, "/ld-musl");
    if is_dynamic { Err("is not static".into()) } else { Ok(()) }
}

/// What the tests of recovery break a run with is in debug builds only.
fn is_harmless(binary: &[u8]) -> Result<(), String> {
    let variables = ["BLACKSTART_FAULT", "BLACKSTART_CLOCK"];
    match variables.into_iter().find(|variable| contains(binary, variable)) {
        Some(variable) => Err(format!("can be broken by {variable}, which only a debug build may know")),
        None => Ok(()),
    }
}

fn contains(binary: &[u8], text: &str) -> bool {
    binary.windows(text.len()).any(|window| window == text.as_bytes())
}

fn extras(program: &str, dist: &Path) -> Result<(), String> {
    let man = dist.join("man1");
    let completions = dist.join("completions");
    for dir in [&man, &completions] {
        fs::create_dir_all(dir).map_err(|error| format!("cannot create {}: {error}", dir.display()))?;
    }
    run::run(program, &["man", &man.to_string_lossy()])?;
    for shell in ["bash", "zsh", "fish"] {
        let script = output(program, &["completions", shell]).ok_or(format!("no completions for {shell}"))?;
        let path = completions.join(format!("blackstart.{shell}"));
        fs::write(&path, script).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
