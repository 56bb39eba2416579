//! Codes of what can go wrong around the work on a node; the work itself has its own, below 030.

explain::codes! {
    NO_NODE_NAME = "BS-PREP-030", "the pod does not know on which node it runs",
        "set NODE_NAME from `spec.nodeName` in the DaemonSet, as infrastructure/node-bootstrap does";
    BAD_SETTING = "BS-PREP-031", "a variable of the pod cannot be understood",
        "CHECK_INTERVAL is a number of seconds from 10, MAX_CONCURRENT a number from 1 or a percentage such as 10%";
    NO_HOST = "BS-PREP-032", "the node's file system is not where the pod expects it",
        "mount the node's / at /host in the DaemonSet, as infrastructure/node-bootstrap does";
    NOT_PUT = "BS-PREP-033", "the script or the program could not be put in place on the node",
        "the message says which file and why: free space, or make the file system writable; the pod tries again by itself";
    NOT_STARTED = "BS-PREP-034", "the node's systemd did not start the work",
        "run `systemctl status` and `journalctl -p warning` on the node; the pod tries again by itself";
    NO_REPORT = "BS-PREP-035", "the work on the node ended without saying how",
        "look at the pod's log, or at `journalctl -u node-bootstrap-iscsi` (or -gpu) on the node; the pod tries again by itself";
    KILLED = "BS-PREP-036", "the work on the node was ended before its end",
        "nothing has to be done: it is started again and repairs what was left; if it happens often, look at the node's \
         memory and at `journalctl -u node-bootstrap-iscsi` (or -gpu)";
    BAD_REPORT = "BS-PREP-037", "what the work on the node said of itself cannot be understood",
        "the next run writes it anew; if it does not, the pod and the program on the node are of different versions";
    NO_API = "BS-PREP-038", "the pod cannot reach the Kubernetes API",
        "what runs on the node goes on, but no new run starts before the API answers: look at the node's network and at \
         the masters; where it says forbidden, apply rbac.yaml of infrastructure/node-bootstrap again";
    NO_METRICS = "BS-PREP-039", "the pod cannot offer its metrics",
        "something else holds the port in the pod's network; the work itself is not affected";
    SIGNALS = "BS-PREP-040", "the pod cannot listen to signals",
        "this is a limit of the system or a mistake in the program: please report it with the message";
    NO_KUBECONFIG = "BS-PREP-041", "no kubeconfig was found",
        "name one with --kubeconfig, or run the command on a master";
    NEVER_REPORTED = "BS-PREP-042", "a node has never said how far it is",
        "look at its pod with `kubectl get pods -n kube-system -o wide -l app=rke2-node-bootstrap-iscsi` (or -gpu)";
    UNMET = "BS-PREP-043", "a node lacks something that is required of it",
        "the message names what; `blackstart prep status` shows all nodes";
    SAME_NAME = "BS-PREP-044", "nodes have the same initiator name, so targets cannot tell them apart",
        "on all of these nodes but one: `kubectl drain`, so that no session is left, then remove \
         /etc/iscsi/initiatorname.iscsi and run /usr/local/bin/iscsi-bootstrap.sh, which makes a new name; where the cause is a \
         cloned disk, compare /etc/machine-id too";
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_ours_and_in_order() {
        assert!(super::ALL.iter().all(|code| ("BS-PREP-030"..="BS-PREP-059").contains(&code.id)));
        assert!(super::ALL.is_sorted_by(|one, next| one.id < next.id));
    }
}
