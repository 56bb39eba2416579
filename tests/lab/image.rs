//! The base image: a process that is killed while making one leaves neither process nor mount, and the next one makes it.
//!
//! The program that makes images is replaced by one that hangs the first time and copies the real image the second
//! time. All of it happens in a mount namespace with a cache of its own.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
};

use crate::support::{CommandOutput, PROGRAM, Picture, TestLab, eventually, turn};

const CACHE: &str = "/var/cache/blackstart/base";

const DEBOOTSTRAP: &str = r#"#!/bin/sh -e
for target; do :; done
here=$(dirname "$0")
mkdir -p "$target/proc"
if [ ! -e "$here/hung" ]; then
    mount -t proc proc "$target/proc"
    touch "$target/half" "$here/hung"
    sleep 100000
fi
[ ! -e "$target/half" ]
cp -a "$here"/real/*/. "$target"
for unit in "$target"/etc/systemd/system/*; do
    if [ "$(readlink "$unit")" = /dev/null ]; then rm "$unit"; fi
done
"#;

#[test]
fn a_build_that_was_killed() {
    let _turn = turn();
    TestLab::with(1, 0); // there is an image to copy
    let before = Picture::take();
    let lab = TestLab::unmade();
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    for name in ["real", "cache"] {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    let program = dir.path().join("debootstrap");
    fs::write(&program, DEBOOTSTRAP).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();

    let mut killed = up(&lab, dir.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("the image is being made", || dir.path().join("hung").exists());
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_no_writer_is_left(&lab, dir.path());

    CommandOutput::from(up(&lab, dir.path()).output().unwrap()).ok();
    assert_eq!(lab.state("master-01"), "running", "booted from the image of the second build");
    let made: Vec<_> = fs::read_dir(dir.path().join("cache")).unwrap().flatten().collect();
    assert_eq!(made.len(), 1, "the half-made one is gone: {made:?}");
    lab.destroy().ok();
    before.assert_back("after a build that was killed");
}

/// No process writes on: the image would be removed under it.
fn assert_no_writer_is_left(lab: &TestLab, dir: &Path) {
    eventually("the build has ended with the one who started it", || {
        let own = Command::new("pgrep").args(["-f", &dir.display().to_string()]).output().unwrap();
        own.stdout.is_empty()
    });
    assert_eq!(lab.state("master-01"), "missing");
}

fn up(lab: &TestLab, dir: &Path) -> Command {
    let line = format!(
        "mount --bind {CACHE} {0}/real && mount --bind {0}/cache {CACHE} && export PATH={0}:$PATH && \
         exec \"$0\" lab up --machines-only --name {1} --masters 1 --workers 0",
        dir.display(),
        lab.name
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &line, PROGRAM]).stdin(Stdio::null());
    command
}
