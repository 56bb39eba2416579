//! Codes of what can go wrong in the agent, and of the reasons for which it denies certificate requests.

explain::codes! {
    LISTEN = "BS-AGENT-001", "the agent cannot listen on its port",
        "see who holds the port with `ss -ltnp`; only one agent runs on a node";
    API = "BS-AGENT-002", "the agent was refused by the Kubernetes API, or got no answer",
        "look at kube-apiserver on the masters; where it says forbidden, run `blackstart node up` on the first master";
    OUTPUT = "BS-AGENT-003", "a command of the system printed something the agent does not understand",
        "this is a mistake in the program, or a tool of an unexpected version: please report it with the message";
    SEVERAL = "BS-AGENT-004", "several things could not be done",
        "each is in the message; the agent tries again by itself";
    SIGNALS = "BS-AGENT-005", "the agent cannot listen to signals",
        "this is a limit of the system or a mistake in the program: please report it with the message";
    KUBECONFIG = "BS-AGENT-006", "a kubeconfig of the node cannot be used",
        "remove the file named in the message and run `blackstart node up`, which makes it anew";
    OWN_KEY = "BS-AGENT-007", "the agent could not make a key or certificate for itself",
        "this is a mistake in the program, or the system has no random bytes: please report it with the message";
    NEVER_CAME = "BS-AGENT-008", "a master was announced to etcd and never came, so its place is free again",
        "nothing has to be done in etcd; look at `journalctl -u cluster-bootstrap -u etcd` on that master for why it did not start";
    NO_ROTATION = "BS-AGENT-009", "the Secret that tells of a rotation cannot be used",
        "if no rotation goes on, delete the Secret; otherwise run `blackstart pki rotate` on a master whose `encryption.yaml` is the cluster's";
    NOT_WELL = "BS-AGENT-010", "a part of the control plane was restarted and does not become well",
        "look at its log with `journalctl -u UNIT`; the agent tries again by itself";
    FOREIGN_KEY = "BS-AGENT-020", "encryption.yaml was changed by somebody else, so its key cannot be replaced",
        "bring the file back to the form that `blackstart node up` writes, on every master, or leave `encryption` out of the rotation";
    LOCKED = "BS-AGENT-021", "no master that answers has what opens the new keys of the rotation",
        "bring up the master that began it; if it is lost and no other has reached a stage, delete the Secret kube-system/blackstart-rotation and begin again";
    UNREADABLE = "BS-CSR-001", "the certificate request cannot be read, or is not signed by the key it is for",
        "have the node make a new key and request: remove its old certificates and restart the kubelet";
    SUBJECT = "BS-CSR-002", "the certificate request is not for a node",
        "a node asks for `CN=system:node:NAME, O=system:nodes` and nothing else";
    USAGES = "BS-CSR-003", "the certificate request asks for other usages than its signer allows",
        "ask for digital signature, and client auth or server auth as the signer's name says";
    NAMES = "BS-CSR-004", "the certificate request asks for names or addresses that are not those of the node",
        "compare the node's name, host name and address in cluster.yaml with what the kubelet reports";
    REQUESTOR = "BS-CSR-005", "somebody asks for the certificate of a node who is not that node",
        "nodes renew their own certificates; a new node joins with its sealed directory or a bootstrap token";
    UNLISTED = "BS-CSR-006", "the node is not in cluster.yaml",
        "add the node to cluster.yaml, or set `cluster.bootstrap.unlisted_nodes: allow`";
    MASTER = "BS-CSR-007", "a bootstrap token was used to ask for the certificate of a master",
        "masters join with their sealed directory; if nobody did this on purpose, revoke the token";
    NODE_EXISTS = "BS-CSR-008", "a bootstrap token was used to ask for the certificate of a node that has joined already",
        "if the machine was installed anew, delete its Node object first: `kubectl delete node NAME`";
    TOKEN = "BS-CSR-009", "the bootstrap token is not for this node, or is not known any more",
        "make a token for this node: `blackstart token create`";
    WEAK_KEY = "BS-CSR-010", "the certificate request is for a key of a weak or unusual kind",
        "have the node make a key of the kind kubelets make: ECDSA with P-256";
    NO_NODE = "BS-CSR-011", "a node that is not in cluster.yaml asks for a serving certificate and has no Node object",
        "look at the kubelet's log on that node for why it does not register";
    FORM = "BS-CSR-020", "the certificate request is not written as kubelets write it",
        "let the node's kubelet make its own request; if nobody did this on purpose, find out who has that node's credentials";
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_ours_and_in_order() {
        assert!(super::ALL.iter().all(|code| code.id.starts_with("BS-AGENT-") || code.id.starts_with("BS-CSR-")));
        assert!(super::ALL.is_sorted_by(|one, next| one.id < next.id));
    }
}
