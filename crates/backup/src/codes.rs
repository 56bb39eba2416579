//! Codes of what can go wrong with backups.

explain::codes! {
    NOT_A_BACKUP = "BS-BACKUP-001", "the file is no backup",
        "check the path; `blackstart backup list` shows the automatic backups of this machine";
    WRONG_KEY = "BS-BACKUP-002", "the backup was not made for this passphrase or key",
        "automatic backups open with `backup.key`, or with the `join.key` of the cluster: name the file with --key-file";
    DAMAGED = "BS-BACKUP-003", "bytes of the backup are not those that were written",
        "take another copy of the file, or another backup; nothing of a damaged one is used";
    TRUNCATED = "BS-BACKUP-004", "the end of the backup is missing, or not what was written",
        "copy the file again, and check that there was room for all of it; nothing of an incomplete one is used";
    NEWER = "BS-BACKUP-005", "the backup was made by a newer version of this program",
        "use that version, which the message names";
    BAD_KEY = "BS-BACKUP-006", "this is no key for backups",
        "`blackstart backup key` makes one; a cluster's `join.key` is one, too";
    SHORT_PASSPHRASE = "BS-BACKUP-007", "the passphrase is too short",
        "take at least 12 characters: several words that nobody would guess";
    TAKEN = "BS-BACKUP-008", "something is there already, and a backup overwrites nothing",
        "name another file, or move the one that is there";
    INCOMPLETE = "BS-BACKUP-009", "this machine does not have all that belongs into a backup",
        "run the command on a master that is a node of the cluster: `blackstart node up` completes it";
    TOO_LARGE = "BS-BACKUP-010", "a file is too large for the configuration of a cluster",
        "move what is no configuration out of the configuration directory";
    DIFFERENT = "BS-BACKUP-011", "files on this machine differ from those in the backup",
        "look at them; `--force` replaces them, and `blackstart node reset` makes the machine empty";
    RUNNING = "BS-BACKUP-012", "etcd or the API server runs on this machine",
        "stop them first: `systemctl stop kube-apiserver etcd`";
    NOT_RESTORED = "BS-BACKUP-013", "etcd's data could not be made from the snapshot",
        "the message has the words of `etcdutl`; what was there before is untouched";
    WRONG_NODE = "BS-BACKUP-014", "this machine is no master of the cluster in the backup",
        "restore on a machine that the backup's cluster.yaml calls a master, or name it with --node";
    BAD_CONFIGURATION = "BS-BACKUP-015", "the configuration in the backup has errors",
        "`blackstart check` explains them; this version of the program may be stricter than the one that made the backup";
    NO_KEY = "BS-BACKUP-016", "there is no key for automatic backups on this machine",
        "put a key from `blackstart backup key` into `backup.key` beside cluster.yaml, or use sealed directories";
    NO_PASSPHRASE = "BS-BACKUP-017", "neither a passphrase nor a key was given, and nobody is there to ask",
        "give --passphrase-file or --key-file, or run the command on a terminal";
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_ours_and_in_order() {
        assert!(super::ALL.iter().all(|code| code.id.starts_with("BS-BACKUP-")));
        assert!(super::ALL.is_sorted_by(|one, next| one.id < next.id));
    }
}
