//! Codes of what can go wrong with Ceph.

explain::codes! {
    NO_ANSWER = "BS-CEPH-001", "no majority of Ceph's monitors answers",
        "`systemctl status ceph-mon@NAME` on the nodes with the role `ceph-mon` tells which are down; more than half of them must run and reach each other on ports 3300 and 6789";
    COMMAND = "BS-CEPH-002", "a command of Ceph failed",
        "the message has Ceph's own words; run the command by hand to see all of them";
    GARBLED = "BS-CEPH-003", "an answer of Ceph cannot be understood",
        "check that the installed Ceph is the one of the distribution; report the message if it is";
    DENIED = "BS-CEPH-004", "Ceph does not accept the key of this node",
        "the key on this machine is not the one that the monitors know: remove the keyring that the message names and run `blackstart node up`, which fetches it anew";
    OTHER_CLUSTER = "BS-CEPH-005", "the machine carries something of another Ceph cluster",
        "nothing of it was changed; if nobody needs it any more, remove what the message names, or take the machine out of that cluster with its own tools";
    BAD_IDENTITY = "BS-CEPH-006", "the Secret that holds Ceph's identity is not what this program writes",
        "restore the Secret `kube-system/blackstart-ceph` from a backup; without it no node can be added to Ceph";
    NO_RANDOM = "BS-CEPH-007", "the system gives no random numbers",
        "a key must not be guessable: look at the kernel's log, then run the command again";
    NOT_HERE = "BS-CEPH-008", "this machine cannot speak to Ceph",
        "run the command as root on a node with the role `ceph-mon`";
    LOST_SECRET = "BS-CEPH-009", "the key of an OSD of this machine is lost",
        "remove the OSD with `ceph osd purge ID --yes-i-really-mean-it` on a monitor's node, let what is on the device be destroyed with `wipe: true` if it holds data, and run `blackstart node up` again";
    STORE_IN_USE = "BS-CEPH-010", "a device or file that is listed for an OSD is not free",
        "nothing was changed; list another one, or let what is on it be destroyed with `wipe: true`";
    NO_CERTIFICATE = "BS-CEPH-011", "the certificate of Ceph's dashboard cannot be made",
        "see the cause in the message; `dashboard: false` in cluster.yaml does without it";
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn numbers_are_in_order_without_gaps() {
        for (index, code) in ALL.iter().enumerate() {
            assert_eq!(code.id, format!("BS-CEPH-{:03}", index + 1));
        }
    }
}
