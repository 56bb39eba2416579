//! A build that is killed at any moment and run again ends as if nothing had happened.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use bundle::verify;

use crate::support::{make, publisher::Publisher, tree};

const KILLS: u32 = 20;

fn command(dir: &Path, publisher: &Publisher) -> Command {
    let mut command = make();
    command.arg(dir.join("bundle")).arg("--cache").arg(dir.join("cache")).args(["--mirror", &publisher.address()]);
    command.stdout(Stdio::null());
    command
}

#[test]
fn killed_at_any_moment_it_goes_on() {
    let publisher = Publisher::slow(Duration::from_millis(20));
    let calm = tempfile::tempdir().unwrap();
    let started = Instant::now();
    assert!(command(calm.path(), &publisher).status().unwrap().success());
    let mut whole = started.elapsed();
    let expected = tree(&calm.path().join("bundle"));

    let mut in_time = 0;
    for round in 0..3 * KILLS {
        if in_time == KILLS {
            break;
        }
        let dir = tempfile::tempdir().unwrap();
        let mut child = command(dir.path(), &publisher).spawn().unwrap();
        thread::sleep(whole * in_time / KILLS);
        if child.try_wait().unwrap().is_none() {
            in_time += 1;
        } else {
            // The computer is less busy than it was at the beginning.
            whole = whole * 3 / 4;
        }
        child.kill().unwrap();
        child.wait().unwrap();

        assert!(command(dir.path(), &publisher).status().unwrap().success(), "round {round}");
        verify(&dir.path().join("bundle")).unwrap();
        assert!(tree(&dir.path().join("bundle")) == expected, "round {round}");
        let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "round {round}: {names:?}");
        let scratch = tree(&dir.path().join("cache/work"));
        assert!(scratch.is_empty(), "round {round}: {:?}", scratch.iter().map(|file| &file.0).collect::<Vec<_>>());
    }
    assert_eq!(in_time, KILLS, "so many were killed while at work");
}
