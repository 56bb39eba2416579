//! Codes of what can go wrong on a node that is worked on in place: up to 029 around the work, from 030 on with an Ignition payload,
//! from 060 on with a payload of bash and Ansible.

explain::codes! {
    NO_KUBECONFIG = "BS-IPB-001", "no kubelet credential found on the node",
        "the message has the files that were searched; set `--kubeconfig` in the unit blackstart-reprovision.service";
    NO_SECRET_ACCESS = "BS-IPB-002", "the node cannot read its Secret",
        "the controller allows it for the time of a run: check the logs of the Deployment ipb-controller in ipb-system, or of the masters' agents, and the Role of \
         the Secret's name there";
    BAD_NOTE = "BS-IPB-003", "unreadable note in /var/lib/blackstart-reprovision",
        "it was written by another version, or damaged: read it with the version that wrote it. Nothing is done until it is moved away";
    INTERRUPTED = "BS-IPB-004", "the machine was rebooted before the work was committed",
        "nothing was changed: label the node again";
    NOT_REBOOTED = "BS-IPB-005", "the machine does not reboot",
        "check `systemctl list-jobs` and the machine's console, then reboot it by hand: the work goes on by itself";
    NOT_CONFIRMED = "BS-IPB-006", "the cluster did not confirm the node in time, so it goes back",
        "check the Deployment ipb-controller in ipb-system, or the masters' agents where they do its work, and whether the node reaches the API";
    TIMED_OUT = "BS-IPB-007", "the work did not end in time",
        "`journalctl -u blackstart-reprovision` on the node has its output";
    NOT_STARTED = "BS-IPB-008", "systemd on the node did not start the work",
        "run `systemctl status blackstart-reprovision` on the node; it is tried again by itself";
    NOT_PUT = "BS-IPB-009", "cannot copy the program or its units to the node",
        "the message has the file and the cause: free space, or make the file system writable; it is tried again by itself";
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
    ORDERED_BACK = "BS-IPB-019", "rollback ordered by the controller",
        "`kubectl get nodeupgrade NODE -o yaml` has the reason";
    NO_ACCOUNT = "BS-IPB-021", "the pod has no service account",
        "it runs in a pod of the DaemonSet ipb-daemonset: `kubectl apply -k infrastructure/in-place`";
    SIGNALS = "BS-IPB-022", "cannot install signal handlers",
        "this is a bug in blackstart, or a limit of the system: please report it with the message";
    NO_SIGN = "BS-IPB-023", "the pod cannot show its probes how it is",
        "it needs a /tmp that can be written: compare it with `infrastructure/in-place/daemonset.yaml`";
    NOT_BUILT = "BS-IPB-030", "the ignition server has not built the payload yet",
        "wait: the node asks again by itself. If it stays so, check the NodePool and the pod ignition-server of the hosted cluster";
    WRONG_TOKEN = "BS-IPB-031", "the ignition server refuses the token",
        "tokens are rotated: put the present one into the key `ignition-token` of the node's Secret";
    WRONG_CA = "BS-IPB-032", "TLS: the certificate of the ignition server is not trusted",
        "put the CA of the ignition server into the key `ca.crt` of the node's Secret; where the message speaks of time, set the clock";
    IGNITION_UNREACHABLE = "BS-IPB-033", "the ignition server does not answer",
        "check `ignition-url` in the node's Secret, and that this node resolves and reaches that address";
    BAD_ANSWER = "BS-IPB-034", "the ignition server answers with something else than a payload",
        "check `ignition-url` in the node's Secret, and the log of the ignition server";
    BAD_PAYLOAD = "BS-IPB-035", "the payload is not what a machine config server serves",
        "the message has the place: check that `ignition-url` leads to the ignition server, and its version";
    UNKNOWN_FIELD = "BS-IPB-036", "the MachineConfig has fields that this version does not know",
        "they are passed on as they are: check what they mean before you go on";
    NO_IMAGE = "BS-IPB-037", "the payload does not name an image that is needed",
        "check the rendered MachineConfig: its units machine-config-daemon-pull and -firstboot, and osImageURL";
    IMAGES_DISAGREE = "BS-IPB-038", "the payload names two different images for one thing",
        "a roll-out is under way, or the payload was put together by hand: let the ignition server build it again";
    NOT_A_DIGEST = "BS-IPB-039", "an image is not named by its digest",
        "use a release whose images are named by `@sha256:`: a tag may be another image in a minute";
    INCOMPLETE_PAYLOAD = "BS-IPB-040", "the payload lacks a file that the node cannot do without",
        "the message has its path: check the version of the ignition server";
    NOT_RECONCILABLE = "BS-IPB-041", "MachineConfig not reconcilable: the machine-config-daemon would refuse it",
        "remove from the MachineConfig what the message names, or reinstall the machine";
    NO_TOOL = "BS-IPB-042", "a program that is needed is not installed", "use RHCOS, or install what the message names";
    STAGED = "BS-IPB-043", "another deployment of the system waits for a reboot",
        "reboot into it, or drop it: `rpm-ostree cleanup --pending`";
    BAD_STATUS = "BS-IPB-044", "rpm-ostree does not say what is booted",
        "run `rpm-ostree status` on the node: only a machine booted from a deployment can be worked on";
    ARMED_BY_ANOTHER = "BS-IPB-045", "the machine is armed to provision itself at its next boot",
        "find out who wrote /etc/ignition-machine-config-encapsulated.json; where it is not needed, remove it";
    REGISTRY_UNREACHABLE = "BS-IPB-046", "a registry does not answer",
        "check that this node resolves and reaches the registry, and that its CA is in the system's store or in /etc/containers/certs.d";
    REGISTRY_DENIES = "BS-IPB-047", "a registry refuses the image",
        "put credentials that may pull it into the pull secret of the cluster, or into the key `pull-secret` of the node's Secret";
    NO_MANIFEST = "BS-IPB-048", "a registry does not have the image",
        "mirror the release again, or use a payload of a release that the registry has";
    BAD_PULL_SECRET = "BS-IPB-049", "unreadable pull secret",
        "the message has where it is from: it must be JSON with `auths`, as `.dockerconfigjson` has it";
    PAYLOAD_GONE = "BS-IPB-050", "payload of this run is missing on disk",
        "label the node again: it is fetched again";
    NOTHING_KEPT = "BS-IPB-051", "what the way back needs is not on the disk",
        "`rpm-ostree status` shows the deployments: make the old one the default by hand, and reboot";
    MCD_FAILED = "BS-IPB-052", "machine-config-daemon failed or timed out",
        "the message has the end of its output; `podman logs blackstart-reprovision-mcd` has more while it runs";
    NOT_BOOTED = "BS-IPB-053", "the machine has not booted the new image",
        "`rpm-ostree status` and `journalctl -b -1 -u ostree-finalize-staged` say why";
    NOT_APPLIED = "BS-IPB-054", "the machine does not have the new MachineConfig",
        "`journalctl -b -1 -t machine-config-daemon` says how far it came";
    CANNOT_ROLL_BACK = "BS-IPB-055", "the previous deployment cannot be made the default",
        "run `ostree admin set-default INDEX` with the deployment that the message names, and reboot";
    BOOTSTRAP_REFUSED = "BS-IPB-060", "the bootstrap API refuses the node's token",
        "create the node's Secret again with a token for this worker, cluster and region";
    BOOTSTRAP_NOT_READY = "BS-IPB-061", "the bootstrap API has no payload yet",
        "wait until it has made the payload of this worker; the node is asked again by itself";
    BOOTSTRAP_UNREACHABLE = "BS-IPB-062", "the bootstrap API cannot be reached",
        "check `bootstrap-url` in the node's Secret, and from the node its name server, routes and firewalls";
    BOOTSTRAP_DISTRUSTED = "BS-IPB-063", "TLS: the certificate of the bootstrap API is not trusted",
        "put the CA of its certificate into `ca.crt` of the node's Secret, and check the node's clock";
    BOOTSTRAP_ANSWER = "BS-IPB-064", "the bootstrap API does not answer with a payload",
        "check `bootstrap-url`, `worker-id`, `cluster-id` and `region` in the node's Secret, and the log of that server";
    BOOTSTRAP_SUM = "BS-IPB-065", "the payload is not the one that was announced",
        "the message has both sums: correct `sha256` in the node's Secret, or find out what changes the payload on its way";
    PAYLOAD_UNSAFE = "BS-IPB-066", "the archive of the payload has what is not unpacked",
        "make the archive again without the entry that the message names: nothing of it was run";
    PAYLOAD_UNKNOWN = "BS-IPB-067", "payload format unknown: neither a script nor an archive with an entry point",
        "a payload is a bash script, or a tar archive (gzip or not) with bootstrap.sh or `playbook.yml` at its top";
    PAYLOAD_LOST = "BS-IPB-068", "payload of this run is missing or changed on disk",
        "label the node again: the next run fetches it again. What was begun is undone by the way back";
    NO_ANSIBLE = "BS-IPB-069", "the payload is an Ansible playbook, and the node has no ansible-playbook",
        "`dnf install ansible-core` on the node, or add a bootstrap.sh to the payload that does so";
    NO_DNF = "BS-IPB-070", "the node has no dnf", "the driver rhel is for RHEL and its relatives: use a Secret for another driver";
    PACKAGES_HELD = "BS-IPB-071", "another process works with the node's packages",
        "wait for the process that the message names, or stop it";
    TRANSACTION_INTERRUPTED = "BS-IPB-072", "the node's last dnf transaction was interrupted",
        "complete it: `dnf history redo last`, then `dnf check` and `dnf remove --duplicates`";
    MIRRORS = "BS-IPB-073", "the node's package repositories cannot be used",
        "`dnf makecache --refresh` on the node: check its subscription, proxy and the repository that the message names";
    REGISTRY = "BS-IPB-074", "a registry of the Secret cannot be used",
        "check from the node: `curl https://HOST/v2/` must answer 200 or 401 by a certificate that the node's CA store knows";
    STAGE_FAILED = "BS-IPB-075", "a stage of the payload failed",
        "the message has its last lines, `journalctl -u blackstart-reprovision -u blackstart-reprovision-boot` all of them";
    STAGE_KILLED = "BS-IPB-076", "a stage of the payload was killed",
        "check `dmesg` for the out-of-memory killer; the stage is run again by itself";
    FILES_LIST = "BS-IPB-077", "the payload's list `files` cannot be used",
        "each line of it is the absolute path of one file or link, without `..`, and none below /dev, /proc, /run or /sys";
    NOT_UNDONE = "BS-IPB-078", "the packages of the payload could not be undone",
        "`dnf history list` on the node shows the transactions; the older packages must be in a repository that the node has";
    OLD_KERNEL = "BS-IPB-079", "the former kernel could not be made the default",
        "`grubby --set-default /boot/vmlinuz-VERSION` on the node with the version that the message names, then reboot";
    DNF = "BS-IPB-080", "dnf failed on the node",
        "run the command that the message names on the node: what it prints says more";
    NO_OLD_PACKAGES = "BS-IPB-081", "packages that can be updated could not be put back",
        "keep the versions that are installed in a repository of the node, else the way back from an update fails";
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_ours_and_in_order() {
        assert!(super::ALL.iter().all(|code| ("BS-IPB-001"..="BS-IPB-089").contains(&code.id)));
        assert!(super::ALL.is_sorted_by(|one, next| one.id < next.id));
    }
}
