//! Codes of what can go wrong before and between the steps.

explain::codes! {
    NO_MATCH = "BS-IDENT-001", "no node of the cluster matches this machine",
        "add one of this machine's MAC addresses to its node in cluster.yaml, or say which node it is with --node";
    AMBIGUOUS = "BS-IDENT-002", "more than one node of the cluster matches this machine",
        "a MAC address, UUID or serial number must belong to one node only; or say which node it is with --node";
    NO_YAML = "BS-IDENT-004", "a node's description cannot be written as YAML",
        "this is a mistake in the program, not on the machine: please report it with the message";
    UNKNOWN_NODE = "BS-IDENT-003", "the cluster has no node of that name",
        "use a name from the list in the message";
}
