//! Suites side by side: while one waits for machines the other has the processors.
//!
//! The first of the list runs alone, because it compares the computer before and after. Of the others two run at once, in their
//! order. Each one's output is in a file that can be followed, and is printed whole when the suite has ended. A suite that
//! fails stops no other, so one run reports all that failed.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
    thread,
    time::Instant,
};

use crate::run::say;

/// As many as two processors keep busy: measured in docs/benchmarks.md.
const AT_ONCE: usize = 2;

/// What a suite's machines would disturb.
pub(crate) const ALONE: &str = "lab";

/// Runs all of these, and fails at the end if one failed.
pub(crate) fn run(names: &[&str], logs: &Path, command: impl Fn(&str) -> Command + Sync) -> Result<(), String> {
    fs::create_dir_all(logs).map_err(|error| format!("cannot make {}: {error}", logs.display()))?;
    let (alone, others): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| **name == ALONE);
    let mut failed = Vec::new();
    for (names, at_once) in [(alone, 1), (others, AT_ONCE)] {
        let left = Mutex::new(names.into_iter());
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
        let ended = Mutex::new(&mut failed);
        thread::scope(|scope| {
            for _ in 0..at_once {
                scope.spawn(|| {
                    while let Some(name) = next() {
                        if let Err(why) = suite(name, &log(logs, name), command(name)) {
                            ended.lock().unwrap_or_else(PoisonError::into_inner).push(why);
                        }
                    }
                });
            }
        });
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

fn log(logs: &Path, name: &str) -> PathBuf {
    logs.join(name).with_extension("log")
}

/// One suite to its end, and what it has printed.
fn suite(name: &str, log: &Path, mut command: Command) -> Result<(), String> {
    say(&format!("==> {name}: follow it with `tail -f {}`", log.display()));
    let started = Instant::now();
    let output = File::create(log).and_then(|file| Ok((file.try_clone()?, file)));
    let (out, err) = output.map_err(|error| format!("{name}: cannot write {}: {error}", log.display()))?;
    let status = command.stdout(out).stderr(err).status().map_err(|error| format!("{name}: cannot run it: {error}"))?;
    let printed = fs::read(log).map_err(|error| format!("{name}: cannot read {}: {error}", log.display()))?;
    let mut terminal = io::stderr().lock();
    // A reader who closed the pipe does not want it.
    let _ = terminal.write_all(&printed);
    let _ = writeln!(terminal, "==> {name}: {:.0} s, {status}", started.elapsed().as_secs_f64());
    if status.success() { Ok(()) } else { Err(format!("{name}: {status}, see {}", log.display())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        command
    }

    #[test]
    fn one_that_fails_stops_no_other_and_all_that_fail_are_named() {
        let logs = std::env::temp_dir().join(format!("xtask-lanes-{}", std::process::id()));
        let ended = run(&["lab", "a", "b", "c"], &logs, |name| match name {
            "a" | "c" => shell(&format!("echo {name} is wrong; echo it failed >&2; exit 3")),
            other => shell(&format!("echo {other} is well")),
        });
        let why = ended.unwrap_err();
        assert!(why.contains("a: exit status: 3") && why.contains("c: ") && !why.contains("b: "), "{why}");
        let printed = |name: &str| fs::read_to_string(log(&logs, name)).unwrap();
        assert_eq!((printed("a"), printed("b")), ("a is wrong\nit failed\n".into(), "b is well\n".into()));
        fs::remove_dir_all(logs).unwrap();
    }

    #[test]
    fn two_are_at_work_at_once_and_the_first_is_alone() {
        let logs = std::env::temp_dir().join(format!("xtask-lanes-at-once-{}", std::process::id()));
        fs::create_dir_all(&logs).unwrap();
        // Each of the two waits until it sees the other.
        let met = |own: &str, other: &str| {
            let dir = logs.display();
            shell(&format!(
                "touch {dir}/{own}; n=0; until [ -e {dir}/{other} ]; do n=$((n+1)); [ $n -lt 600 ] || exit 1; sleep 0.1; done"
            ))
        };
        run(&["lab", "left", "right"], &logs, |name| match name {
            "left" => met("l", "r"),
            "right" => met("r", "l"),
            _ => shell(&format!("test ! -e {0}/l -a ! -e {0}/r", logs.display())),
        })
        .unwrap();
        fs::remove_dir_all(logs).unwrap();
    }
}
