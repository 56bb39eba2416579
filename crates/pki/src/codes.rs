//! Codes of what can be wrong with certificates, keys and kubeconfigs.

explain::codes! {
    CLOCK = "BS-PKI-001", "the clock is wrong",
        "set the clock or enable time synchronisation (`timedatectl set-ntp true`), then run the same command again";
    UNREADABLE = "BS-PKI-002", "a certificate, key or kubeconfig cannot be read",
        "restore it from a backup; `blackstart pki renew NAME` makes anything but CAs again";
    KEY_MISMATCH = "BS-PKI-003", "certificate and key do not match",
        "restore the matching pair from a backup or from another master";
    OTHER_CLUSTER = "BS-PKI-004", "the CA belongs to another cluster",
        "check `cluster.name`; if the files are left from another cluster, move the whole directory away";
    CA_EXPIRED = "BS-PKI-005", "a CA has expired or is about to",
        "check the machine's clock; if it is right, rotate the CA: `blackstart pki rotate ca`";
    CA_NOT_YET_VALID = "BS-PKI-006", "a CA is not valid yet",
        "check the machine's clock: it is most likely behind";
    NOT_A_CA = "BS-PKI-007", "expected a CA certificate, found a leaf",
        "use a certificate with the basic constraint CA:TRUE";
    NOT_SIGNED = "BS-PKI-008", "a certificate was not signed by this cluster's CA",
        "make it again with `blackstart pki renew NAME`, unless it is the CA that was replaced";
    BRING = "BS-PKI-009", "the CA's key is not on this machine, so it cannot issue the certificate",
        "issue the certificate where the CA's key is, and copy it to the path in the message";
    MAY_NOT_MAKE = "BS-PKI-010", "a file that all masters share is missing",
        "copy it from a master that has it; a new one would split the cluster";
    UNKNOWN_NAME = "BS-PKI-011", "unknown certificate", "use one of the names that `blackstart pki show` prints";
    NOT_RENEWABLE = "BS-PKI-012", "this is rotated, not renewed",
        "use `blackstart pki rotate`, which replaces it on the whole cluster; nothing was changed";
    ISSUE = "BS-PKI-013", "cannot make a key or certificate", "the message has the cause";
    ISSUER_NAME = "BS-PKI-014", "unsupported subject of a CA",
        "use a CA whose subject has single-valued attributes, each at most once";
}
