//! Codes of what can go wrong while an archive is made. What is only missing from it is in its index.

explain::codes! {
    NOT_WRITTEN = "BS-GATHER-001", "the archive cannot be written",
        "name another place with --to: another disk, memory as in `--to /dev/shm/`, or `--to -` for standard output";
    TAKEN = "BS-GATHER-002", "something else stands where the archive is to be written",
        "name another file with --to; nothing is ever overwritten";
    NOT_CLEAN = "BS-GATHER-003", "it cannot be made sure that the archive has no secrets",
        "nothing was written; this is a mistake in the program: please report it with the message";
}
