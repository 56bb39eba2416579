//! Codes of what can go wrong before and between the steps.

explain::codes! {
    NO_YAML = "BS-IDENT-004", "cannot write a node's description as YAML",
        "this is a bug in blackstart: please report it with the message";
    NO_RANDOM = "BS-NODE-001", "cannot get random numbers from the system",
        "without them keys could be guessed: check `dmesg`, then run the command again";
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
    CLUSTER_EXISTS = "BS-NODE-008", "the bootstrap node found an existing cluster",
        "switch this machine off: a second bootstrap node would start a second cluster; to build the cluster again, \
         run `blackstart node reset` on each master first";
    POD_STAYS = "BS-NODE-009", "a static pod does not stop",
        "check `systemctl status kubelet` and `crictl ps` on this machine, then run the same command again";
    NOT_OURS = "BS-RESET-001", "refusing to delete a directory with data blackstart does not own",
        "remove or move that data yourself if it is not needed, then run `blackstart node reset` again";
    OWN_NODE = "BS-REMOVE-001", "a node cannot remove itself",
        "to take this machine out of the cluster run `blackstart node reset` on it; or run the command on another master";
    MEMBERSHIP_BUSY = "BS-REMOVE-004", "another process is changing etcd's members",
        "wait for the process named above and retry; a stale lock expires after 30 s";
    BOOTSTRAP_ALIVE = "BS-REMOVE-005", "the bootstrap node is still running",
        "no action: it hands over by itself, and `blackstart bootstrap wait` shows what it waits for; to remove it \
         before that, switch it off first";
    CUT_OFF = "BS-NET-002", "the new network configuration cut the machine off; rolled back to the old one",
        "check address, `node_cidr` and `gateway` in cluster.yaml against the network the machine is plugged into";
    HOST_NAME = "BS-NET-004", "cannot set the host name", "check `systemctl status systemd-hostnamed`";
}
