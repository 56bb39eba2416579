//! Codes of what can go wrong while steps run.

explain::codes! {
    LOCKED = "BS-ENGINE-001", "another run is working on this machine",
        "wait for the run named in the message, or end it (`systemctl stop cluster-bootstrap` ends the one that began at boot); \
         a lock of a process that died does not block";
    NOT_IN_TIME = "BS-ENGINE-002", "a step did not reach its target state in time",
        "fix what the step was waiting for, then run the same command again: it continues from there";
    NO_SUCH_ACTION = "BS-ENGINE-003", "a step does not know this change or undo",
        "this ledger was probably written by another version; run the version that wrote it";
    PLAYBOOK = "BS-ENGINE-004", "the list of steps contradicts itself",
        "this is a bug in blackstart: please report it with the message";
    CHOICE = "BS-ENGINE-005", "invalid selection of steps",
        "`blackstart node up --list-steps` shows all steps and what each comes after";
    NOT_PLANNED = "BS-ENGINE-006", "a step would write a file that its plan does not name",
        "this is a bug in blackstart: please report it with the message";
    LEDGER_DAMAGED = "BS-LEDGER-001", "the ledger and its previous generation cannot be read",
        "restore ledger.json from a backup; only if this machine was never set up, move ledger.json and ledger.prev.json away";
    LEDGER_NEWER = "BS-LEDGER-002", "the ledger was written by a newer version of this program",
        "use that version or a later one on this machine";
    LEDGER_OLDER = "BS-LEDGER-003", "the ledger was written by a version that this one can no longer read",
        "upgrade through the version in between first; see CHANGELOG.md";
}
