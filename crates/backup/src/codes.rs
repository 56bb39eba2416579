//! Codes of what can go wrong with backups.

explain::codes! {
    NOT_A_BACKUP = "BS-BACKUP-001", "not a backup file",
        "check the path; `blackstart backup list` shows the automatic backups of this machine";
    WRONG_KEY = "BS-BACKUP-002", "wrong passphrase or key for this backup",
        "automatic backups open with `backup.key`, or with the `join.key` of the cluster: name the file with --key-file";
    DAMAGED = "BS-BACKUP-003", "the backup is damaged",
        "take another copy of the file, or another backup; nothing of a damaged one is used";
    TRUNCATED = "BS-BACKUP-004", "the backup is truncated",
        "copy the file again, and check that there was room for all of it; nothing of an incomplete one is used";
    NEWER = "BS-BACKUP-005", "the backup was made by a newer version of this program",
        "use that version, which the message names";
    BAD_KEY = "BS-BACKUP-006", "not a backup key",
        "`blackstart backup key` makes one; a cluster's `join.key` works, too";
    SHORT_PASSPHRASE = "BS-BACKUP-007", "the passphrase is too short",
        "use at least 12 characters: several words that are hard to guess";
    TAKEN = "BS-BACKUP-008", "the target exists, and a backup overwrites nothing",
        "choose another file, or move the one that is there";
    INCOMPLETE = "BS-BACKUP-009", "this machine lacks files that belong in a backup",
        "run the command on a master that is a node of the cluster: `blackstart node up` completes it";
    TOO_LARGE = "BS-BACKUP-010", "a file is too large for a configuration directory",
        "move files that are not configuration out of the configuration directory";
    DIFFERENT = "BS-BACKUP-011", "files on this machine differ from those in the backup",
        "compare them; `--force` replaces them, and `blackstart node reset` empties the machine";
    RUNNING = "BS-BACKUP-012", "etcd or the API server is running on this machine",
        "stop them first: `systemctl stop kube-apiserver etcd`";
    NOT_RESTORED = "BS-BACKUP-013", "cannot restore etcd's data from the snapshot",
        "the message has the error of `etcdutl`; what was there before is untouched";
    WRONG_NODE = "BS-BACKUP-014", "this machine is not a master of the cluster in the backup",
        "restore on a machine that is a master in the backup's cluster.yaml, or pass --node";
    BAD_CONFIGURATION = "BS-BACKUP-015", "the configuration in the backup has errors",
        "`blackstart check` explains them; this version of the program may be stricter than the one that made the backup";
    NO_KEY = "BS-BACKUP-016", "no key for automatic backups on this machine",
        "put a key from `blackstart backup key` into `backup.key` beside cluster.yaml, or use sealed directories";
    NO_PASSPHRASE = "BS-BACKUP-017", "no passphrase or key, and stdin is not a terminal",
        "pass --passphrase-file or --key-file, or run the command on a terminal";
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_ours_and_in_order() {
        assert!(super::ALL.iter().all(|code| code.id.starts_with("BS-BACKUP-")));
        assert!(super::ALL.is_sorted_by(|one, next| one.id < next.id));
    }
}
