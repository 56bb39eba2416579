//! What others made stays: tables, containers, profiles, files, units, directories.

use crate::support::{Check, Machines, WORKER};

pub(crate) const CHECKS: &[Check] = &[
    ("what others made on a node survives its reset", survives),
    ("what is in use by others is left and reported, and a second reset goes on", reported),
];

/// The machines are nodes when this begins.
const THEIRS: &str = r"
nft add table inet theirs
nft add chain inet theirs input '{ type filter hook input priority 0; }'
iptables -A INPUT -s 192.0.2.1 -j ACCEPT
printf '[connection]\nid=theirs\ntype=ethernet\nautoconnect=false\n\n[ipv4]\nmethod=auto\n' > /etc/NetworkManager/system-connections/theirs.nmconnection
chmod 600 /etc/NetworkManager/system-connections/theirs.nmconnection
nmcli connection reload
echo '{}' > /etc/cni/net.d/99-theirs.conflist
printf '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n' > /etc/systemd/system/theirs.service
systemctl daemon-reload
systemctl -q enable --now theirs.service
ip netns add theirs
ip route add blackhole 192.0.2.128/25 proto static
ctr -n theirs images import --local /root/probe.tar > /dev/null
ctr -n theirs run -d blackstart.local/probe:1 theirs sh -c 'httpd -f -p 8099 -h /www'
";

/// Their traces in a picture.
const TRACES: &[&str] = &["theirs", "192.0.2.", "/etc/cni", "netns", "sleep infinity", "nft"];

fn survives(machines: &Machines) {
    machines.sh(WORKER, THEIRS);
    let output = machines.reset(WORKER, "--uninstall");
    output.refused(1, "BS-RESET-001");
    for (what, line) in [
        ("a table", "nft list table inet theirs"),
        ("a rule in a table that we use, too", "iptables -C INPUT -s 192.0.2.1 -j ACCEPT"),
        ("a profile", "nmcli connection show theirs"),
        ("a CNI configuration", "test -e /etc/cni/net.d/99-theirs.conflist"),
        ("a unit", "systemctl is-active theirs.service && systemctl is-enabled theirs.service"),
        ("a network namespace", "ip netns | grep theirs"),
        ("a route", "ip route | grep 192.0.2.128"),
        ("a container", "pgrep -f 'httpd -f -p 8099'"),
        ("a container's files", "test -d /run/containerd/io.containerd.runtime.v2.task/theirs/theirs/rootfs/www"),
    ] {
        let seen = machines.try_sh(WORKER, line);
        assert_eq!(seen.code, Some(0), "{what}: {seen:?}");
    }
}

fn reported(machines: &Machines) {
    let again = machines.reset(WORKER, "--uninstall");
    again.refused(1, "BS-RESET-001");
    assert!(again.err.contains("namespace theirs"), "{again:?}");
    assert!(again.out.contains("run `blackstart node reset` again to go on"), "{again:?}");
    // Without containerd, the owner of a container there ends it by hand.
    machines.sh(
        WORKER,
        "runc --root /run/containerd/runc/theirs delete --force theirs; pkill -9 -f '[n]amespace theirs'; \
         umount /run/containerd/io.containerd.runtime.v2.task/theirs/theirs/rootfs; \
         rm -rf /run/containerd/runc/theirs /run/containerd/io.containerd.runtime.v2.task/theirs",
    );
    let output = machines.reset(WORKER, "--uninstall");
    assert!(
        output.code == Some(0) && output.out.ends_with("nothing of blackstart is left on this machine\n"),
        "{output:?}"
    );
    machines.assert_as_before_but(WORKER, TRACES);
    machines.sh(
        WORKER,
        "systemctl -q disable --now theirs.service; rm /etc/systemd/system/theirs.service; systemctl daemon-reload; \
         nft delete table inet theirs; nft delete table ip filter; ip netns delete theirs; umount /run/netns; rmdir /run/netns; \
         ip route del blackhole 192.0.2.128/25; rm -r /etc/cni /etc/NetworkManager/system-connections/theirs.nmconnection; \
         nmcli connection reload; find /sys/fs/cgroup -depth -type d -name theirs -exec rmdir {} +",
    );
    machines.assert_as_before(WORKER);
}
