//! A clock that is a day wrong, in our own process: an answer with a code, nothing that hangs, no broken certificate.

use crate::{
    MASTER, WORKER,
    support::{Check, Cluster, CommandOutput, eventually},
};

const DAY: i64 = 24 * 60 * 60;

pub(crate) const CHECKS: &[Check] = &[
    ("a clock that is a day ahead changes nothing", ahead),
    ("a clock that is a day behind its CA is reported", behind),
    ("a clock that jumps in the middle of a run", in_the_middle),
    ("tokens say when they end, whatever the clock", tokens),
    ("certificates made by a clock that was ahead are made again", from_the_future),
];

fn with_clock(cluster: &Cluster, machine: &str, clock: &str, line: &str) -> CommandOutput {
    cluster.try_sh(machine, &format!("BLACKSTART_CLOCK={clock} timeout 120 blackstart {line}"))
}

/// Everything that must not change.
fn files(cluster: &Cluster, machine: &str) -> String {
    cluster.sh(machine, "find /etc/kubernetes /var/lib/kubelet/pki -type f | sort | xargs sha256sum")
}

fn ahead(cluster: &Cluster) {
    for machine in [MASTER, WORKER] {
        let before = files(cluster, machine);
        let output = with_clock(cluster, machine, &DAY.to_string(), "node up");
        assert!(output.ok().contains("nothing was changed"), "{machine}");
        assert_eq!(files(cluster, machine), before, "{machine}");
    }
    let output = with_clock(cluster, MASTER, &DAY.to_string(), "pki renew --yes");
    assert!(output.ok().contains("nothing is due for renewal"));
}

fn behind(cluster: &Cluster) {
    let before = files(cluster, MASTER);
    for line in ["node up", "pki renew --all --yes", "pki renew apiserver --yes"] {
        let output = with_clock(cluster, MASTER, &(-DAY).to_string(), line);
        // Before the day this code was written no clock is believed at all.
        let code = if output.err.contains("BS-PRE-004") { "BS-PRE-004" } else { "BS-PKI-00" };
        output.refused(1, code);
        assert!(output.err.contains("clock"), "{line}: {output:?}");
    }
    assert_eq!(files(cluster, MASTER), before);
    let before = files(cluster, WORKER);
    let output = with_clock(cluster, WORKER, &(-DAY).to_string(), "node up");
    assert!(output.code == Some(0) || output.err.contains("BS-PRE-004"), "{output:?}");
    assert_eq!(files(cluster, WORKER), before);
    cluster.await_ready(&[MASTER, WORKER]);
}

fn in_the_middle(cluster: &Cluster) {
    let before = files(cluster, MASTER);
    let output = with_clock(cluster, MASTER, &format!("{DAY}:20"), "node up");
    assert!(output.ok().contains("nothing was changed"));
    let output = with_clock(cluster, MASTER, &format!("-{DAY}:20"), "node up");
    assert!(output.code == Some(0) || output.err.contains("clock"), "{output:?}");
    assert_eq!(files(cluster, MASTER), before);
    assert!(cluster.node_up(MASTER, "").ok().contains("nothing was changed"));
}

fn tokens(cluster: &Cluster) {
    let output = with_clock(cluster, MASTER, &DAY.to_string(), "token create --ttl 1h -o json");
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.out.contains("\"expires\""), "it says when it ends: {output:?}");
    // A token that has ended before it is made is of no use to anybody.
    with_clock(cluster, MASTER, &(-DAY).to_string(), "token create --ttl 1h").refused(1, "BS-CLI-013");
}

/// The agent finds certificates whose time has not come and makes them again; no operator has to be called. Several times: the
/// readers were started a moment before, in the same second or in the one before.
fn from_the_future(cluster: &Cluster) {
    for _ in 0..3 {
        with_clock(cluster, MASTER, &DAY.to_string(), "pki renew --all --yes").ok();
        // An agent that was started a moment ago may have seen it already.
        cluster.sh(MASTER, "systemctl restart blackstart-agent");
        let start = "$(openssl x509 -noout -startdate -in /etc/kubernetes/pki/apiserver.crt | cut -d= -f2)";
        let has_begun = format!("test $(date -d \"{start}\" +%s) -le $(date +%s)");
        eventually("the certificate is made again", || cluster.try_sh(MASTER, &has_begun).code == Some(0));
        cluster.await_ready(&[MASTER, WORKER]);
        assert!(cluster.node_up(MASTER, "").ok().contains("is a Ready node"));
    }
    assert!(cluster.node_up(MASTER, "").ok().contains("nothing was changed"));
}
