//! Codes of what can go wrong with the lab.

explain::codes! {
    NAME = "BS-LAB-001", "that is no name for a lab",
        "use one to eight lower case letters and digits, beginning with a letter";
    UNKNOWN_LAB = "BS-LAB-002", "there is no lab of that name",
        "`blackstart lab list` shows the labs on this computer; `blackstart lab up` makes one";
    UNKNOWN_MACHINE = "BS-LAB-003", "the lab has no machine of that name",
        "`blackstart lab status` shows its machines";
    NOT_RUNNING = "BS-LAB-004", "the machine is not running",
        "`blackstart lab up` boots what is off, `blackstart lab resume` wakes what is paused";
    NOT_ROOT = "BS-LAB-005", "machines need root",
        "run the command as root";
    NO_PACKAGES = "BS-LAB-006", "programs that the lab needs are not installed",
        "install the packages named in the message";
    NO_SUBNET = "BS-LAB-007", "no free network is left for the lab",
        "destroy a lab that is not needed: `blackstart lab list`";
    DISK_SPACE = "BS-LAB-008", "there is too little space for the lab",
        "free some space on the file system named in the message";
    LEFT = "BS-LAB-009", "something of the lab could not be removed",
        "look at what the message names, then run `blackstart lab destroy` again";
    RECORD = "BS-LAB-010", "the lab's own record cannot be read",
        "`blackstart lab destroy` removes the lab; make it anew with `blackstart lab up`";
    CONFIG = "BS-LAB-011", "the lab's configuration has problems",
        "`blackstart check DIR` shows all of them with their places";
    SYSTEM = "BS-LAB-012", "the system refused something the lab needs",
        "read the message: it says what was being done and what the system answered";
    BUSY = "BS-LAB-013", "another command is working on the lab",
        "wait for it, or stop it with Ctrl-C; whatever it has begun, `blackstart lab up` finishes and `blackstart lab destroy` removes";
    UNFINISHED = "BS-LAB-014", "the making of the lab was interrupted at its very beginning",
        "`blackstart lab up` makes it, `blackstart lab destroy` removes what there is";
    SUBNET_TAKEN = "BS-LAB-015", "the network of the configuration is in use on this computer",
        "change `node_cidr`, `gateway` and the addresses in a copy of the configuration, or destroy the lab that has that network";
    NOT_IPV4 = "BS-LAB-016", "the lab has only IPv4 networks",
        "give the configuration an IPv4 `node_cidr`";
    NODE_FAILED = "BS-LAB-018", "a machine of the lab does not become a node",
        "`blackstart lab logs NAME --unit cluster-bootstrap` shows the whole story";
    OTHER_SHAPE = "BS-LAB-017", "the lab exists with other machines",
        "leave --masters, --workers, --ceph and --config out to boot it as it is, or destroy it first, or choose another --name";
    NOT_IN_API = "BS-LAB-019", "a machine of the lab was a node and is no longer one: the API does not have it",
        "`blackstart lab wipe NAME` and `blackstart lab up` let it join anew; one that was removed on purpose needs nothing, the others are up";
}
