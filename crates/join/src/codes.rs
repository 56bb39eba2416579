//! Codes of what can go wrong between a node and the cluster it wants to join, the same on both sides.

explain::codes! {
    UNKNOWN_TOKEN = "BS-JOIN-001", "unknown token",
        "make a new one with `blackstart token create` on a master: it was mistyped, revoked, or has expired and was \
         removed";
    WRONG_PROOF = "BS-JOIN-002", "the node's join secret or token does not match",
        "the secret is of another cluster or was changed: seal the node again or make a new token; if you did not try to \
         join, find out which machine has that address";
    EXPIRED = "BS-JOIN-003", "the node's secret or token has expired",
        "check the clocks of both machines; then seal again with `blackstart config seal` and copy the node's new \
         directory to it as /etc/cluster-config, or make a new token";
    OTHER_NODE = "BS-JOIN-004", "the secret or token belongs to another node",
        "install the directory that was sealed for this node, or make a token for it";
    UNKNOWN_NODE = "BS-JOIN-005", "the node is not in the master's cluster.yaml",
        "add the node to cluster.yaml and copy the new cluster.yaml to the masters, or correct the node's name";
    WRONG_ROLE = "BS-JOIN-006", "the node's role differs from cluster.yaml on the masters",
        "copy the same cluster.yaml to the node and to the masters";
    WRONG_ADDRESS = "BS-JOIN-007", "the node's source address differs from cluster.yaml",
        "check the node's `ip` in cluster.yaml and its network; NAT between nodes is not supported";
    BAD_REQUEST = "BS-JOIN-008", "a certificate request asks for something this node may not have",
        "run the same version of blackstart on the node and on the masters; if they are the same, the request was not \
         written by blackstart";
    CHALLENGE = "BS-JOIN-009", "the request's challenge is unknown, used or too old",
        "no action if it happens once: the node asks for a new one by itself; if it repeats, recorded requests are being \
         replayed";
    DUPLICATE_MACHINE = "BS-JOIN-010", "another node has the same machine-id",
        "the machine was cloned: empty /etc/machine-id, remove /var/lib/dbus/machine-id, reboot, and join again";
    TOO_LARGE = "BS-JOIN-011", "the join request is too large",
        "run the same version of blackstart on the node and on the masters";
    NOT_READY = "BS-JOIN-012", "the API is not ready yet, so the token cannot be checked",
        "wait: the node retries by itself; `blackstart node status` on the master shows what is missing";
    WRONG_CLUSTER = "BS-JOIN-013", "the node and the master have different cluster names",
        "check `cluster.name` and the masters' addresses in the node's cluster.yaml";
    TOO_MANY = "BS-JOIN-014", "too many failed join attempts from this address",
        "fix what was refused first (see the master's journal), wait a minute, and try again";
    MALFORMED = "BS-JOIN-015", "malformed join request",
        "run the same version of blackstart on the node and on the masters";
    NO_JOIN_KEY = "BS-JOIN-016", "this master has no join key",
        "copy join.key to this master, or join through one that has it; a cluster that was never sealed is joined with a \
         token";
    NOT_ALLOWED = "BS-JOIN-017", "the client certificate does not allow this",
        "use the agent's certificate of a node in cluster.yaml, or an administrator's";
    FAILURE = "BS-JOIN-018", "the master failed to handle the request",
        "the message and the master's journal have the cause; the node retries by itself";
    UNREACHABLE = "BS-JOIN-019", "no master is reachable",
        "start the masters; check their addresses in cluster.yaml and that port 7444 is open between the nodes";
    WRONG_CA = "BS-JOIN-020", "the master's certificate was signed by another CA than this node trusts",
        "the node was sealed for another cluster or for an earlier one of the same name: seal again and copy the new \
         directory to it; if that is not the case, suspect a man in the middle";
    UNTRUSTED = "BS-JOIN-021", "the master's certificate is not valid for its address",
        "check the masters' addresses in cluster.yaml; after a change of address run `blackstart pki renew \
         apiserver` on the master";
    CLOCK = "BS-JOIN-022", "clock skew: the master's certificate is not valid at this node's time",
        "check the clocks of both machines";
    UNPROVEN_CA = "BS-JOIN-023", "the server at the master's address does not know the token's secret, so its CA is not trusted",
        "check the token; if it is right, another machine answers at the master's address";
    ANSWER = "BS-JOIN-024", "unexpected answer from the join service",
        "check that blackstart of the same version, and nothing else, listens at that address";
    BAD_SECRET = "BS-JOIN-025", "malformed join secret, join key or token",
        "copy it again, whole; `blackstart config seal` and `blackstart token create` make new ones";
    OWN_KEY = "BS-JOIN-026", "cannot make this node's keys and certificate requests", "the message has the cause";
    SEAL_TOKEN = "BS-JOIN-027", "cluster.yaml has a token, which sealing would copy to every node",
        "remove `cluster.bootstrap.token`: sealed nodes have secrets of their own; make tokens with `blackstart token \
         create`";
    SEAL_ELSEWHERE = "BS-JOIN-028", "the cluster's keys are in the directory of a node that is neither the first master nor the bootstrap node",
        "give a new master a name that sorts after the first one's; when a bootstrap node comes or goes, move join.key, encryption.key and pki/ \
         by hand";
    SEAL_KEYS = "BS-JOIN-029", "the output has sealed directories but not the cluster's keys",
        "put the first master's directory back; to start a new cluster with new keys, seal into an empty directory";
    SEAL_EXPIRY = "BS-JOIN-030", "the secrets would expire before they are used",
        "choose an expiry in the future, and check this computer's clock";
    WRONG_PIN = "BS-JOIN-031", "the CA in a sealed directory does not match its pin",
        "a file of the directory was replaced: copy the whole sealed directory again";
    INCOMPLETE = "BS-JOIN-032", "a sealed directory is incomplete", "copy the whole sealed directory again";
    SHARED_CREDENTIAL = "BS-JOIN-033", "a token that is not bound to a node cannot admit a master or hand out keys",
        "seal the configuration, or make a token for this node on a master: `blackstart token create --node NAME`";
    ENVELOPE = "BS-JOIN-034", "this node's secret does not decrypt the cluster's keys",
        "run the same version of blackstart on all masters; if they are the same, suspect a man in the middle";
    NO_CEPH_ROLE = "BS-JOIN-035", "a node without a Ceph role asks for Ceph's keys",
        "copy the same cluster.yaml to the node and to the masters; the roles are `ceph-mon`, `ceph-mgr` and `ceph-osd`";
    BUSY = "BS-JOIN-040", "the master is overloaded",
        "no action: the node retries by itself; if it lasts, the master is being flooded: its journal has the addresses";
    TOO_FAST = "BS-JOIN-041", "request rate limit exceeded",
        "find out what runs on that address or uses that certificate; a node within the limit retries by itself";
    HELD = "BS-JOIN-042", "the Node object is kept: it is cordoned, tainted or has a label that nodes may not set",
        "if the node is not to come back, remove it on a master: `kubectl delete node NAME` or `blackstart node remove \
         NAME`; otherwise no action, the node will find its Node as it was";
    NAME_TAKEN = "BS-JOIN-043", "a token that is not bound to a node cannot take the name of an existing node",
        "make a token for this node on a master, `blackstart token create --node NAME`, or seal the configuration; if the \
         old machine is gone for good, `kubectl delete node NAME` frees the name";
    OLD_SECRET = "BS-JOIN-060", "the node's secret was superseded by a newer one or revoked",
        "install the newest sealed directory of the node; if there is none, make one with `blackstart config seal --renew \
         NAME`";
    KEYS_GIVEN = "BS-JOIN-061", "another machine of this name already got the cluster's keys",
        "if this machine replaces it, run `blackstart node rearm NAME` on a master; if not, a copy of its secret is in \
         use: `blackstart config revoke NAME`";
    ALIVE = "BS-JOIN-062", "the node is running on another machine",
        "switch the other machine off, or reset it with `blackstart node reset`: this one is admitted a minute later by \
         itself; if the other one is the right one, a copy of its secret is in use: `blackstart config revoke NAME`";
    REVOKED = "BS-JOIN-063", "the node's certificate was revoked",
        "`blackstart config seal --renew NAME`, install the new directory, and join again: `blackstart node reset`, \
         `blackstart node up`";
    ADMISSIONS = "BS-JOIN-064", "the masters' record of admitted nodes cannot be read",
        "check Secret kube-system/blackstart-admissions and /var/lib/cluster-state/admissions.json on this master; if only \
         one of them is broken, delete it";
    NO_CONFIG = "BS-JOIN-065", "no Ignition config was rendered for this node",
        "render it: `blackstart ignition render DIR --sealed SEALED --out OUT`; the machine asks again by itself";
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn numbers_are_in_order() {
        assert!(ALL.is_sorted_by(|one, next| one.id < next.id));
        assert!(ALL.iter().all(|code| code.id.starts_with("BS-JOIN-") && code.id.len() == "BS-JOIN-000".len()));
    }
}
