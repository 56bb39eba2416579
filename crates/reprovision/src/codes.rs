//! Codes of what can go wrong on a node that is worked on in place: up to 029 around the work, from 030 on with an Ignition payload,
//! from 060 on with a payload of bash and Ansible.

explain::codes! {
    NO_KUBECONFIG = "BS-IPB-001", "no kubelet credential found on the node",
        "the message has the files that were looked for; set `--kubeconfig` in the unit blackstart-reprovision.service";
    NO_SECRET_ACCESS = "BS-IPB-002", "the node cannot read its Secret",
        "the controller allows it for the time of a run: check the logs of the Deployment ipb-controller in ipb-system, and the Role of \
         the Secret's name there";
    BAD_NOTE = "BS-IPB-003", "unreadable note in /var/lib/blackstart-reprovision",
        "it was written by another version, or damaged: read it with the version that wrote it. Nothing is done until it is moved away";
    INTERRUPTED = "BS-IPB-004", "the machine was rebooted before the work was committed",
        "nothing was changed: label the node again";
    NOT_REBOOTED = "BS-IPB-005", "the machine does not reboot",
        "check `systemctl list-jobs` and the machine's console, then reboot it by hand: the work goes on by itself";
    NOT_CONFIRMED = "BS-IPB-006", "the cluster did not confirm the node in time, so it goes back",
        "check the Deployment ipb-controller in ipb-system, and whether the node reaches the API";
    TIMED_OUT = "BS-IPB-007", "the work did not end in time",
        "`journalctl -u blackstart-reprovision` on the node has its output";
    NOT_STARTED = "BS-IPB-008", "systemd on the node did not start the work",
        "run `systemctl status blackstart-reprovision` on the node; the pod retries by itself";
    NOT_PUT = "BS-IPB-009", "cannot copy the program or its units to the node",
        "the message has the file and the cause: free space, or make the file system writable; the pod retries by itself";
    NO_WAY_BACK = "BS-IPB-010", "the node could not go back",
        "the message has what remains; `journalctl -u blackstart-reprovision` on the node has the output";
    NO_NODE_NAME = "BS-IPB-011", "the pod does not know its node",
        "set NODE_NAME from `spec.nodeName` in the DaemonSet, as infrastructure/in-place does";
    NO_HOST = "BS-IPB-012", "the node's file system is not mounted in the pod",
        "mount the node's / at /host in the DaemonSet, as infrastructure/in-place does";
    MISSING_KEY = "BS-IPB-013", "the node's Secret lacks a key", "add the key that the message names to the Secret";
    CLOCK_SKEW = "BS-IPB-014", "clock skew: the node's clock is wrong",
        "set the clock, or let `chronyd` or `systemd-timesyncd` synchronise it";
    NO_SPACE = "BS-IPB-015", "not enough free space on the node",
        "free space in the file system that the message names";
    EXPIRED = "BS-IPB-016", "the token in the node's Secret has expired",
        "create the Secret again with a new token";
    OTHER_UPDATER = "BS-IPB-017", "another automatic updater is active on the node",
        "disable it for the time of the work: it could reboot the machine in the middle";
    INCONCLUSIVE = "BS-IPB-018", "a check could not be made",
        "the message has the check and the reason: what cannot be checked now would fail in the middle of the work";
    ORDERED_BACK = "BS-IPB-019", "the cluster told the node to go back",
        "`kubectl get nodeupgrade NODE -o yaml` has the reason";
    NO_DRIVER = "BS-IPB-020", "the node's program does not know the driver",
        "the program on the node is older than the controller: update the image of ipb-daemonset";
    NO_ACCOUNT = "BS-IPB-021", "the pod has no service account",
        "it runs in a pod of the DaemonSet ipb-daemonset: `kubectl apply -k infrastructure/in-place`";
    SIGNALS = "BS-IPB-022", "cannot install signal handlers",
        "this is a bug in blackstart, or a limit of the system: please report it with the message";
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_ours_and_in_order() {
        assert!(super::ALL.iter().all(|code| ("BS-IPB-001"..="BS-IPB-089").contains(&code.id)));
        assert!(super::ALL.is_sorted_by(|one, next| one.id < next.id));
    }
}
