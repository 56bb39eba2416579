//! Codes of what can go wrong with a machine itself.

explain::codes! {
    NO_MATCH = "BS-IDENT-001", "no node of the cluster matches this machine",
        "add one of this machine's MAC addresses to its node in cluster.yaml, or pass --node";
    AMBIGUOUS = "BS-IDENT-002", "more than one node of the cluster matches this machine",
        "a MAC address, UUID or serial number must belong to one node only; or pass --node";
    BAD_RECORD = "BS-NODE-005", "unreadable run record",
        "run records are only information: remove the file named in the message, or read it with the version that wrote it";
    STILL_RUNS = "BS-RESET-002", "a process does not exit",
        "check it with `ps`; one that waits for a disk or a network file system exits when that answers, or at a reboot";
    UNKNOWN_NODE = "BS-IDENT-003", "no such node in cluster.yaml", "use a name from the list in the message";
    NO_INTERFACE = "BS-NET-001", "cannot determine which interface has the node's address",
        "list the interface's MAC address at the node, or set `cluster.networking.interface`";
    NO_NETWORK_MANAGER = "BS-NET-003", "NetworkManager failed",
        "check `systemctl status NetworkManager` and `journalctl -u NetworkManager`";
    MODULE_REFUSED = "BS-PREP-004", "cannot load a kernel module",
        "the message has the output of modprobe, and `dmesg` the kernel's; usual causes are a blacklist in /etc/modprobe.d \
         and a kernel that was upgraded since the last boot";
    PACKAGES_BUSY = "BS-PKG-001", "another process holds the package manager's lock",
        "wait for the process named in the message, or find out why it hangs; never remove a lock by hand";
    PACKAGES_UNREACHABLE = "BS-PKG-002", "packages cannot be fetched",
        "check that the sources in /etc/apt or /etc/yum.repos.d have them and that their names resolve (`apt-get update` \
         or `dnf makecache` shows it), then run the same command again; installed packages are not fetched";
    PACKAGES_FAILED = "BS-PKG-003", "packages cannot be installed",
        "the message has the output of apt or dnf; once the same works by hand, run the same command again";
    NO_APT = "BS-PKG-004", "this machine has no apt and dpkg",
        "use a Debian or Ubuntu machine; Ceph roles are supported only there";
    PACKAGES_NO_SPACE = "BS-PKG-005", "no disk space for packages",
        "free some space in the file system that the message names (`apt-get clean` or `dnf clean all` often helps), then \
         run the same command again: it continues from there";
    NOT_IN_DIRECTORY = "BS-PREP-002", "the directory lacks required packages",
        "put the packages that the message names into the directory, with all that they depend on: `apt-get install \
         --download-only` on a machine of the same release fetches them to /var/cache/apt/archives";
}
