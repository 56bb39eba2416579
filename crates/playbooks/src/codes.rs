//! Codes of what can go wrong before and between the steps.

explain::codes! {
    NO_YAML = "BS-IDENT-004", "cannot write a node's description as YAML",
        "this is a bug in blackstart: please report it with the message";
    NO_RANDOM = "BS-NODE-001", "the system has no random numbers",
        "keys must not be guessable: check the kernel log, then run the command again";
    IMAGE_MISSING = "BS-NODE-002", "an image that a workload needs cannot be pulled",
        "make the registry reachable for the nodes, or import the image on every node with `ctr -n k8s.io images import`";
    NO_CREDENTIAL = "BS-NODE-003", "the node has no join secret or token",
        "seal the configuration with `blackstart config seal` and install the node's own directory, or pass a token with \
         --token-file";
    CANNOT_JOIN_ETCD = "BS-NODE-004", "this master cannot join etcd yet",
        "bring back the masters named in the message; remove one that is gone for good with `blackstart node remove`";
    CLOCKS_APART = "BS-NODE-006", "clock skew between this machine and the cluster",
        "set the clock that is wrong, or let `systemd-timesyncd` or `chronyd` synchronise both, then run `blackstart node \
         up` again: certificates issued with a wrong clock are refused everywhere";
    DATA_GONE = "BS-NODE-007", "etcd's data are gone from this machine, and no other master has them",
        "mount the disk they are on, then run `blackstart node up` again; or restore them: `blackstart backup restore` or \
         `blackstart etcd restore`; to start an empty cluster instead, `blackstart node reset` and then `blackstart node \
         up`";
    NOT_OURS = "BS-RESET-001", "refusing to delete a directory with data blackstart does not own",
        "remove or move that data yourself if it is not needed, then run `blackstart node reset` again";
    OWN_NODE = "BS-REMOVE-001", "a node cannot remove itself",
        "to take this machine out of the cluster run `blackstart node reset` on it; or run the command on another master";
    MEMBERSHIP_BUSY = "BS-REMOVE-004", "another process is changing etcd's members",
        "wait for the process named above and retry; a stale lock expires after 30 s";
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
    NO_INTERFACE = "BS-NET-001", "cannot tell which interface has the node's address",
        "list the interface's MAC address at the node, or set `cluster.networking.interface`";
    CUT_OFF = "BS-NET-002", "the new network configuration cut the machine off; rolled back to the old one",
        "check address, `node_cidr` and `gateway` in cluster.yaml against the network the machine is plugged into";
    NO_NETWORK_MANAGER = "BS-NET-003", "NetworkManager failed",
        "check `systemctl status NetworkManager` and `journalctl -u NetworkManager`";
    HOST_NAME = "BS-NET-004", "cannot set the host name", "check `systemctl status systemd-hostnamed`";
    NO_PACKAGE_MANAGER = "BS-PREP-001", "this machine has neither apt nor dnf",
        "prepare such a machine by hand: iSCSI needs the programs `iscsid` and `iscsiadm`, which its distribution has under \
         some name";
    KERNEL_WITHOUT_ISCSI = "BS-PREP-003", "the kernel has no iSCSI initiator",
        "boot a kernel that has the module iscsi_tcp: the distribution's full one has it, one that is cut down for small \
         or virtual machines may not; or keep Longhorn off this node. Retrying with this kernel does not help";
    MODULE_REFUSED = "BS-PREP-004", "cannot load a kernel module",
        "the message has the output of modprobe, and `dmesg` the kernel's; usual causes are a blacklist in /etc/modprobe.d \
         and a kernel that was upgraded since the last boot";
    NAME_OF_ANOTHER = "BS-PREP-005", "duplicate iSCSI initiator name, and volumes are attached with it",
        "drain this node (`kubectl drain`), so that no session is left (`iscsiadm -m session`), then run the same command \
         again: the machine gets its own name";
    ISCSID_MASKED = "BS-PREP-006", "iscsid is masked",
        "if that is no longer wanted: `systemctl unmask iscsid.service iscsid.socket`, then run the same command again";
    ISCSID_DIES = "BS-PREP-007", "iscsid does not stay up",
        "check `journalctl -u iscsid`, and /etc/iscsi/iscsid.conf if it was changed";
    ISCSI_UNPROVEN = "BS-PREP-008", "iSCSI is set up but does not work",
        "check `journalctl -u iscsid` and `dmesg`, then run the same command again";
    NO_COMPONENT = "BS-PREP-009", "the package sources do not include the component with the drivers",
        "run the command with `--add-non-free`, which adds a file of its own to /etc/apt/sources.list.d; or add the \
         component to the machine's own sources";
    NO_GPU_DRIVER = "BS-PREP-010", "no driver for the Intel GPU",
        "boot a kernel that has i915 or xe for this GPU (newer ones know newer GPUs); one that is given to a virtual \
         machine (vfio-pci) is not for this node";
    NO_TRANSCODING = "BS-PREP-011", "the Intel GPU has no video encoding or decoding",
        "`vainfo --display drm` on the node shows the same; usual causes are a GPU before the 6th generation or newer than \
         the driver";
    BAD_NOTE = "BS-PREP-012", "unreadable file in the state directory",
        "it was written by another version, or damaged: read it with the version that wrote it, or move it away. Without \
         the list of packages `prep undo` uninstalls nothing";
}
