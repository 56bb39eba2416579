//! Codes of what can be wrong with certificates, keys and kubeconfigs.

explain::codes! {
    CLOCK = "BS-PKI-001", "the clock is plainly wrong",
        "set the machine's clock (or let it synchronise), then run the same command again";
    UNREADABLE = "BS-PKI-002", "a certificate, key or kubeconfig cannot be read",
        "restore it from a backup; `blackstart pki renew NAME` makes anything but authorities again";
    KEY_MISMATCH = "BS-PKI-003", "a key does not belong to its certificate",
        "bring the two files that belong together, from a backup or from another master";
    OTHER_CLUSTER = "BS-PKI-004", "a certificate authority belongs to another cluster",
        "check `cluster.name`; if the files are left from another cluster, move the whole directory away";
    AUTHORITY_EXPIRED = "BS-PKI-005", "a certificate authority has expired or is about to",
        "check the machine's clock; if it is right, the authority must be rotated";
    AUTHORITY_NOT_YET_VALID = "BS-PKI-006", "a certificate authority is not valid yet",
        "check the machine's clock: it is most likely behind";
    NOT_AN_AUTHORITY = "BS-PKI-007", "a certificate stands where a certificate authority should, and is none",
        "bring a certificate with the basic constraint CA:TRUE";
    NOT_SIGNED = "BS-PKI-008", "a certificate was not signed by this cluster's authority",
        "make it again with `blackstart pki renew NAME`, unless it is the authority that was exchanged";
    BRING = "BS-PKI-009", "a certificate has to be made by whoever holds the key of the authority",
        "have the certificate issued where the authority's key is, and put it in place";
    MAY_NOT_MAKE = "BS-PKI-010", "a file that all masters share is missing here",
        "copy the file from a master that has it; made anew here, it would split the cluster";
    UNKNOWN_NAME = "BS-PKI-011", "there is no certificate of that name",
        "use one of the names that `blackstart pki show` prints";
    NOT_RENEWABLE = "BS-PKI-012", "what was named is not renewed but rotated",
        "rotation replaces trust in the whole cluster and is a command of its own; nothing was changed";
    ISSUE = "BS-PKI-013", "a key or certificate could not be made",
        "see the cause in the message";
    ISSUER_NAME = "BS-PKI-014", "the authority's subject has a form that cannot be repeated in a certificate",
        "use an authority whose subject has single-valued attributes, each at most once";
}
