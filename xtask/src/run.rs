//! Runs commands and says what is being done and how long it took.

use std::{
    io::{self, Write},
    process::Command,
    time::Instant,
};

/// Says a line.
pub(crate) fn say(text: &str) {
    // Whoever closed the pipe does not want to hear it.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Runs a part of a chore, with its name before and its time after it.
pub(crate) fn part(name: &str, work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    say(&format!("==> {name}"));
    let started = Instant::now();
    work()?;
    say(&format!("==> {name}: {:.0} s", started.elapsed().as_secs_f64()));
    Ok(())
}

/// Runs a command to its end; its output goes where ours goes.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    run_with(program, arguments, &[])
}

/// The same with further environment variables.
pub(crate) fn run_with(program: &str, arguments: &[&str], variables: &[(&str, String)]) -> Result<(), String> {
    let command = format!("{program} {}", arguments.join(" "));
    let status = Command::new(program).args(arguments).envs(variables.iter().cloned()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{command}` ended with {status}")),
        Err(error) => Err(format!("cannot run `{command}`: {error}")),
    }
}

/// What a command prints; `None` if it cannot be run or fails.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
