//! Codes of what can go wrong in the work on a node, and from 030 on around it.

explain::codes! {
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
    NO_NODE_NAME = "BS-PREP-030", "the pod does not know its node",
        "set NODE_NAME from `spec.nodeName` in the DaemonSet, as infrastructure/node-bootstrap does";
    BAD_SETTING = "BS-PREP-031", "invalid environment variable in the pod",
        "CHECK_INTERVAL is a number of seconds from 10, MAX_CONCURRENT a number from 1 or a percentage such as 10%";
    NO_HOST = "BS-PREP-032", "the node's file system is not mounted in the pod",
        "mount the node's / at /host in the DaemonSet, as infrastructure/node-bootstrap does";
    NOT_PUT = "BS-PREP-033", "cannot copy the script or the program to the node",
        "the message has the file and the cause: free space, or make the file system writable; the pod retries by itself";
    NOT_STARTED = "BS-PREP-034", "systemd on the node did not start the preparation",
        "run `systemctl status` and `journalctl -p warning` on the node; the pod retries by itself";
    NO_REPORT = "BS-PREP-035", "preparation ended without a report",
        "check the pod's log, or `journalctl -u node-bootstrap-iscsi` (or -gpu) on the node; the pod retries by itself";
    KILLED = "BS-PREP-036", "preparation was interrupted",
        "no action needed: it is started again and repairs what was left; if it happens often, check the node's memory and \
         `journalctl -u node-bootstrap-iscsi` (or -gpu)";
    BAD_REPORT = "BS-PREP-037", "unreadable preparation report",
        "the next run writes it again; if it does not, the pod and the program on the node have different versions";
    NO_API = "BS-PREP-038", "the pod cannot reach the Kubernetes API",
        "what runs on the node continues, but no new run starts until the API answers: check the node's network and the \
         masters; if the error is forbidden, apply rbac.yaml of infrastructure/node-bootstrap again";
    NO_METRICS = "BS-PREP-039", "the pod cannot serve its metrics",
        "another process uses the port in the pod's network; the preparation is not affected";
    SIGNALS = "BS-PREP-040", "cannot install signal handlers",
        "this is a bug in blackstart, or a limit of the system: please report it with the message";
    NO_KUBECONFIG = "BS-PREP-041", "no kubeconfig found", "pass --kubeconfig, or run the command on a master";
    NEVER_REPORTED = "BS-PREP-042", "a node has never reported",
        "check its pod with `kubectl get pods -n kube-system -o wide -l app=rke2-node-bootstrap-iscsi` (or -gpu)";
    UNMET = "BS-PREP-043", "a node does not meet a requirement",
        "the message has what is missing; `blackstart prep status` shows all nodes";
    SAME_NAME = "BS-PREP-044", "duplicate iSCSI initiator name",
        "on all of these nodes but one: `kubectl drain`, so that no session is left, then remove \
         /etc/iscsi/initiatorname.iscsi and run /usr/local/bin/iscsi-bootstrap.sh, which makes a new name; where the cause \
         is a cloned disk, compare /etc/machine-id too";
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_ours_and_in_order() {
        assert!(super::ALL.iter().all(|code| ("BS-PREP-001"..="BS-PREP-059").contains(&code.id)));
        assert!(super::ALL.is_sorted_by(|one, next| one.id < next.id));
    }
}
