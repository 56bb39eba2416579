//! Codes of what can go wrong with Ceph.

explain::codes! {
    NO_ANSWER = "BS-CEPH-001", "Ceph's monitors have no quorum",
        "`systemctl status ceph-mon@NAME` on the nodes with the role `ceph-mon` shows which are down; more than half of \
         them must run and reach each other on ports 3300 and 6789";
    COMMAND = "BS-CEPH-002", "a Ceph command failed",
        "the message has Ceph's own error; run the command by hand to see all of its output";
    GARBLED = "BS-CEPH-003", "unexpected answer from Ceph",
        "check that the installed Ceph is the one of the distribution; report the message if it is";
    DENIED = "BS-CEPH-004", "Ceph refused this node's key",
        "the key on this machine is not the one the monitors know: remove the keyring named in the message and run \
         `blackstart node up`, which fetches it again";
    OTHER_CLUSTER = "BS-CEPH-005", "the machine has data of another Ceph cluster",
        "nothing was changed; if it is no longer needed, remove what the message names, or take the machine out of that \
         cluster with its own tools";
    BAD_IDENTITY = "BS-CEPH-006", "the Secret with Ceph's identity is damaged",
        "restore the Secret `kube-system/blackstart-ceph` from a backup; without it no node can be added to Ceph";
    NO_RANDOM = "BS-CEPH-007", "cannot get random numbers from the system",
        "without them keys could be guessed: check `dmesg`, then run the command again";
    NOT_HERE = "BS-CEPH-008", "this machine has no access to Ceph",
        "run the command as root on a node with the role `ceph-mon`";
    LOST_SECRET = "BS-CEPH-009", "the key of an OSD on this machine is lost",
        "remove the OSD with `ceph osd purge ID --yes-i-really-mean-it` on a monitor's node, set `wipe: true` to destroy \
         what is on the device if it holds data, and run `blackstart node up` again";
    STORE_IN_USE = "BS-CEPH-010", "a device or file listed for an OSD is in use",
        "nothing was changed; list another one, or set `wipe: true` to destroy what is on it";
    NO_CERTIFICATE = "BS-CEPH-011", "cannot make the certificate of Ceph's dashboard",
        "the message has the cause; `dashboard: false` in cluster.yaml switches the dashboard off";
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
