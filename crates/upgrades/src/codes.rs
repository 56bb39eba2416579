//! Codes of what keeps a node from being worked on in place, as the cluster sees it.

explain::codes! {
    NO_SECRET = "BS-UPG-001", "the node has no Secret yet",
        "create the Secret that the message names in the namespace ipb-system, with the label blackstart.io/ipb=true; \
         `blackstart reprovision start` does it all";
    BAD_SECRET = "BS-UPG-002", "the node's Secret is incomplete or ambiguous",
        "RHCOS needs ignition-url, ignition-token and ca.crt; RHEL needs bootstrap-url, bootstrap-token, worker-id, cluster-id and \
         region; never both. Change the Secret: it is read again at once";
    NO_SLOT = "BS-UPG-003", "other nodes are being worked on",
        "no action needed: the node follows when one of them is done; one that is Stuck keeps its slot until a person has \
         repaired it";
    NODE_GONE = "BS-UPG-004", "the Node object is gone",
        "`kubectl delete nodeupgrade NODE`; if the machine still runs, restart its kubelet so that it registers again";
    OTHERS_NOT_READY = "BS-UPG-005", "other nodes are not Ready",
        "repair them first (`kubectl get nodes`), cordon them if they are away on purpose, or delete Nodes whose machines are gone: a node \
         that is taken away now would make it worse";
    CHECKS_UNMET = "BS-UPG-006", "preflight found problems on the node",
        "nothing was changed. Repair what the message names, then label the node again";
    NO_ANSWER = "BS-UPG-007", "the node does not report",
        "check its pod with `kubectl -n ipb-system get pods -o wide -l app=ipb-daemonset`, or `journalctl -u blackstart-agent` on it \
         where agents do the work; and `journalctl -u blackstart-reprovision` on the node";
    NOT_DRAINED = "BS-UPG-008", "the node could not be drained in time",
        "the message has the pods and the budgets that hold them: add replicas, or relax the budget, then label the node again. \
         `drain.onTimeout: delete` in the NodeUpgrade deletes such pods instead";
    VOLUMES_ATTACHED = "BS-UPG-009", "volumes are still attached to the node",
        "check `kubectl get volumeattachments` and the logs of the CSI driver that the message names";
    NOT_APPLIED = "BS-UPG-010", "the node did not finish its work in time",
        "`journalctl -u blackstart-reprovision` on the node has the output; the node goes back by itself where that is possible";
    NOT_RETURNED = "BS-UPG-011", "the node did not come back from its reboot",
        "check the machine's console. If it boots the old system, it reports and goes back by itself";
    GATES_UNMET = "BS-UPG-012", "the node is back, and the cluster is not well",
        "the message has what is missing. It must hold before the next node is taken; when the deadline is over the node \
         goes back to what it was, if `rollback` is auto";
    ABORTED = "BS-UPG-013", "aborted by a user, or the label ipb-schedule was removed",
        "nothing was changed on the node. Label it again to begin another run";
    REFUSED_BEFORE = "BS-UPG-014", "this very target was rolled back on this node before",
        "give the node another payload, or annotate its NodeUpgrade with blackstart.io/retry and any new value";
    FAILED = "BS-UPG-015", "the node reports a failure",
        "the message has what the node reports; it goes back to what it was where that is possible";
    STUCK = "BS-UPG-016", "the node could not go back, or is not to",
        "the node stays cordoned and keeps its slot. Repair it by hand (`journalctl -u blackstart-reprovision`), then annotate its \
         NodeUpgrade with blackstart.io/retry, or delete it, which restores labels, taints and the cordon";
    PROGRESS_REFUSED = "BS-UPG-030", "the progress API refuses a report",
        "check progress-url and progress-token in the node's Secret; the node itself is not affected";
    PROGRESS_UNDELIVERED = "BS-UPG-031", "progress was not delivered for a day, and is dropped",
        "the node itself is not affected. Check that the progress API can be reached from the pod ipb-controller";
    PROGRESS_REQUIRED = "BS-UPG-032", "progress cannot be reported, and the node's Secret requires it",
        "repair the progress API, or set progress-required to false in the Secret";
    PROGRESS_DELAYED = "BS-UPG-033", "progress cannot be delivered now",
        "no action needed: it is tried again for a day, and the node itself is not affected. If it lasts, check that the \
         progress API can be reached from the pod ipb-controller, and that progress-ca.crt is its CA";
    NO_ACCOUNT = "BS-UPG-040", "the controller has no service account",
        "it runs in a pod of the Deployment ipb-controller: `kubectl apply -k infrastructure/in-place`";
    SIGNALS = "BS-UPG-041", "cannot install signal handlers",
        "this is a bug in blackstart, or a limit of the system: please report it with the message";
    NO_SIGN = "BS-UPG-042", "the controller cannot show its probes how it is",
        "its pod needs a /tmp that can be written: compare it with `infrastructure/in-place/controller.yaml`";
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_in_order() {
        assert!(super::ALL.is_sorted_by(|one, next| one.id < next.id));
    }
}
