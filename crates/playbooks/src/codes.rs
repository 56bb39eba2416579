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
    CLUSTER_EXISTS = "BS-NODE-008", "a bootstrap node found a cluster that exists",
        "switch this machine off: a second bootstrap node would make a second cluster. If the masters are to start again, reset \
         each of them with `blackstart node reset` first";
    POD_STAYS = "BS-NODE-009", "a static pod does not end",
        "check `systemctl status kubelet` and `crictl ps` on this machine, then run the same command again";
    NOT_OURS = "BS-RESET-001", "refusing to delete a directory with data blackstart does not own",
        "remove or move that data yourself if it is not needed, then run `blackstart node reset` again";
    OWN_NODE = "BS-REMOVE-001", "a node cannot remove itself",
        "to take this machine out of the cluster run `blackstart node reset` on it; or run the command on another master";
    MEMBERSHIP_BUSY = "BS-REMOVE-004", "another process is changing etcd's members",
        "wait for the process named above and retry; a stale lock expires after 30 s";
    CUT_OFF = "BS-NET-002", "the new network configuration cut the machine off; rolled back to the old one",
        "check address, `node_cidr` and `gateway` in cluster.yaml against the network the machine is plugged into";
    HOST_NAME = "BS-NET-004", "cannot set the host name", "check `systemctl status systemd-hostnamed`";
    NO_PACKAGE_MANAGER = "BS-PREP-001", "this machine has neither apt nor dnf",
        "prepare such a machine by hand: iSCSI needs the programs `iscsid` and `iscsiadm`, which its distribution has under \
         some name";
    KERNEL_WITHOUT_ISCSI = "BS-PREP-003", "the kernel has no iSCSI initiator",
        "boot a kernel that has the module iscsi_tcp: the distribution's full one has it, one that is cut down for small \
         or virtual machines may not; or keep Longhorn off this node. Retrying with this kernel does not help";
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
