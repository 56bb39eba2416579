//! Codes of what can keep an operation from being done.

explain::codes! {
    NOT_DRAINED = "BS-REMOVE-002", "pods were not evicted in time",
        "check what holds them (`kubectl get pdb -A`, `kubectl describe pod`), then run the command again, with a longer \
         `--drain-timeout` if they need it; `kubectl uncordon NODE` cancels the drain";
    SILENT_NODE = "BS-REMOVE-003", "the node is unreachable, so its pods cannot be confirmed stopped",
        "start the machine and run the command again; if it is off for good, `--force` force-deletes its pods: on a \
         machine that still runs they would keep running";
}
