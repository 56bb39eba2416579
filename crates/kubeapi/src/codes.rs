//! Codes of what can go wrong with the Kubernetes API.

explain::codes! {
    KUBECONFIG = "BS-API-001", "a kubeconfig cannot be used",
        "`blackstart node up` on a master writes it anew if it is missing or broken";
    UNREACHABLE = "BS-API-002", "the API server does not answer",
        "look at `journalctl -u kube-apiserver` on the masters; `blackstart node up` starts it again";
    REFUSED = "BS-API-003", "the API server refused a request",
        "the message says what it refused and why";
    UNKNOWN_KIND = "BS-API-004", "the API server does not know a kind of object",
        "apply the manifest that defines it first, or correct apiVersion and kind";
    MANIFEST = "BS-API-005", "a manifest cannot be read",
        "correct the place named in the message; every document needs apiVersion, kind and metadata.name";
}
