//! Codes of what is checked before anything is changed.

explain::codes! {
    UNKNOWN_CHECK = "BS-PRE-001", "unknown check", "use a name that `blackstart node preflight --list` prints";
    NOT_ROOT = "BS-PRE-002", "not running as root", "run the same command as root, with `sudo` for example";
    NO_PROGRAM = "BS-PRE-003", "a required program is not installed",
        "install the packages that hold the programs named in the message";
    CLOCK_WRONG = "BS-PRE-004", "the clock is wrong",
        "set the clock, or let `systemd-timesyncd` or `chronyd` synchronise it: certificates depend on it";
    BAD_MACHINE_ID = "BS-PRE-005", "the machine has no usable machine-id",
        "make one: `rm -f /etc/machine-id /var/lib/dbus/machine-id; systemd-machine-id-setup`, then restart the machine";
    MACHINE_ID_TAKEN = "BS-PRE-006", "duplicate machine-id: another node of the cluster has the same",
        "one is a copy of the other; on this machine: `rm -f /etc/machine-id /var/lib/dbus/machine-id; \
         systemd-machine-id-setup`, then restart it";
    NAME_LEADS_ELSEWHERE = "BS-PRE-007", "the host name resolves to another address",
        "correct `/etc/hosts`, or the name server, so that the name resolves to the address in cluster.yaml";
    COMPONENTS_UNFIT = "BS-PRE-008", "the components are missing, incomplete or of the wrong version",
        "install a bundle of the cluster's version: `blackstart bundle install DIR`";
    KERNEL_LACKS = "BS-PRE-009", "the kernel lacks a required feature",
        "load the modules named in the message (`modprobe`), or boot a kernel that has them";
    NO_CGROUPS = "BS-PRE-010", "unusable cgroups",
        "boot with systemd and control groups version 2, or with the controllers named in the message";
    PORT_HELD = "BS-PRE-011", "a required port is in use",
        "stop the program named in the message, and keep it from starting again";
    DISK_FULL = "BS-PRE-012", "not enough disk space",
        "free some space, or mount a larger file system at the directory named in the message";
    DISK_SLOW = "BS-PRE-013", "the disk is too slow for etcd",
        "put `/var/lib/etcd` on an SSD, or find out what else keeps this disk busy";
    OTHER_CLUSTER = "BS-PRE-014", "the machine is, or was, part of another cluster",
        "take it out of that cluster with that cluster's own tools (`kubeadm reset`, `k3s-uninstall.sh`), or move what \
         the message names aside";
}
