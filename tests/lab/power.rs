//! Reboot, power loss, pause, power-off: what a machine keeps and what it loses.

use std::{fs, path::Path, thread::sleep, time::Duration};

use crate::support::{TestLab, eventually, turn};

#[test]
fn a_machine_keeps_its_files_and_nothing_else() {
    let _turn = turn();
    let lab = TestLab::with(1, 1);
    reboot(&lab);
    power_loss(&lab);
    pause(&lab);
    off_and_on(&lab);
}

/// From inside, as a step of a playbook would do it; the machine comes back by itself.
fn reboot(lab: &TestLab) {
    let (before, bystander) = (lab.boot("worker-01"), lab.boot("master-01"));
    lab.sh("worker-01", "echo kept > /root/file; nft add table ip left; ip link add left0 type veth; sync");
    lab.run("exec", &["worker-01", "systemctl", "reboot"]);
    eventually("worker-01 has rebooted", || lab.state("worker-01") == "running" && lab.boot("worker-01") != before);
    assert_eq!(lab.sh("worker-01", "cat /root/file"), "kept");
    assert_eq!(lab.sh("worker-01", "nft list tables"), "", "rules do not survive a reboot");
    assert_eq!(lab.sh("worker-01", "ls -d /sys/class/net/left0 2>/dev/null || echo gone"), "gone");
    assert_eq!(lab.boot("master-01"), bystander);

    let before = lab.boot("worker-01");
    lab.run("reboot", &["worker-01"]).ok();
    assert_ne!(lab.boot("worker-01"), before);
    assert_eq!(lab.state("worker-01"), "running", "the command waits for it");
}

fn power_loss(lab: &TestLab) {
    lab.sh(
        "worker-01",
        "systemd-run --unit=victim --service-type=exec sh -c 'trap : TERM; sleep 1000'; echo lost > /run/file",
    );
    let victim = lab.process("worker-01", "trap : TERM");
    lab.run("kill", &["worker-01"]).ok();
    assert!(!Path::new("/proc").join(victim.to_string()).exists());
    assert_eq!(lab.processes("worker-01"), [0; 0], "nothing of it is left when the command returns");
    assert_eq!(lab.state("worker-01"), "off");
    assert_eq!(lab.state("master-01"), "running");

    lab.run("up", &[]).ok();
    assert_eq!(lab.state("worker-01"), "running");
    assert_eq!(lab.sh("worker-01", "cat /root/file; cat /run/file 2>/dev/null || echo none"), "kept\nnone");
    let journal = lab.run("logs", &["worker-01", "--unit", "victim"]).ok();
    assert!(!journal.contains("Stopping") && !journal.contains("Stopped"), "no unit was stopped: {journal}");
}

fn pause(lab: &TestLab) {
    lab.sh("worker-01", "systemd-run --service-type=exec sh -c 'while :; do echo >> /root/count; sleep 0.02; done'");
    let count = lab.dir().join("machines/worker-01/upper/root/count");
    let counted = || fs::metadata(&count).map_or(0, |meta| meta.len());
    eventually("it counts", || counted() > 0);
    lab.run("pause", &["worker-01"]).ok();
    assert_eq!(lab.state("worker-01"), "paused");
    let stood_at = counted();
    sleep(Duration::from_millis(500));
    assert_eq!(counted(), stood_at);
    lab.run("exec", &["worker-01", "true"]).refused(1, "BS-LAB-004");
    lab.run("resume", &["worker-01"]).ok();
    eventually("it counts on", || counted() > stood_at);
    assert_eq!(lab.state("worker-01"), "running");
}

fn off_and_on(lab: &TestLab) {
    lab.run("pause", &["master-01"]).ok();
    lab.run("down", &[]).ok();
    for machine in ["master-01", "worker-01"] {
        assert_eq!(lab.state(machine), "off", "{machine}");
        assert_eq!(lab.processes(machine), [0; 0]);
    }
    assert!(lab.run("logs", &["worker-01", "--console"]).ok().contains("Powering off"), "it was shut down");
    lab.run("up", &[]).ok();
    assert_eq!(lab.sh("worker-01", "cat /root/file"), "kept");
}
