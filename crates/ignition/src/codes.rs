//! Codes of what can be wrong with an Ignition config, or in the way of making one.

explain::codes! {
    // What `ignition validate` finds in a file.
    UNREADABLE = "BS-IGN-001", "an Ignition config cannot be read", "check that the file exists and that this user may read it";
    SYNTAX = "BS-IGN-002", "an Ignition config is not valid JSON",
        "correct the JSON at the position in the message, or render the file again";
    VERSION = "BS-IGN-003", "unsupported spec version of an Ignition config",
        "write `\"version\": \"3.2.0\"`: RHCOS, Fedora CoreOS, Flatcar and Debian's Ignition all read it";
    UNUSED_KEY = "BS-IGN-004", "unknown key in an Ignition config",
        "correct its spelling or remove it: Ignition ignores it without an error";
    WRONG_TYPE = "BS-IGN-005", "a value of an Ignition config is missing or has the wrong type",
        "see the Ignition specification 3.2.0 for what goes there";
    TWICE = "BS-IGN-006", "duplicate path, unit or user in an Ignition config", "keep one of the two";
    OPEN_SECRET = "BS-IGN-007", "wrong permissions: other users could read a file with a key",
        "give the file the mode 384 (octal 0600) or a stricter one";
    NOT_OVERWRITTEN = "BS-IGN-008", "a file or link would not be overwritten",
        "write `\"overwrite\": true`: without it Ignition fails when it runs again after a power loss";
    CERTIFICATE = "BS-IGN-009", "a certificate in an Ignition config has expired or is not valid yet",
        "check this computer's clock; if it is right, seal and render again";
    EXPIRED = "BS-IGN-010", "the Ignition config has expired",
        "make new secrets with `blackstart config seal --all` and render again";
    TOO_LARGE = "BS-IGN-011", "an Ignition config, or a file in it, is too large",
        "leave programs and images out: they come with the machine's bundle";
    CONTENTS = "BS-IGN-012", "the contents of a file cannot be decoded", "write a data URL such as `data:;base64,aGk=`";
    BAD_PATH = "BS-IGN-013", "a path in an Ignition config is not absolute", "begin the path with `/`, without `..` in it";
    INSECURE = "BS-IGN-014", "an Ignition config fetches a file without verification",
        "fetch it over https and give `verification.hash`, the SHA-512 of the file";

    // What stands in the way of `ignition render`.
    NOT_SEALED = "BS-IGN-020", "a node has no sealed directory to be rendered from",
        "seal the configuration first: `blackstart config seal DIR --out SEALED`";
    STALE = "BS-IGN-021", "a node was sealed with another configuration", "seal again, then render again";
    SSH_KEY = "BS-IGN-022", "a file holds no SSH public keys",
        "give a file with one public key on each line, such as ~/.ssh/id_ed25519.pub";
    POINTER = "BS-IGN-023", "invalid URL for pointer configs",
        "give an https URL without a query, such as `https://10.0.0.9:22623`";
    UNWRITABLE = "BS-IGN-024", "cannot put a node's files into an Ignition config", "the message has the cause";

    // What stands in the way of `ignition serve`.
    NO_NAME = "BS-IGN-030", "the Ignition config server has no name for its certificate",
        "give --name with the name or address in the pointers' URL, or render the pointers first: `blackstart \
         ignition render … --pointer https://ADDRESS:22623`";
    NO_KEYS = "BS-IGN-031", "the Ignition config server lacks the cluster's keys",
        "give --sealed the output directory of `blackstart config seal`: the keys are with the bootstrap node, or \
         with the first master";
    NO_LISTENER = "BS-IGN-032", "the Ignition config server cannot listen",
        "choose another address or port with --listen; `ss -ltnp` shows the process that uses it";
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_ours_and_in_order() {
        assert!(super::ALL.iter().all(|code| code.id.starts_with("BS-IGN-")));
        assert!(super::ALL.is_sorted_by(|one, next| one.id < next.id));
    }
}
