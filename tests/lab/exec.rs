//! Commands in machines, files in and out, logs.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::{Child, Stdio},
};

use crate::support::{CommandOutput, TestLab, eventually, run, turn};

#[test]
fn commands_files_and_logs() {
    let _turn = turn();
    let lab = TestLab::with(1, 0);
    exit_codes(&lab);
    words_and_input(&lab);
    copies(&lab);
    logs(&lab);
    open_commands_hold_no_reboot_up(&lab);
    commands_die_with_the_machine(&lab);
}

fn exit_codes(lab: &TestLab) {
    for (line, code) in [("true", 0), ("exit 3", 3), ("exit 255", 255), ("kill -TERM $$", 143), ("kill -KILL $$", 137)]
    {
        let output = lab.run("exec", &["master-01", "--", "sh", "-c", line]);
        assert_eq!(output.code, Some(code), "{line}: {output:?}");
    }
    let missing = lab.run("exec", &["master-01", "no-such-program"]);
    assert_eq!(missing.code, Some(127), "{missing:?}");
}

fn words_and_input(lab: &TestLab) {
    let words = ["a b", "--name", "$HOME", "", "*", "'\""];
    let mut arguments = vec!["master-01", "--", "printf", "%s|"];
    arguments.extend(words);
    assert_eq!(lab.run("exec", &arguments).ok(), words.map(|word| format!("{word}|")).concat());
    // Without `--`, what follows the machine is still the command's.
    assert_eq!(lab.run("exec", &["master-01", "echo", "-n", "x"]).ok(), "x");

    let input: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
    let sum = lab.feed("exec", &["master-01", "sha256sum"], &input).ok();
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("input"), &input).unwrap();
    let expected = run("sha256sum", &[&dir.path().join("input").display().to_string()]).ok();
    assert_eq!(sum.split(' ').next(), expected.split(' ').next(), "all of it, byte for byte");
}

fn copies(lab: &TestLab) {
    let here = tempfile::tempdir().unwrap();
    let folder = here.path().join("folder");
    fs::create_dir_all(folder.join("below")).unwrap();
    fs::write(folder.join("below/secret"), "secret").unwrap();
    fs::set_permissions(folder.join("below/secret"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::write(folder.join("run me"), "#!/bin/sh\necho ran\n").unwrap();
    fs::set_permissions(folder.join("run me"), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("below/secret", folder.join("link")).unwrap();
    let path = |path: &Path| path.display().to_string();

    lab.run("cp", &[&path(&folder), "master-01:/root/"]).ok();
    assert_eq!(
        lab.sh("master-01", "cd /root/folder && stat -c %a below/secret && './run me' && readlink link"),
        "640\nran\nbelow/secret"
    );
    lab.run("cp", &[&path(&folder.join("run me")), "master-01:/root/renamed"]).ok();
    assert_eq!(lab.sh("master-01", "/root/renamed; ls -A /root | grep blackstart-cp || true"), "ran");
    let back = here.path().join("back");
    fs::create_dir(&back).unwrap();
    lab.run("cp", &["master-01:/root/folder", &path(&back)]).ok();
    assert_eq!(fs::read_link(back.join("folder/link")).unwrap(), Path::new("below/secret"));
    assert_eq!(fs::metadata(back.join("folder/below/secret")).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_to_string(back.join("folder/run me")).unwrap(), "#!/bin/sh\necho ran\n");

    let missing = lab.run("cp", &["master-01:/root/nothing", &path(&back)]);
    missing.refused(1, "BS-LAB-012");
    assert!(missing.err.contains("nothing"), "{missing:?}");
    // More than fits into a pipe: a process that still writes is not waited for in vain.
    fs::write(here.path().join("large"), vec![0; 1 << 20]).unwrap();
    let nowhere = lab.run("cp", &[&path(&here.path().join("large")), "master-01:/root/no/such/directory"]);
    nowhere.refused(1, "BS-LAB-012");
}

fn logs(lab: &TestLab) {
    let network = lab.run("logs", &["master-01", "--unit", "NetworkManager"]).ok();
    assert!(network.contains("NetworkManager") && !network.contains("systemd-journald"), "{network}");
    assert!(lab.run("logs", &["master-01"]).ok().contains("systemd-journald"));
}

/// A command that is stopped before it is ended, as all are at a reboot, must be reaped; its caller may be there,
/// dead, or stopped with Ctrl-Z.
fn open_commands_hold_no_reboot_up(lab: &TestLab) {
    let before = lab.boot("master-01");
    let mut dead = open(lab, "exec", &["master-01", "--", "sleep", "3001"]);
    let stopped = open(lab, "exec", &["master-01", "--", "sleep", "3002"]);
    let there = open(lab, "exec", &["master-01", "--", "sleep", "infinity"]);
    let follows = open(lab, "logs", &["master-01", "--follow"]);
    for words in ["sleep 3001", "sleep 3002", "sleep infinity", "journalctl --no-pager --follow"] {
        eventually(words, || {
            lab.lines("master-01").iter().any(|line| line.ends_with(words) && !line.contains("nsenter"))
        });
    }
    dead.kill().unwrap();
    dead.wait().unwrap();
    signal("-TSTP", &stopped);

    lab.run("exec", &["master-01", "systemctl", "reboot"]);
    eventually("master-01 has rebooted", || lab.state("master-01") == "running" && lab.boot("master-01") != before);
    signal("-CONT", &stopped);
    for open in [stopped, there, follows] {
        CommandOutput::from(open.wait_with_output().unwrap()).refused(255, "BS-LAB-022");
    }
    let left = || lab.lines("master-01").into_iter().filter(|line| line.contains("nsenter")).collect::<Vec<_>>();
    eventually("the helpers have ended", || left().is_empty());
}

/// A command that is left open, in a process group of its own, as a shell does it.
fn open(lab: &TestLab, command: &str, arguments: &[&str]) -> Child {
    let mut open = lab.command(command);
    open.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn().unwrap()
}

fn signal(signal: &str, open: &Child) {
    run("kill", &[signal, "--", &format!("-{}", open.id())]).ok();
}

/// Also one that has detached itself.
fn commands_die_with_the_machine(lab: &TestLab) {
    lab.sh("master-01", "setsid sh -c 'sleep 1234; :' > /dev/null 2>&1 < /dev/null &");
    let left = lab.process("master-01", "sleep 1234");
    assert!(Path::new("/proc").join(left.to_string()).exists());
    let open = open(lab, "exec", &["master-01", "sleep", "infinity"]);
    eventually("it runs", || lab.lines("master-01").iter().any(|line| line == "sleep infinity"));
    lab.run("kill", &["master-01"]).ok();
    CommandOutput::from(open.wait_with_output().unwrap()).refused(255, "BS-LAB-022");
    assert!(!Path::new("/proc").join(left.to_string()).exists());
    lab.run("exec", &["master-01", "true"]).refused(1, "BS-LAB-004");
}
