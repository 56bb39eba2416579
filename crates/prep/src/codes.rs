//! Codes of what can go wrong around the work on a node; the work itself has its own, below 030.

explain::codes! {
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
        assert!(super::ALL.iter().all(|code| ("BS-PREP-030"..="BS-PREP-059").contains(&code.id)));
        assert!(super::ALL.is_sorted_by(|one, next| one.id < next.id));
    }
}
