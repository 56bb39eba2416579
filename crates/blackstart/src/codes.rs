//! Codes of the command line itself, and the list of all codes there are.

use explain::Code;

explain::codes! {
    UNKNOWN_CODE = "BS-CLI-001", "unknown code", "`blackstart explain` without an argument lists all codes";
    NOT_CONFIRMED = "BS-CLI-002", "stdin is not a terminal; pass --yes",
        "pass --yes if the plan is what you want, or run the command on a terminal";
    CANNOT_PRINT = "BS-CLI-003", "cannot write the result", "check where the output goes: a closed pipe, a full disk";
    DECLINED = "BS-CLI-004", "not confirmed, so nothing was changed",
        "run the command again and answer `yes` if the plan is what you want";
    NOT_A_MASTER = "BS-CLI-005", "this node has no control plane and none of these certificates",
        "choose a master with --node";
    NO_RUNTIME = "BS-CLI-006", "cannot start the async runtime",
        "the system is probably out of memory, processes or file descriptors: check the limits (`ulimit -a`)";
    NOT_LIVE = "BS-CLI-007", "this machine was not booted by systemd",
        "run the command on the machine itself and without --root; `blackstart lab up` makes machines on this computer";
    NO_TOKEN = "BS-CLI-008", "cannot read a join token",
        "a token has the form id.secret; `blackstart token create` on a master makes one";
    BAD_TIME = "BS-CLI-009", "invalid duration", "write it as 30m, 24h or 7d";
    BAD_CONFIGURATION = "BS-CLI-010", "the configuration has errors",
        "`blackstart check` shows all of them, with line, column and a hint";
    NO_SUCH_RUN = "BS-CLI-011", "no such run on this node",
        "`blackstart node timeline --list` shows the runs that are kept";
    NO_PICTURE = "BS-CLI-012", "this result has no SVG output",
        "use `-o text` or `-o json`; only `blackstart node timeline` knows `-o svg`";
    CLOCK_BEHIND = "BS-CLI-013", "clock skew: this machine is behind the API server",
        "set the clock, or let `systemd-timesyncd` or `chronyd` synchronise it, then run the same command again";
    NO_NODE = "BS-CLI-014", "this machine is not a node of a cluster",
        "run the command on a node, or choose a lab of this computer with `--lab`";
    NOT_FIRST = "BS-CLI-015", "only the first master starts a cluster",
        "run the command on the first master by name; to bring a cluster back elsewhere, restore a backup there";
    LEFT_BEHIND = "BS-CLI-016", "an unreachable node would miss the key rotation",
        "bring the node up, or take it out with `blackstart node remove` and out of cluster.yaml; then run the same \
         command again";
    ROTATION_WAITS = "BS-CLI-017", "a node does not follow the key rotation",
        "check `journalctl -u blackstart-agent` on that node; the same command, on any master, continues from here";
    OTHER_ROTATION = "BS-CLI-030", "a rotation of other keys is under way",
        "finish that one first, with the same command that began it, on any master";
    NOTHING_TO_ROTATE = "BS-CLI-031", "this cluster has no such key, or blackstart does not manage it",
        "leave the subject out; `blackstart pki rotate --help` describes each of them";
    NOT_ENCRYPTED = "BS-CLI-032", "some Secrets are not yet encrypted with the new key",
        "the message has the cause; the same command, on any master, continues from here, and the old key stays until then";
    UNKNOWN_NODE = "BS-CLI-040", "no such node in the cluster",
        "check the name: `kubectl get nodes` lists the nodes, and cluster.yaml those that have not joined yet";
    ONLY_ON_MASTERS = "BS-CLI-041", "this command needs a master", "run the command on a master, as root";
    NOTHING_TO_REARM = "BS-CLI-042", "workers do not hold the cluster's keys, so there is nothing to rearm",
        "no action: with its sealed directory a worker can join any number of times";
    NO_ETCD = "BS-CLI-043", "this node is a worker and has no etcd",
        "run the command on a master, or pass this machine's node with --node";
    NOT_A_MEMBER = "BS-CLI-044", "cluster.yaml lists a node that the cluster does not have",
        "if it was removed, take it out of cluster.yaml on every node and run `blackstart node reset` on its machine; else \
         let it join first";
    NO_BOOTSTRAP_NODE = "BS-CLI-045", "this cluster has no bootstrap node",
        "use `blackstart node status` and `blackstart watch`: they show clusters that the first master starts";
    ONLY_ON_BOOTSTRAP = "BS-CLI-046", "this command needs the bootstrap node",
        "run it there, as root; `blackstart bootstrap status` without --checklist works on masters, too";
    NOT_IN_TIME = "BS-CLI-047", "timed out waiting for the bootstrap",
        "the message has what is missing; `blackstart diagnose` on that machine shows why; run the command again to \
         keep waiting";
    BAD_LIMIT = "BS-CLI-048", "invalid limit", "write a number from 1, or a percentage such as 10%";
    NO_SECRET_FILES = "BS-CLI-049", "cannot read the keys of the node's Secret",
        "pass a directory with one file per key; `blackstart reprovision start --help` lists the keys";
}

/// Every code of the program.
pub(crate) fn all() -> Vec<Code> {
    [
        spec::codes::ALL,
        nodekit::codes::ALL,
        checks::codes::ALL,
        playbooks::codes::ALL,
        operations::codes::ALL,
        operators::codes::ALL,
        upgrades::codes::ALL,
        reprovision::codes::ALL,
        ::prep::codes::ALL,
        kubeapi::codes::ALL,
        etcd::codes::ALL,
        ceph::codes::ALL,
        ::backup::codes::ALL,
        tls::codes::ALL,
        join::codes::ALL,
        agent::codes::ALL,
        ::diagnose::codes::ALL,
        pki::codes::ALL,
        engine::codes::ALL,
        host::codes::ALL,
        ::bundle::codes::ALL,
        ::lab::codes::ALL,
        ::gather::codes::ALL,
        ::ignition::codes::ALL,
        ALL,
    ]
    .concat()
}
