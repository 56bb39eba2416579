//! `lab up`: what a machine has when it runs, and that a second `up` finds nothing to do.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader},
    net::Ipv4Addr,
    os::unix::fs::MetadataExt,
    process::Stdio,
};

use serde_json::Value;

use crate::support::{TestLab, example, turn};

const MACHINES: [&str; 3] = ["master-01", "worker-01", "worker-02"];

#[test]
fn three_machines_that_have_what_a_node_needs() {
    let _turn = turn();
    let lab = TestLab::unmade();
    lab.run("up", &["--machines-only"]).ok();
    let status = lab.status();
    let subnet = status["subnet"].as_str().unwrap().trim_end_matches("0/24").to_owned();
    let names: Vec<&str> = machines(&status).map(|machine| machine["name"].as_str().unwrap()).collect();
    assert_eq!(names, MACHINES);

    for machine in machines(&status) {
        let name = machine["name"].as_str().unwrap();
        let (ip, mac) = (machine["ip"].as_str().unwrap(), machine["mac"].as_str().unwrap());
        assert_eq!(machine["state"], "running", "{machine}");
        assert!(machine["memory_mb"].as_u64().unwrap() > 0, "{machine}");
        let octets = ip.parse::<Ipv4Addr>().unwrap().octets();
        let expected = format!("52:54:{:02x}:{:02x}:{:02x}:{:02x}", octets[0], octets[1], octets[2], octets[3]);
        assert_eq!(mac, expected, "known before the first boot");

        assert_eq!(lab.sh(name, "hostname"), name);
        assert_eq!(lab.sh(name, "cat /sys/class/net/eth0/address"), mac);
        assert_eq!(lab.sh(name, "nmcli -g GENERAL.STATE,GENERAL.CONNECTION device show eth0"), "100 (connected)\nlab");
        assert!(lab.sh(name, "ip -o -4 addr show dev eth0").contains(&format!("{ip}/24")));
        assert!(lab.sh(name, "ip route show default").starts_with(&format!("default via {subnet}1 dev eth0")));
        assert_eq!(lab.sh(name, "stat -c %a:%U /etc/cluster-config/cluster.yaml"), "600:root");
        assert!(lab.sh(name, "blackstart --version").starts_with("blackstart "));
        assert_eq!(lab.sh(name, "blackstart node detect >&2; cat /etc/cluster-config/node-identity"), name);
        assert_eq!(lab.sh(name, "test -w /proc/sys/kernel/panic && findmnt -no FSTYPE -T /var/lib/containerd"), disk());
        assert!(lab.run("logs", &[name, "--console"]).ok().contains("Debian"), "a console log");
    }
    let ids: BTreeSet<String> = MACHINES.iter().map(|name| lab.sh(name, "cat /etc/machine-id")).collect();
    assert_eq!(ids.len(), 3, "each has an identity of its own");
    lab.sh("worker-01", &format!("ping -c1 -W5 {subnet}11"));
    lab.sh("worker-02", "apt-get -q update");

    let program = || fs::metadata(lab.dir().join("blackstart")).unwrap().ino();
    let (boots, inode) = (MACHINES.map(|name| lab.boot(name)), program());
    let again = lab.command("up").output().unwrap();
    assert!(String::from_utf8_lossy(&again.stderr).contains("verified, 0 of them changed"), "{again:?}");
    assert_eq!(MACHINES.map(|name| lab.boot(name)), boots);
    assert_eq!(program(), inode);
}

#[test]
fn two_labs_with_machines_of_the_same_name() {
    let _turn = turn();
    let (one, other) = (TestLab::with(1, 0), TestLab::with(1, 0));
    assert_ne!(one.status()["subnet"], other.status()["subnet"]);
    one.sh("master-01", "echo one > /root/which");
    other.sh("master-01", "echo other > /root/which");
    assert_eq!(one.sh("master-01", "cat /root/which"), "one");
    one.destroy().ok();
    assert_eq!(other.state("master-01"), "running");
    assert_eq!(other.sh("master-01", "cat /root/which"), "other");
}

#[test]
fn the_machines_of_a_configuration() {
    let _turn = turn();
    let (lab, second) = (TestLab::unmade(), TestLab::unmade());
    lab.run("up", &["--machines-only", "--config", &example("home")]).ok();
    assert_eq!(lab.status()["subnet"], "192.168.1.0/24");
    for (name, ip, mac) in [
        ("master-01", "192.168.1.10", "52:54:00:00:00:10"),
        ("worker-01", "192.168.1.21", "52:54:00:00:00:21"),
        ("worker-02", "192.168.1.22", "52:54:00:00:00:22"),
    ] {
        let machine = lab.machine(name);
        assert_eq!([&machine["ip"], &machine["mac"], &machine["state"]], [ip, mac, "running"], "{machine}");
        assert_eq!(lab.sh(name, "blackstart node detect >&2; cat /etc/cluster-config/node-identity"), name);
        assert_eq!(lab.sh(name, &format!("stat -c %a /etc/cluster-config/nodes/{name}.yaml")), "600");
    }
    let clash = second.run("up", &["--machines-only", "--config", &example("home")]);
    clash.refused(1, "BS-LAB-015");
    assert!(!second.dir().exists(), "nothing is half-made");
}

#[test]
fn a_machine_that_is_degraded_says_why() {
    let _turn = turn();
    let lab = TestLab::with(1, 0);
    let unit = "[Service]\\nType=oneshot\\nExecStart=/bin/false\\n[Install]\\nWantedBy=multi-user.target\\n";
    lab.sh(
        "master-01",
        &format!("printf '{unit}' > /etc/systemd/system/broken.service; systemctl -q enable broken; sync"),
    );
    lab.run("kill", &["master-01"]).ok();

    let mut up = lab.command("up").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(up.stderr.take().unwrap()).lines().map_while(Result::ok);
    let why = "master-01 to be running; it is degraded: broken.service";
    assert!(output.any(|line| line.contains(why)), "it ended without saying why");
    assert_eq!(lab.state("master-01"), "degraded");
    lab.sh("master-01", "systemctl reset-failed");
    output.for_each(drop);
    assert!(up.wait().unwrap().success(), "it goes on when the machine does");
}

fn machines(status: &Value) -> impl Iterator<Item = &Value> {
    status["machines"].as_array().unwrap().iter()
}

/// The file system that holds labs: machines must have it where an overlay would not do.
fn disk() -> String {
    crate::support::run("findmnt", &["-no", "FSTYPE", "-T", "/var/lib"]).ok().trim().to_owned()
}
