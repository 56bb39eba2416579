//! Codes of what can go wrong with the Kubernetes API.

explain::codes! {
    KUBECONFIG = "BS-API-001", "unusable kubeconfig",
        "`blackstart node up` on a master writes it again if it is missing or broken";
    UNREACHABLE = "BS-API-002", "the API server does not answer",
        "check `journalctl -u kube-apiserver` on the masters; `blackstart node up` starts it again";
    REFUSED = "BS-API-003", "the API server refused a request", "the message has what was refused and why";
    UNKNOWN_KIND = "BS-API-004", "the API server does not know this kind of object",
        "apply the manifest that defines it first, or correct apiVersion and kind";
    MANIFEST = "BS-API-005", "cannot read a manifest",
        "fix the manifest at the position in the message; every document needs apiVersion, kind and metadata.name";
}
