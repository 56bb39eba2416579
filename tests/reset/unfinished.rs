//! Nodes in every state that a crash, a person or the rest of the world leaves them in.

use crate::support::{Check, MASTER, Machines, WORKER, eventually};

pub(crate) const CHECKS: &[Check] = &[
    ("a bootstrap that was killed in the middle is undone", killed_bootstrap),
    ("a reset that is killed again and again ends where one reset does", killed_reset),
    ("a bootstrap that waits for its master is stopped and undone", waiting_bootstrap),
    ("a reset needs no API, no cluster.yaml and no containerd", alone),
    ("a machine that restarts in the middle of a reset does not become a node; after its end it does", restarted),
];

/// Resets with `$options`, and kills the reset at the first event that holds `$words`.
const KILLED_AT: &str = r#"
blackstart node reset --yes $options -o json > /dev/shm/events 2> /dev/null & pid=$!
until grep -q "$words" /dev/shm/events || ! kill -0 $pid 2> /dev/null; do :; done
kill -9 $pid 2> /dev/null && echo killed || echo ended
rm -f /dev/shm/events
"#;

fn killed_bootstrap(machines: &Machines) {
    for instant in ["units:before-3", "containerd:ended", "kubelet:ended"] {
        machines.sh(MASTER, "blackstart node install --config /root/sealed");
        let up = machines.try_sh(MASTER, &format!("BLACKSTART_FAULT={instant}:kill blackstart node up"));
        assert_eq!(up.code, Some(137), "{instant}: {up:?}");
        machines.sh(MASTER, "rm -f /run/blackstart-fault");
        machines.reset_cleanly(MASTER);
    }
}

/// Its master is nothing.
fn waiting_bootstrap(machines: &Machines) {
    machines.install(WORKER);
    machines.reset_cleanly(WORKER); // at once: systemd has hardly begun
    machines.install(WORKER);
    let output = "journalctl -o cat _SYSTEMD_INVOCATION_ID=$(systemctl show -P InvocationID cluster-bootstrap)";
    eventually("the worker waits for its master", || {
        machines.try_sh(WORKER, output).out.contains("await-master: wait")
    });
    machines.reset_cleanly(WORKER);
}

fn killed_reset(machines: &Machines) {
    machines.up();
    machines.run_pods();
    machines.reset_cleanly(WORKER);
    let points = [
        r#""step":"kubelet""#,
        "end container",
        r#""step":"etcd""#,
        r#""step":"pki","state":"undoing""#,
        "stop containerd.service",
        "remove all of /run/containerd",
        r#""step":"network","state":"undoing""#,
    ];
    let mut killed = 0;
    for words in points {
        let ended = machines.sh(MASTER, &format!("options=--uninstall words='{words}'{KILLED_AT}"));
        killed += usize::from(ended == "killed");
    }
    eprintln!("  killed {killed} times");
    assert!(killed >= 3, "a point may have come before the one it waits for, but not most of them");
    let last = machines.reset(MASTER, "--uninstall");
    assert_eq!(last.code, Some(0), "{last:?}");
    machines.assert_as_before(MASTER);
}

fn alone(machines: &Machines) {
    machines.up();
    machines.run_pods();
    machines.reset_cleanly(MASTER);
    machines.sh(
        WORKER,
        "mv /etc/cluster-config/cluster.yaml /root/aside; systemctl kill -s KILL containerd; systemctl stop containerd",
    );
    let output = machines.reset(WORKER, "--uninstall");
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.out.contains("left elsewhere: the Node object `worker-01` is still in the cluster"), "{output:?}");
    machines.sh(WORKER, "mv /root/aside /etc/cluster-config/cluster.yaml");
    machines.assert_as_before(WORKER);
}

fn restarted(machines: &Machines) {
    machines.install(MASTER);
    machines.await_ready(&[MASTER]);
    let ended = machines.sh(MASTER, &format!("words='\"step\":\"kube-apiserver\"'{KILLED_AT}"));
    assert_eq!(ended, "killed");
    let boot = machines.lab.boot(MASTER);
    machines.lab.run("kill", &[MASTER]).ok();
    machines.lab.up(1, 1).ok();
    assert_ne!(machines.lab.boot(MASTER), boot);
    assert_eq!(machines.lab.machine(MASTER)["state"], "running");
    let runs = "pgrep -l 'kube|etcd|containerd|blackstart'";
    let seen = machines.try_sh(MASTER, runs);
    assert_eq!(seen.out, "", "{seen:?}");
    let output = machines.reset(MASTER, "");
    assert!(output.code == Some(0) && output.out.contains("reboot or `blackstart node up` to retry"), "{output:?}");
    machines.lab.run("reboot", &[MASTER]).ok();
    machines.await_ready(&[MASTER]);
    let output = machines.reset(MASTER, "--uninstall");
    assert_eq!(output.code, Some(0), "{output:?}");
    // Another boot has other numbers, but nothing of ours.
    let left = machines.try_sh(MASTER, "ls -d /etc/kubernetes /var/lib/etcd /var/lib/cluster-state /etc/containerd");
    assert_eq!(left.out, "", "{left:?}");
}
