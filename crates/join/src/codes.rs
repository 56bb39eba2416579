//! Codes of what can go wrong between a node and the cluster it wants to join, the same on both sides.

explain::codes! {
    UNKNOWN_TOKEN = "BS-JOIN-001", "the cluster does not know the token",
        "make a new one with `blackstart token create` on a master: it was mistyped, revoked, or has expired and was removed";
    WRONG_PROOF = "BS-JOIN-002", "the node did not prove that it holds the secret of its credential",
        "the secret is of another cluster or was changed: seal the node again or make a new token; if nobody tried to join, look at who has that address";
    EXPIRED = "BS-JOIN-003", "the node's secret or token has expired",
        "check the clocks of both machines; then seal again with `blackstart config seal` and bring the node's new directory to it as /etc/cluster-config, or make a new token";
    OTHER_NODE = "BS-JOIN-004", "the secret or token belongs to another node",
        "put the directory that was sealed for this very node on it, or make a token for it";
    UNKNOWN_NODE = "BS-JOIN-005", "no node of that name is in the master's cluster.yaml",
        "add the node to cluster.yaml and bring the new cluster.yaml to the masters, or correct the node's name";
    WRONG_ROLE = "BS-JOIN-006", "the node claims another role than cluster.yaml gives it",
        "bring the same cluster.yaml to the node and to the masters";
    WRONG_ADDRESS = "BS-JOIN-007", "the request came from another address than cluster.yaml gives the node",
        "check the node's `ip` in cluster.yaml and its network; address translation between nodes is not supported";
    BAD_REQUEST = "BS-JOIN-008", "a certificate request asks for something else than this node may have",
        "run the same version of blackstart on the node and on the masters; if that is so, somebody else wrote the request";
    CHALLENGE = "BS-JOIN-009", "the request's challenge is unknown, was used before, or is too old",
        "nothing, if it was one time only: the node asks for a new one by itself; otherwise somebody repeats recorded requests";
    DUPLICATE_MACHINE = "BS-JOIN-010", "another node has the same machine id",
        "the machine was cloned: empty /etc/machine-id, remove /var/lib/dbus/machine-id, reboot, and join again";
    TOO_LARGE = "BS-JOIN-011", "the request is larger than any honest one",
        "run the same version of blackstart on the node and on the masters";
    NOT_READY = "BS-JOIN-012", "the cluster's API is not ready yet, so the token cannot be looked up",
        "wait: the node tries again by itself; on the master, `blackstart node status` tells what is missing";
    WRONG_CLUSTER = "BS-JOIN-013", "the node and the master belong to clusters of different names",
        "check `cluster.name` and the masters' addresses in the node's cluster.yaml";
    TOO_MANY = "BS-JOIN-014", "too many failed attempts came from this address",
        "correct what was refused first (see the master's journal), wait a minute, and try again";
    MALFORMED = "BS-JOIN-015", "the request cannot be understood",
        "run the same version of blackstart on the node and on the masters";
    NO_JOIN_KEY = "BS-JOIN-016", "this master has no join key, so it knows no node's secret",
        "bring join.key to this master, or join through one that has it; a cluster that was never sealed is joined with a token";
    NOT_ALLOWED = "BS-JOIN-017", "the certificate that was shown does not allow this",
        "use the agent's certificate of a node in cluster.yaml, or an administrator's";
    TROUBLE = "BS-JOIN-018", "the master could not do its part",
        "see the cause in the message and in the master's journal; the node tries again by itself";
    UNREACHABLE = "BS-JOIN-019", "no master can be reached",
        "start the masters; check their addresses in cluster.yaml and that port 7444 is open between the nodes";
    WRONG_CA = "BS-JOIN-020", "the master's certificate was signed by another authority than the one this node was told to trust",
        "the node was sealed for another cluster or for an earlier one of the same name: seal again and bring the new directory; if that is not so, somebody stands between the two";
    UNTRUSTED = "BS-JOIN-021", "the master's certificate is not good for the address it was reached at",
        "check the masters' addresses in cluster.yaml; `blackstart pki renew apiserver` on the master follows a changed one";
    CLOCK = "BS-JOIN-022", "the master's certificate is not valid at this node's time",
        "check the clocks of both machines";
    UNPROVEN_CA = "BS-JOIN-023", "whoever answered does not know the token's secret, so its authority is not believed",
        "check the token; if it is right, somebody else answers at the master's address";
    ANSWER = "BS-JOIN-024", "the answer cannot be understood",
        "check that a blackstart of the same version serves at that address, and not something else";
    BAD_SECRET = "BS-JOIN-025", "a join secret, join key or token is not of the right form",
        "copy it again, whole; `blackstart config seal` and `blackstart token create` make new ones";
    OWN_KEY = "BS-JOIN-026", "this node could not make its own keys and requests",
        "see the cause in the message";
    SEAL_TOKEN = "BS-JOIN-027", "cluster.yaml holds a token, which sealing would put on every node",
        "remove `cluster.bootstrap.token`: sealed nodes have secrets of their own; make tokens with `blackstart token create`";
    SEAL_ELSEWHERE = "BS-JOIN-028", "the cluster's keys lie in the directory of a node that is not the first master",
        "give a new master a name that sorts behind the first one's, or move join.key, encryption.key and pki/ by hand";
    SEAL_KEYS = "BS-JOIN-029", "the output holds sealed directories but not the cluster's keys",
        "put the first master's directory back; to start a new cluster with new keys, seal into an empty directory";
    SEAL_EXPIRY = "BS-JOIN-030", "the secrets would have expired before they are used",
        "choose an expiry in the future, and check this computer's clock";
    WRONG_PIN = "BS-JOIN-031", "a sealed directory's authority is not the one of its pin",
        "a file of the directory was exchanged: bring the whole sealed directory again";
    INCOMPLETE = "BS-JOIN-032", "a sealed directory is not whole",
        "bring the whole sealed directory again";
    SHARED_CREDENTIAL = "BS-JOIN-033", "a master wants to join, or a master or a node of Ceph asks for keys, with a token that any node may use",
        "seal the configuration, or make a token for this very node on a master: `blackstart token create --node NAME`";
    ENVELOPE = "BS-JOIN-034", "the cluster's keys came in an envelope that this node's secret does not open",
        "run the same version of blackstart on all masters; if that is so, somebody stands between the two";
    NO_CEPH_ROLE = "BS-JOIN-035", "a node without a role in Ceph asks for Ceph's keys",
        "bring the same cluster.yaml to the node and to the masters; the roles are `ceph-mon`, `ceph-mgr` and `ceph-osd`";
    BUSY = "BS-JOIN-040", "the master has no room for the request at the moment",
        "nothing: the node tries again by itself; if it lasts, somebody floods the master: its journal tells which addresses";
    TOO_FAST = "BS-JOIN-041", "requests come faster than any honest node sends them",
        "look at what runs on that address or uses that certificate; a node that goes on tries again by itself";
    HELD = "BS-JOIN-042", "a node wants its Node object removed, and somebody has cordoned it, tainted it or set a label that nodes may not set",
        "if the node is not to come back, remove it on a master: `kubectl delete node NAME` or `blackstart node remove NAME`; otherwise nothing, it will find its Node as it was";
    NAME_TAKEN = "BS-JOIN-043", "a token that any node may use was used for the name of a node that is there already",
        "make a token for this very node on a master, `blackstart token create --node NAME`, or seal the configuration; if the old machine is gone for good, `kubectl delete node NAME` frees the name";
    OLD_SECRET = "BS-JOIN-060", "the node's secret is older than one that was used, or it was revoked",
        "bring the newest sealed directory of the node; if there is none, make one with `blackstart config seal --renew NAME`";
    KEYS_GIVEN = "BS-JOIN-061", "another machine of this name has been given the cluster's keys",
        "`blackstart node rearm NAME` on a master, if this machine is to take its place; if not, `blackstart config revoke NAME`: somebody has a copy of its secret";
    ALIVE = "BS-JOIN-062", "the node is alive on another machine",
        "switch the other machine off, or reset it with `blackstart node reset`: this one gets in a minute later by itself; if the other one is the right one, somebody has a copy of its secret: `blackstart config revoke NAME`";
    REVOKED = "BS-JOIN-063", "the node's certificate is from before it was revoked",
        "`blackstart config seal --renew NAME`, bring the new directory, and join anew: `blackstart node reset`, `blackstart node up`";
    ADMISSIONS = "BS-JOIN-064", "what masters remember of admitted nodes cannot be read",
        "look at Secret kube-system/blackstart-admissions and /var/lib/cluster-state/admissions.json on this master; whichever is broken may be deleted if the other one is not";
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
