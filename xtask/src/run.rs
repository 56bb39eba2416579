//! Runs commands and says what is being done and how long it took.

use std::{
    io::{self, Write},
    process::{Child, Command, Stdio},
    time::Instant,
};

/// Says a line.
pub(crate) fn say(text: &str) {
    // A reader who closed the pipe does not want it.
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

/// A command that runs beside others, with what they leave of the processors. It ends when this value is dropped.
pub(crate) struct Background {
    name: &'static str,
    started: Instant,
    child: Child,
}

impl Background {
    /// Starts it, without its output: what fails here fails again where it is asked for in its turn, and prints why.
    pub(crate) fn start(name: &'static str, program: &str, arguments: &[&str]) -> Result<Self, String> {
        say(&format!("==> {name}, beside what follows"));
        let mut command = Command::new("nice");
        command.args(["-n", "19", program]).args(arguments).stdin(Stdio::null());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.map_err(|error| format!("cannot run `{program}`: {error}"))?;
        Ok(Self { name, started: Instant::now(), child })
    }

    /// Waits for its end, good or bad.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        let status = self.child.wait().map_err(|error| format!("cannot wait for {}: {error}", self.name))?;
        say(&format!("==> {}: {:.0} s, {status}", self.name, self.started.elapsed().as_secs_f64()));
        Ok(())
    }
}

impl Drop for Background {
    /// Where something else failed. SIGTERM, so that it stops its compilers and undoes what is half made.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_beside_is_waited_for_or_ended() {
        Background::start("nothing", "true", &[]).unwrap().finish().unwrap();
        let started = Instant::now();
        drop(Background::start("an hour", "sleep", &["3600"]).unwrap());
        assert!(started.elapsed().as_secs() < 60, "it was ended with what it ran beside");
    }
}
