//! Codes of what can go wrong before and between the steps.

explain::codes! {
    NO_MATCH = "BS-IDENT-001", "no node of the cluster matches this machine",
        "add one of this machine's MAC addresses to its node in cluster.yaml, or say which node it is with --node";
    AMBIGUOUS = "BS-IDENT-002", "more than one node of the cluster matches this machine",
        "a MAC address, UUID or serial number must belong to one node only; or say which node it is with --node";
    NO_YAML = "BS-IDENT-004", "a node's description cannot be written as YAML",
        "this is a mistake in the program, not on the machine: please report it with the message";
    NO_RANDOM = "BS-NODE-001", "the system gives no random numbers",
        "a key must not be guessable: look at the kernel's log, then run the command again";
    IMAGE_MISSING = "BS-NODE-002", "an image that a workload needs cannot be pulled",
        "make the registry reachable for the nodes, or import the image on every node with `ctr -n k8s.io images import`";
    NO_CREDENTIAL = "BS-NODE-003", "the node has nothing to prove itself with",
        "seal the configuration with `blackstart config seal` and install the node's own directory, or give a token with --token-file";
    NO_PLACE = "BS-NODE-004", "this master cannot take a place in etcd yet",
        "bring the masters back that the message names; one that is gone for good is removed with `blackstart node remove`";
    BAD_RECORD = "BS-NODE-005", "the record of a run cannot be understood",
        "records are only information: remove the file that the message names, or read it with the version that wrote it";
    CLOCKS_APART = "BS-NODE-006", "this machine's clock is not that of the cluster",
        "set the clock that is wrong, or let `systemd-timesyncd` or `chronyd` synchronise both, then run `blackstart node up` \
         again: certificates that are made with a wrong clock are refused by everybody";
    DATA_GONE = "BS-NODE-007", "etcd's data are gone from this machine, and no other master has them",
        "mount the disk they are on, then run `blackstart node up` again; or restore them: `blackstart backup restore` or \
         `blackstart etcd restore`; to start an empty cluster instead, `blackstart node reset` and then `blackstart node up`";
    NOT_OURS = "BS-RESET-001", "something of somebody else is where we would remove everything",
        "remove or move it yourself if nobody needs it, then run `blackstart node reset` again";
    STILL_RUNS = "BS-RESET-002", "a process does not end",
        "look at it with `ps`; one that waits for a disk or a network file system ends when that answers, or at a restart";
    OWN_NODE = "BS-REMOVE-001", "a node cannot be removed from itself",
        "to take this machine out of the cluster run `blackstart node reset` on it; or run the command on another master";
    NOT_DRAINED = "BS-REMOVE-002", "pods have not left the node in time",
        "look at what holds them (`kubectl get pdb -A`, `kubectl describe pod`), then run the command again, with a longer \
         `--drain-timeout` if they need it; `kubectl uncordon NODE` lets the node go on instead";
    SILENT_NODE = "BS-REMOVE-003", "the node does not answer, so nobody can see whether its pods have ended",
        "start the machine and run the command again; if it is off for good, `--force` deletes its pods without its word: \
         on a machine that still runs they would go on running";
    MEMBERSHIP_BUSY = "BS-REMOVE-004", "somebody else changes etcd's members",
        "wait for whoever the message names, then run the command again; whoever was killed at it is forgotten after 30 s";
    UNKNOWN_NODE = "BS-IDENT-003", "the cluster has no node of that name",
        "use a name from the list in the message";
    UNKNOWN_CHECK = "BS-PRE-001", "there is no check of that name",
        "use a name that `blackstart node preflight --list` prints";
    NOT_ROOT = "BS-PRE-002", "the program does not run as root",
        "run the same command as root, with `sudo` for example";
    NO_PROGRAM = "BS-PRE-003", "a program that the bootstrap needs is not installed",
        "install the packages that hold the programs named in the message";
    CLOCK_WRONG = "BS-PRE-004", "the clock is plainly wrong",
        "set the clock, or let `systemd-timesyncd` or `chronyd` synchronise it: certificates depend on it";
    BAD_MACHINE_ID = "BS-PRE-005", "the machine has no usable machine-id",
        "make one: `rm -f /etc/machine-id /var/lib/dbus/machine-id; systemd-machine-id-setup`, then restart the machine";
    MACHINE_ID_TAKEN = "BS-PRE-006", "another node of the cluster has the same machine-id",
        "one is a copy of the other; on this machine: \
         `rm -f /etc/machine-id /var/lib/dbus/machine-id; systemd-machine-id-setup`, then restart it";
    NAME_LEADS_ELSEWHERE = "BS-PRE-007", "the machine's own name leads to another address",
        "correct `/etc/hosts`, or the name server, so that the name leads to the address in cluster.yaml";
    COMPONENTS_UNFIT = "BS-PRE-008", "the components are not installed, not whole or not of the cluster's version",
        "install a bundle of the cluster's version: `blackstart bundle install DIR`";
    KERNEL_LACKS = "BS-PRE-009", "the kernel lacks something that containers or services need",
        "load the modules named in the message (`modprobe`), or boot a kernel that has them";
    NO_CGROUPS = "BS-PRE-010", "the kernel's control groups cannot be used",
        "boot with systemd and control groups version 2, or with the controllers named in the message";
    PORT_HELD = "BS-PRE-011", "a port that the node needs is held by another program",
        "stop the program named in the message, and keep it from starting again";
    DISK_FULL = "BS-PRE-012", "too little space is free for the node's data",
        "free some space, or mount a larger file system at the directory named in the message";
    DISK_SLOW = "BS-PRE-013", "the disk is too slow for etcd",
        "put `/var/lib/etcd` on an SSD, or find out what else keeps this disk busy";
    OTHER_CLUSTER = "BS-PRE-014", "the machine is, or was, part of another cluster",
        "take it out of that cluster with that cluster's own tools (`kubeadm reset`, `k3s-uninstall.sh`), or move what \
         the message names aside";
    PACKAGES_BUSY = "BS-PKG-001", "somebody else works with this machine's packages",
        "wait until the process that the message names is done, or see why it is not; never remove a lock by hand";
    PACKAGES_UNREACHABLE = "BS-PKG-002", "packages cannot be fetched",
        "check that the sources in /etc/apt or /etc/yum.repos.d have them and that their names resolve (`apt-get update` or `dnf makecache` \
         shows it), then run the same command again; packages that are installed are not fetched";
    PACKAGES_FAILED = "BS-PKG-003", "packages cannot be installed",
        "the message has the words of apt or dnf; once the same works by hand, run the same command again";
    NO_APT = "BS-PKG-004", "this machine has no apt and dpkg",
        "packages come from Debian, or from a relative of it: use such a machine; roles in Ceph belong to such machines only";
    PACKAGES_NO_SPACE = "BS-PKG-005", "there is no space for packages",
        "free some space in the file system that the message names (`apt-get clean` or `dnf clean all` often helps), then \
         run the same command again: it goes on from there";
    NO_INTERFACE = "BS-NET-001", "it cannot be said which interface carries the node's address",
        "list the MAC address of the interface at the node, or name it: `cluster.networking.interface`";
    CUT_OFF = "BS-NET-002", "the new network configuration would have cut the machine off; the old one is back",
        "check address, `node_cidr` and `gateway` in cluster.yaml against the network the machine is plugged into";
    NO_NETWORK_MANAGER = "BS-NET-003", "NetworkManager does not do what it was asked",
        "look at `systemctl status NetworkManager` and `journalctl -u NetworkManager`";
    HOST_NAME = "BS-NET-004", "the host name could not be set",
        "look at `systemctl status systemd-hostnamed`";
    NO_PACKAGE_MANAGER = "BS-PREP-001", "this machine has neither apt nor dnf",
        "prepare such a machine by hand: iSCSI needs the programs `iscsid` and `iscsiadm`, which its distribution has under \
         some name";
    NOT_IN_DIRECTORY = "BS-PREP-002", "the directory does not hold the packages that are needed",
        "put the packages that the message names into the directory, with all that they depend on: \
         `apt-get install --download-only` on a machine of the same release fetches them to /var/cache/apt/archives";
    KERNEL_WITHOUT_ISCSI = "BS-PREP-003", "the kernel has no iSCSI initiator",
        "boot a kernel that has the module iscsi_tcp: the distribution's full one has it, one that is cut down for small or \
         virtual machines may not; or keep Longhorn off this node. Trying again with this kernel does not help";
    MODULE_REFUSED = "BS-PREP-004", "the kernel does not load a module that it has",
        "the message has the words of modprobe and `dmesg` the kernel's; a blacklist in /etc/modprobe.d or a kernel that \
         was upgraded since the last boot is the usual reason";
    NAME_OF_ANOTHER = "BS-PREP-005", "this machine has the initiator name of another one, and volumes are attached by it",
        "move the workloads off this node (`kubectl drain`), so that no session is left (`iscsiadm -m session`), then run the \
         same command again: the machine gets a name of its own";
    ISCSID_MASKED = "BS-PREP-006", "somebody has forbidden iscsid to run",
        "if nobody needs that any more: `systemctl unmask iscsid.service iscsid.socket`, then run the same command again";
    ISCSID_DIES = "BS-PREP-007", "iscsid does not stay up",
        "look at `journalctl -u iscsid`, and at /etc/iscsi/iscsid.conf if somebody has changed it";
    ISCSI_UNPROVEN = "BS-PREP-008", "iSCSI was set up and does not work",
        "look at `journalctl -u iscsid` and `dmesg`, then run the same command again";
    NO_COMPONENT = "BS-PREP-009", "the sources of packages leave out the component that holds the drivers",
        "run the command with `--add-non-free`, which adds a file of its own to /etc/apt/sources.list.d; or add the component \
         to the machine's own sources";
    NO_GPU_DRIVER = "BS-PREP-010", "there is an Intel GPU, and no driver for it",
        "boot a kernel that has i915 or xe for this GPU (newer ones know newer GPUs); one that is given to a virtual machine \
         (vfio-pci) is not for this node";
    NO_TRANSCODING = "BS-PREP-011", "the Intel GPU offers no video coding",
        "`vainfo --display drm` on the node shows the same; a GPU before the 6th generation, or newer than the driver, is the \
         usual reason";
    BAD_NOTE = "BS-PREP-012", "a note in the state directory cannot be understood",
        "it was written by another version, or damaged: read it with the version that wrote it, or move it away. Without the \
         note on packages nothing is uninstalled by `prep undo`";
}
