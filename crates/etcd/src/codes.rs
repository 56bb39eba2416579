//! Codes of what can go wrong with etcd.

explain::codes! {
    UNREACHABLE = "BS-ETCD-001", "etcd does not answer",
        "look at `journalctl -u etcd` on that node; `blackstart node up` starts it again";
    REFUSED = "BS-ETCD-002", "etcd refused a request",
        "the message has etcd's own words";
    GARBLED = "BS-ETCD-003", "etcd's answer cannot be understood",
        "check that nothing else listens on etcd's port, and that its version is the bundle's";
    QUORUM = "BS-ETCD-004", "the change could leave etcd without a majority",
        "bring the members back that do not answer, or remove those first that are gone for good";
    CANNOT_WRITE = "BS-ETCD-005", "a snapshot of etcd cannot be written",
        "free some space where it is to be written, or name another place";
    NO_ACCESS = "BS-ETCD-006", "this machine has no certificate with which etcd would answer it",
        "run the command on a master, as root; `blackstart pki show` lists the certificates of this machine";
    NO_MAJORITY = "BS-ETCD-007", "no majority of etcd's members answers",
        "`blackstart etcd status` shows who is silent and why; start those masters, or restore a backup if they are lost";
    BAD_SNAPSHOT = "BS-ETCD-008", "this is no whole snapshot of etcd",
        "take it again, or take another one: a snapshot whose sum does not fit is never restored";
}
