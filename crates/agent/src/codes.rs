//! Codes of what can go wrong in the agent, and of the reasons for which it denies certificate requests.

explain::codes! {
    LISTEN = "BS-AGENT-001", "the agent cannot listen on its port",
        "`ss -ltnp` shows the process that uses the port; only one agent runs on a node";
    API = "BS-AGENT-002", "the Kubernetes API refused the agent or did not answer",
        "check kube-apiserver on the masters; if the error is forbidden, run `blackstart node up` on the first master";
    OUTPUT = "BS-AGENT-003", "unexpected output of a system command",
        "this is a bug in blackstart, or a tool of an unexpected version: please report it with the message";
    SEVERAL = "BS-AGENT-004", "several operations failed", "each is in the message; the agent retries by itself";
    SIGNALS = "BS-AGENT-005", "cannot install signal handlers",
        "this is a bug in blackstart, or a limit of the system: please report it with the message";
    KUBECONFIG = "BS-AGENT-006", "unusable kubeconfig on the node",
        "remove the file named in the message and run `blackstart node up`, which makes it again";
    OWN_KEY = "BS-AGENT-007", "the agent cannot make a key or certificate for itself",
        "the system has no random bytes, or this is a bug in blackstart: please report it with the message";
    NEVER_CAME = "BS-AGENT-008", "etcd learner was added but never started, so the agent removed it",
        "nothing to do in etcd; check `journalctl -u cluster-bootstrap -u etcd` on that master for why it did not start";
    NO_ROTATION = "BS-AGENT-009", "unusable key rotation Secret",
        "if no rotation is under way, delete the Secret; otherwise run `blackstart pki rotate` on a master whose \
         `encryption.yaml` is the cluster's";
    NOT_WELL = "BS-AGENT-010", "a control plane component was restarted and does not become healthy",
        "check its log with `journalctl -u UNIT`; the agent retries by itself";
    FOREIGN_KEY = "BS-AGENT-020", "encryption.yaml was changed by hand, so its key cannot be replaced",
        "bring the file back to the form that `blackstart node up` writes, on every master, or leave `encryption` out of \
         the rotation";
    LOCKED = "BS-AGENT-021", "no reachable master can decrypt the new keys of the rotation",
        "start the master that began it; if it is lost and no other has reached a stage, delete the Secret \
         kube-system/blackstart-rotation and begin again";
    UNREADABLE = "BS-CSR-001", "the CSR is malformed or not signed by its own key",
        "have the node make a new key and request: remove its old certificates and restart the kubelet";
    SUBJECT = "BS-CSR-002", "the CSR is not for a node",
        "a node asks for `CN=system:node:NAME, O=system:nodes` and nothing else";
    USAGES = "BS-CSR-003", "the CSR asks for usages that its signer does not allow",
        "ask for digital signature, and client auth or server auth as the signer's name says";
    NAMES = "BS-CSR-004", "the CSR has names or addresses that are not the node's",
        "compare the node's name, host name and address in cluster.yaml with what the kubelet reports";
    REQUESTOR = "BS-CSR-005", "the requestor of the CSR is not the node it is for",
        "nodes renew their own certificates; a new node joins with its sealed directory or a bootstrap token";
    UNLISTED = "BS-CSR-006", "the node is not in cluster.yaml",
        "add the node to cluster.yaml, or set `cluster.bootstrap.unlisted_nodes: allow`";
    MASTER = "BS-CSR-007", "a bootstrap token was used in a CSR for a master",
        "masters join with their sealed directory; if this was not you, revoke the token";
    NODE_EXISTS = "BS-CSR-008", "a bootstrap token was used in a CSR for a node that has already joined",
        "if the machine was reinstalled, delete its Node object first: `kubectl delete node NAME`";
    TOKEN = "BS-CSR-009", "the bootstrap token is not for this node, or is no longer known",
        "make a token for this node: `blackstart token create`";
    WEAK_KEY = "BS-CSR-010", "the CSR has a weak or unusual key",
        "have the node make a key of the kind kubelets make: ECDSA with P-256";
    NO_NODE = "BS-CSR-011", "a serving CSR for a node that has no Node object and is not in cluster.yaml",
        "check the kubelet's log on that node for why it does not register";
    FORM = "BS-CSR-020", "the CSR is not encoded as kubelets do",
        "let the node's kubelet make its own request; if this was not you, find out who has that node's credentials";
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_ours_and_in_order() {
        assert!(super::ALL.iter().all(|code| code.id.starts_with("BS-AGENT-") || code.id.starts_with("BS-CSR-")));
        assert!(super::ALL.is_sorted_by(|one, next| one.id < next.id));
    }
}
