//! Codes of what can go wrong with etcd.

explain::codes! {
    UNREACHABLE = "BS-ETCD-001", "etcd does not answer",
        "check `journalctl -u etcd` on that node (on a bootstrap node, `crictl logs $(crictl ps -a -q --name etcd)`); `blackstart node up` starts it again";
    REFUSED = "BS-ETCD-002", "etcd refused a request", "the message has etcd's own error";
    GARBLED = "BS-ETCD-003", "unexpected answer from etcd",
        "check that nothing else listens on etcd's port, and that its version is the bundle's";
    QUORUM = "BS-ETCD-004", "the change could cost etcd its quorum",
        "bring back the members that do not answer, or first remove those that are gone for good";
    CANNOT_WRITE = "BS-ETCD-005", "cannot write an etcd snapshot",
        "free some space where it is to be written, or choose another path";
    NO_ACCESS = "BS-ETCD-006", "this machine has no client certificate for etcd",
        "run the command on a master, as root; `blackstart pki show` lists the certificates of this machine";
    NO_MAJORITY = "BS-ETCD-007", "etcd has no quorum",
        "`blackstart etcd status` shows which members do not answer and why; start those masters, or restore a backup if \
         they are lost";
    BAD_SNAPSHOT = "BS-ETCD-008", "not a complete etcd snapshot",
        "take it again, or use another one: a snapshot with a wrong checksum is never restored";
}
