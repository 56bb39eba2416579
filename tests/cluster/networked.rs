//! A network configuration that cuts a machine off is rolled back, whichever process dies in between.

use crate::support::{Check, Cluster, eventually};

pub(crate) const CHECKS: &[Check] = &[
    ("a gateway that does not answer is not kept", wrong_gateway),
    ("killed while it tries a configuration out, the machine gets its old one back", killed),
];

const MACHINE: &str = "worker-02";
const CONFIG: &str = "/etc/cluster-config/cluster.yaml";

fn wrong_gateway(cluster: &Cluster) {
    let before = profile(cluster);
    with_wrong_gateway(cluster, || {
        let refused = cluster.try_sh(MACHINE, "blackstart node detect");
        refused.refused(1, "BS-NET-002");
    });
    assert!(is_reachable(cluster), "the old configuration works");
    assert_eq!(profile(cluster), before);
    assert_eq!(on_trial(cluster), "", "nothing of the trial is left");
    cluster.sh(MACHINE, "blackstart node detect");
    assert_eq!(profile(cluster), before);
}

fn killed(cluster: &Cluster) {
    let before = profile(cluster);
    with_wrong_gateway(cluster, || {
        cluster.sh(MACHINE, "systemd-run --quiet --unit=trial blackstart node detect");
        eventually("the new configuration is tried out", || gateway(cluster).ends_with(".250"));
        cluster.sh(MACHINE, "systemctl kill --signal=KILL trial");
        cluster.try_sh(MACHINE, "systemctl reset-failed trial");
        eventually("NetworkManager takes it back by itself", || gateway(cluster).ends_with(".1"));
    });
    assert!(is_reachable(cluster), "the old configuration works");
    // What the dead one left in /run is gone at the next boot, and with the next run.
    cluster.sh(MACHINE, "blackstart node detect");
    assert_eq!(on_trial(cluster), "");
    assert_eq!(profile(cluster), before);
}

/// Runs something while cluster.yaml names a gateway that does not exist.
fn with_wrong_gateway(cluster: &Cluster, during: impl FnOnce()) {
    cluster.sh(
        MACHINE,
        &format!("cp -p {CONFIG} /root/right.yaml && sed -i 's/gateway: \\(.*\\)\\.1$/gateway: \\1.250/' {CONFIG}"),
    );
    assert!(cluster.sh(MACHINE, &format!("grep gateway {CONFIG}")).ends_with(".250"));
    during();
    cluster.sh(MACHINE, &format!("mv /root/right.yaml {CONFIG}"));
}

/// The profile as it is kept, and what is active.
fn profile(cluster: &Cluster) -> String {
    let kept = "cat /etc/NetworkManager/system-connections/blackstart.nmconnection";
    cluster.sh(MACHINE, &format!("{kept}; nmcli -g NAME,DEVICE connection show --active; ip -4 route show default"))
}

fn gateway(cluster: &Cluster) -> String {
    cluster.sh(MACHINE, "ip -4 route show default | awk '{print $3}'")
}

/// Profiles that are tried out; they are gone after a reboot.
fn on_trial(cluster: &Cluster) -> String {
    cluster.sh(MACHINE, "find /run/NetworkManager/system-connections -name 'blackstart*'")
}

fn is_reachable(cluster: &Cluster) -> bool {
    cluster.try_sh("worker-01", &format!("ping -c 1 -W 1 {}", cluster.ip(MACHINE))).code == Some(0)
}
