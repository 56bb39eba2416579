//! Codes of what can go wrong with the lab.

explain::codes! {
    NAME = "BS-LAB-001", "invalid lab name", "use one to eight lower case letters and digits, beginning with a letter";
    UNKNOWN_LAB = "BS-LAB-002", "no such lab",
        "`blackstart lab list` shows the labs on this computer; `blackstart lab up` makes one";
    UNKNOWN_MACHINE = "BS-LAB-003", "no such machine in the lab", "`blackstart lab status` shows its machines";
    NOT_RUNNING = "BS-LAB-004", "the machine is not running",
        "`blackstart lab up` boots what is off, `blackstart lab resume` wakes what is paused";
    NOT_ROOT = "BS-LAB-005", "the lab needs root", "run the command as root";
    NO_PACKAGES = "BS-LAB-006", "programs that the lab needs are not installed",
        "install the packages named in the message";
    NO_SUBNET = "BS-LAB-007", "no free subnet is left for the lab",
        "destroy a lab that is not needed: `blackstart lab list`";
    DISK_SPACE = "BS-LAB-008", "not enough disk space for the lab",
        "free some space on the file system named in the message";
    LEFT = "BS-LAB-009", "part of the lab could not be removed",
        "check what the message names, then run `blackstart lab destroy` again";
    RECORD = "BS-LAB-010", "the lab's state file cannot be read",
        "`blackstart lab destroy` removes the lab; make it again with `blackstart lab up`";
    CONFIG = "BS-LAB-011", "the lab's configuration has problems",
        "`blackstart check DIR` shows all of them, with line and column";
    SYSTEM = "BS-LAB-012", "the system refused a call that the lab needs",
        "the message has the call and the system's error";
    BUSY = "BS-LAB-013", "another command is running on the lab",
        "wait for it, or stop it with Ctrl-C; `blackstart lab up` finishes what it has begun, `blackstart lab destroy` \
         removes it";
    UNFINISHED = "BS-LAB-014", "creating the lab was interrupted at the very beginning",
        "`blackstart lab up` makes it, `blackstart lab destroy` removes what there is";
    SUBNET_TAKEN = "BS-LAB-015", "the configured network is in use on this computer",
        "change `node_cidr`, `gateway` and the addresses in a copy of the configuration, or destroy the lab that has that \
         network";
    NOT_IPV4 = "BS-LAB-016", "the lab supports IPv4 only", "give the configuration an IPv4 `node_cidr`";
    NODE_FAILED = "BS-LAB-018", "a machine of the lab did not become a node",
        "`blackstart lab logs NAME --unit cluster-bootstrap` shows the whole log";
    OTHER_SHAPE = "BS-LAB-017", "the lab exists with other machines",
        "leave --masters, --workers, --ceph, --config, --ignition and --pivot out to boot it as it is, or destroy it first, or choose another \
         --name";
    NOT_IN_API = "BS-LAB-019", "a machine of the lab has lost its Node object",
        "`blackstart lab wipe NAME` and `blackstart lab up` let it join again; no action if it was removed on purpose, the \
         others are up";
    IGNITION = "BS-LAB-020", "Ignition could not set up a machine of the lab",
        "`blackstart ignition validate FILE` checks its config; `blackstart lab up` tries again";
    NO_CONFIG = "BS-LAB-021", "a machine of the lab has no Ignition config",
        "render it: `blackstart ignition render DIR --sealed SEALED --out OUT`, and give --ignition OUT";
    WENT_DOWN = "BS-LAB-022", "the machine went down during a command",
        "no action if that was intended; `blackstart lab status` shows whether it is up again, `blackstart lab logs NAME --console` why \
         it went down";
}
