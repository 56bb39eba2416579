//! `lab destroy` leaves nothing: the computer is as it was, whatever happened to the lab before.

use std::{
    fs,
    process::{Child, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use crate::support::{PROGRAM, Picture, TestLab, eventually, kill, run, turn};

#[test]
fn nothing_is_left_of_a_lab_that_was_used() {
    let _turn = turn();
    let before = Picture::take();
    let lab = TestLab::with(1, 1);
    lab.run("cut", &["worker-01"]).ok();
    lab.sh("master-01", "systemctl reboot");
    lab.run("pause", &["worker-01"]).ok();
    lab.destroy().ok();
    before.assert_back("after a lab with one machine cut off and paused");
    let again = lab.destroy().ok();
    assert!(again.contains("nothing is left"), "{again}");
    before.assert_back("after destroying it twice");
}

/// What a kubelet sets when it starts is the whole computer's. The last lab's end puts it back: here the last of a home
/// of its own, so that labs of other people do not count.
#[test]
fn settings_of_the_computer_are_put_back() {
    let _turn = turn();
    let before = Picture::take();
    let lab = TestLab::unmade();
    let line = format!(
        "mount -t tmpfs tmpfs /var/lib && \"$0\" lab up --machines-only --name {0} --masters 1 --workers 0 && \
         \"$0\" lab exec --name {0} master-01 -- sysctl -w vm.overcommit_memory=1 kernel.panic=77 && \
         sysctl kernel.panic fs.inotify.max_user_instances && \"$0\" lab destroy --name {0} --yes && find /var/lib",
        lab.name
    );
    let watches = || -> u64 {
        let text = fs::read_to_string("/proc/sys/fs/inotify/max_user_instances").unwrap();
        text.trim().parse().unwrap()
    };
    let few = watches();
    let output = run("unshare", &["--mount", "sh", "-c", &line, PROGRAM]).ok();
    assert!(output.contains("\nkernel.panic = 77\n"), "it was changed: {output}");
    // Every machine has some, and the usual 128 are for the whole computer.
    let raised = output.lines().find_map(|line| line.strip_prefix("fs.inotify.max_user_instances = "));
    assert!(
        raised.is_some_and(|many| many.parse::<u64>().unwrap() >= 8192),
        "there was room for more machines: {output}"
    );
    assert_eq!(watches(), few, "it is put back");
    assert!(output.ends_with("\n/var/lib\n"), "not a file is left: {output}");
    before.assert_back("after a machine changed settings of the computer");
}

#[test]
fn nothing_is_left_when_the_record_is_garbage_or_gone() {
    let _turn = turn();
    let before = Picture::take();
    for garbage in [Some("{\"name\":"), None] {
        let lab = TestLab::with(1, 0);
        let record = lab.dir().join("lab.json");
        match garbage {
            Some(text) => fs::write(&record, text).unwrap(),
            None => fs::remove_file(&record).unwrap(),
        }
        let code = if garbage.is_some() { "BS-LAB-010" } else { "BS-LAB-014" };
        lab.run("status", &[]).refused(1, code);
        lab.destroy().ok();
        before.assert_back("after a lab whose record was damaged");
    }
}

#[test]
fn nothing_is_left_after_killing_what_keeps_machines_alive() {
    let _turn = turn();
    let before = Picture::take();
    let lab = TestLab::with(1, 1);
    kill(lab.process("worker-01", "lab supervise"));
    eventually("the machine died with its supervisor", || lab.state("worker-01") == "off");
    kill(lab.process("master-01", "systemd-nspawn"));
    eventually("the machine died with its nspawn", || lab.state("master-01") == "off");
    lab.destroy().ok();
    before.assert_back("after killing a supervisor and an nspawn");

    lab.up(1, 1).ok();
    for process in lab.processes("") {
        // Some die with others before their turn.
        run("kill", &["-9", &process.to_string()]);
    }
    lab.destroy().ok();
    before.assert_back("after killing everything at once");
}

/// Every second time the lab is brought up again first, as a person would.
#[test]
fn up_killed_at_ten_moments() {
    let _turn = turn();
    let before = Picture::take();
    let lab = TestLab::unmade();
    let started = Instant::now();
    lab.up(1, 1).ok();
    let whole = started.elapsed();
    lab.destroy().ok();
    before.assert_back("after an undisturbed lab");

    for moment in 0..10 {
        // A different fraction of a millisecond each time, spread over the whole duration.
        let pause = whole * moment / 10 + Duration::from_micros(u64::from(started.elapsed().subsec_micros()) % 30_000);
        let mut up = begin(&lab);
        sleep(pause);
        up.kill().unwrap();
        up.wait().unwrap();
        if moment % 2 == 1 {
            lab.up(1, 1).ok();
            for machine in ["master-01", "worker-01"] {
                assert_eq!(lab.state(machine), "running", "{machine}, killed after {pause:?}");
            }
        }
        lab.destroy().ok();
        before.assert_back(&format!("after a kill at {pause:?} of {whole:?}"));
    }
}

#[test]
fn a_lab_that_is_being_made_is_not_destroyed_meanwhile() {
    let _turn = turn();
    let before = Picture::take();
    let lab = TestLab::unmade();
    let mut up = begin(&lab);
    eventually("the lab is being made", || lab.dir().join("state").exists());
    run("kill", &["-STOP", &up.id().to_string()]).ok(); // keeps it from being finished before we look
    lab.destroy().refused(1, "BS-LAB-013");
    lab.up(1, 1).refused(1, "BS-LAB-013");
    up.kill().unwrap();
    up.wait().unwrap();
    lab.destroy().ok();
    before.assert_back("after a destroy during up");
}

fn begin(lab: &TestLab) -> Child {
    lab.command("up").args(TestLab::shape(1, 1)).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}
