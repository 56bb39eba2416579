//! Codes of what can go wrong at the door to the machine.

explain::codes! {
    READ = "BS-HOST-001", "a file or directory could not be read",
        "check that the path exists and that this user may read it";
    WRITE = "BS-HOST-002", "a file or directory could not be written",
        "check that the file system is writable and that this user may write there";
    DISK_FULL = "BS-HOST-003", "no space is left on the file system",
        "free some space on the file system named in the message, then run the same command again";
    READ_ONLY = "BS-HOST-004", "the file system is read-only",
        "remount it writable; if the kernel made it read-only, check `dmesg` for disk errors";
    DENIED = "BS-HOST-005", "permission denied", "run the command as root";
    NOT_A_DIRECTORY = "BS-HOST-006", "expected a directory, found something else",
        "check the path in the message and move it out of the way";
    NOT_A_FILE = "BS-HOST-007", "expected a regular file, found something else",
        "check the path in the message: a link or a device is never replaced; move it away if it is not needed";
    NO_COMMAND = "BS-HOST-008", "a required program is not installed",
        "install the program named in the message, then run the same command again";
    COMMAND = "BS-HOST-009", "a system command failed",
        "the message has the end of its output; run the command by hand to see all of it";
}
