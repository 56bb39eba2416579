//! Codes of what can go wrong while an archive is made. What is only missing from it is in its index.

explain::codes! {
    NOT_WRITTEN = "BS-GATHER-001", "cannot write the archive",
        "choose another path with --to: another disk, memory as in `--to /dev/shm/`, or `--to -` for standard output";
    TAKEN = "BS-GATHER-002", "the archive's path exists already",
        "choose another file with --to; nothing is ever overwritten";
    NOT_CLEAN = "BS-GATHER-003", "cannot guarantee that the archive has no secrets",
        "nothing was written; this is a bug in blackstart: please report it with the message";
}
