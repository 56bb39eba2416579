//! What no tool can beat: etcd and the API server started by hand at the same moment, with everything they read in place.

use std::time::Duration;

use crate::{
    machines::{MASTER, Machines, WORKER},
    outside::api_ready,
    starting_point::wait_until_quiet,
};

/// Everything that starts with a master of ours, so that it does not.
const UNITS: &str = "cluster-detect cluster-bootstrap blackstart-agent containerd kubelet kube-proxy \
                     kube-controller-manager kube-scheduler kube-apiserver etcd";

/// What etcd starts with is beside its data; here it is kept.
const INITIAL: &str = "/root/initial.env";

/// On machines that are a cluster of ours; only their certificates, keys and units are used.
pub(crate) fn measure(machines: &Machines) -> Duration {
    machines.kill(WORKER);
    machines.sh(MASTER, &format!("systemctl --quiet disable {UNITS}; sync"));
    machines.reboot(MASTER);
    machines.sh(MASTER, &format!("cp {} {INITIAL}; rm -rf {}", etcd::INITIAL, etcd::DATA_DIR));
    wait_until_quiet();
    let [etcd, api] = ["etcd", "kube-apiserver"].map(|name| command_line(machines, name));
    let mut both = machines.start(MASTER, &["sh", "-c", &format!("env $(cat {INITIAL}) {etcd} & {api} & wait")]);
    api_ready(machines.address(MASTER), &mut both)
}

/// What a unit runs; one option per line, each ended by a backslash.
fn command_line(machines: &Machines, unit: &str) -> String {
    let text = machines.sh(MASTER, &format!("cat /etc/systemd/system/{unit}.service"));
    let text = text.replace("\\\n", " ");
    text.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("it runs something").to_owned()
}
