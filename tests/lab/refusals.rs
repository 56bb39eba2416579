//! What cannot be done is refused at once, with a code and a hint, and nothing is half-made.

use std::{os::unix::process::CommandExt, process::Command};

use crate::support::{CommandOutput, PROGRAM, Picture, TestLab, example, run, turn};

#[test]
fn another_shape_of_a_lab_that_exists_is_refused() {
    let _turn = turn();
    let lab = TestLab::with(1, 0);
    lab.up(1, 0).ok();
    lab.run("up", &["--masters", "3"]).refused(2, "BS-LAB-017");
    lab.run("up", &["--workers", "2"]).refused(2, "BS-LAB-017");
    lab.run("up", &["--config", &example("home")]).refused(2, "BS-LAB-017");
    lab.run("wipe", &["master-01"]).refused(2, "BS-CLI-002");
    lab.run("up", &[]).ok();
}

#[test]
fn names_that_do_not_exist_or_cannot() {
    let _turn = turn();
    let before = Picture::take();
    let unmade = TestLab::unmade();
    unmade.run("status", &[]).refused(1, "BS-LAB-002");
    unmade.run("exec", &["master-01", "true"]).refused(1, "BS-LAB-002");
    for name in ["Lab", "a-b", "../x", "", "abcdefghi"] {
        run(PROGRAM, &["lab", "up", "--name", name]).refused(2, "BS-LAB-001");
        run(PROGRAM, &["lab", "destroy", "--yes", "--name", name]).refused(2, "BS-LAB-001");
    }
    before.assert_back("after nothing was done");

    let lab = TestLab::with(1, 0);
    for (command, arguments) in [
        ("exec", &["worker-01", "true"][..]),
        ("kill", &["worker-01"]),
        ("logs", &["worker-01"]),
        ("cut", &["worker-01"]),
    ] {
        let output = lab.run(command, arguments);
        output.refused(1, "BS-LAB-003");
        assert!(output.err.contains("it has master-01"), "{output:?}");
    }
}

#[test]
fn without_the_rights_of_root() {
    let _turn = turn();
    let before = Picture::take();
    // Where the program lies, others may not be able to look.
    let dir =
        tempfile::Builder::new().permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755)).tempdir().unwrap();
    let program = dir.path().join("blackstart");
    std::fs::copy(PROGRAM, &program).unwrap();
    for arguments in [&["up"][..], &["status"], &["destroy", "--yes"]] {
        let output = Command::new(&program).arg("lab").args(arguments).uid(65534).gid(65534).output().unwrap();
        CommandOutput::from(output).refused(1, "BS-LAB-005");
    }
    let list = Command::new(&program).args(["lab", "list"]).uid(65534).gid(65534).output().unwrap();
    CommandOutput::from(list).ok();
    before.assert_back("after nothing was done");
}

/// In a mount namespace of its own, where the file system that is asked is a small one.
#[test]
fn without_enough_space() {
    let _turn = turn();
    let before = Picture::take();
    for dir in ["/var/lib", "/var/cache/blackstart/base"] {
        let lab = TestLab::unmade();
        let line = format!(
            "mount -t tmpfs -o size=64m tmpfs {dir} && \"$0\" lab up --machines-only --name {}; code=$?; find {dir}; exit $code",
            lab.name
        );
        let output = run("unshare", &["--mount", "sh", "-c", &line, PROGRAM]);
        output.refused(1, "BS-LAB-008");
        assert!(output.err.contains(dir) && output.err.contains(" MB are needed"), "{output:?}");
        assert_eq!(output.out.trim(), dir, "nothing is half-made there");
        lab.destroy().ok();
    }
    before.assert_back("after too little space");
}
