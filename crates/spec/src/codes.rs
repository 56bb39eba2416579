//! Codes of what can be wrong with a cluster's description.
//!
//! A code keeps its number for ever; a new one takes the next free number of its group.

explain::codes! {
    // The files themselves.
    UNREADABLE = "BS-SPEC-001", "a configuration file or directory cannot be read",
        "check that it is a plain file or directory and that this user may read it";
    NOT_FOUND = "BS-SPEC-002", "the configuration directory or its cluster.yaml does not exist",
        "give the directory that holds cluster.yaml";
    TOO_LARGE = "BS-SPEC-003", "a configuration file is too large",
        "check that this is the right file; a node takes about 200 bytes, and the limit is 16 MiB";
    NOT_UTF8 = "BS-SPEC-004", "a file is not UTF-8 text", "save the file as UTF-8";
    EMPTY = "BS-SPEC-005", "a file is empty", "start from one of the files in examples/";
    SYNTAX = "BS-SPEC-006", "a file is not valid YAML", "check indentation, quotes and brackets around this line";
    TABS = "BS-SPEC-007", "a line is indented with a tab", "indent with spaces; YAML does not allow tabs there";
    DUPLICATE_KEY = "BS-SPEC-008", "a key is given twice in the same mapping", "keep one of the two";
    SEVERAL_DOCUMENTS = "BS-SPEC-009", "a file holds more than one YAML document",
        "keep one document per file: remove the second `---` and what belongs to it";
    TOO_COMPLEX = "BS-SPEC-010", "a file is nested too deeply, expands to too many values, or has a value that is too long",
        "write the values out instead of nesting aliases in aliases";
    UNSUPPORTED_YAML = "BS-SPEC-011", "a file uses an unsupported YAML feature", "write the value out in plain YAML";

    // The shape of the content.
    UNKNOWN_KEY = "BS-SPEC-012", "unknown key", "remove the key or correct its spelling";
    MISSING_KEY = "BS-SPEC-013", "a required key is missing", "add the key";
    NO_VALUE = "BS-SPEC-014", "a key has no value", "give it a value, or remove the key";
    WRONG_TYPE = "BS-SPEC-015", "a value has the wrong type", "see docs/reference/cluster-yaml.md for what goes there";
    OUT_OF_RANGE = "BS-SPEC-016", "a number is outside its range", "use a number inside the range";

    // Single values.
    BAD_NAME = "BS-SPEC-017", "a name is not a DNS-1123 name",
        "use lower-case letters, digits and `-`, beginning and ending with a letter or digit";
    RESERVED_NAME = "BS-SPEC-018", "a name is reserved", "choose another name";
    BAD_ADDRESS = "BS-SPEC-019", "a value is not an IP address", "write an address such as `192.168.1.10`";
    BAD_NETWORK = "BS-SPEC-020", "a value is not a network", "write a network such as `10.244.0.0/16`";
    BAD_MAC = "BS-SPEC-021", "a value is not the MAC address of a network card",
        "write six pairs of hexadecimal digits, such as `52:54:00:00:00:10`";
    BAD_HARDWARE_ID = "BS-SPEC-022", "a value cannot identify a machine",
        "copy it from /sys/class/dmi/id on the machine, or leave the key out";
    UNKNOWN_ROLE = "BS-SPEC-023", "unknown role",
        "use master (or control-plane), worker, ceph-mon, ceph-osd, ceph-mgr or bootstrap";
    BAD_TOKEN = "BS-SPEC-024", "the bootstrap token does not have the form id.secret",
        "use six characters, a dot and sixteen characters, all lower-case letters or digits";
    BAD_VERSION = "BS-SPEC-025", "a value is not a version", "write all three numbers, such as `1.36.3`";
    UNSUPPORTED_VERSION = "BS-SPEC-026", "the Kubernetes version is not supported", "choose a supported version";
    BAD_ENDPOINT = "BS-SPEC-027", "a value is not host:port", "write a host and a port, such as `k8s.example.org:6443`";
    BAD_INTERFACE = "BS-SPEC-028", "a value is not the name of a network interface",
        "write a name such as `eth0`, or `by-mac`";
    UNKNOWN_CHOICE = "BS-SPEC-029", "a value is not one of the allowed ones", "use one of the listed values";
    BAD_PATH = "BS-SPEC-030", "a value is not the path of a file", "write a path relative to cluster.yaml";

    // The whole cluster.
    NO_NODES = "BS-SPEC-031", "a list that needs an entry is empty", "add at least one entry";
    NO_MASTER = "BS-SPEC-032", "no node is a master", "give at least one node the role `master`";
    DUPLICATE_NAME = "BS-SPEC-033", "two nodes have the same name", "give every node its own name";
    DUPLICATE_HOSTNAME = "BS-SPEC-034", "two nodes have the same host name", "give every node its own host name";
    DUPLICATE_ADDRESS = "BS-SPEC-035", "two nodes have the same address", "give every node its own address";
    DUPLICATE_MAC = "BS-SPEC-036", "two nodes have the same MAC address",
        "a MAC address identifies one machine: remove it from the other one";
    DUPLICATE_HARDWARE_ID = "BS-SPEC-037", "two nodes have the same DMI uuid or serial",
        "remove the one that is wrong; where a vendor gave all machines the same one, identify them by MAC";
    OUTSIDE_NETWORK = "BS-SPEC-038", "a node's address is outside the node network",
        "correct the address, or set `cluster.networking.node_cidr`";
    UNUSABLE_ADDRESS = "BS-SPEC-039", "an address cannot belong to a node", "choose another address";
    BAD_GATEWAY = "BS-SPEC-040", "the gateway is not a host of the node network",
        "set `cluster.networking.gateway` to an address inside the node network, or to `none`";
    OVERLAP = "BS-SPEC-041", "two networks overlap", "choose networks that share no address";
    MIXED_FAMILIES = "BS-SPEC-042", "IPv4 and IPv6 are mixed",
        "use one family for the node, pod and service networks";
    SERVICE_SIZE = "BS-SPEC-043", "the service network is too small or too large",
        "use a prefix from /12 to /28, or from /108 to /124 for IPv6";
    POD_PREFIX = "BS-SPEC-044", "the pod network cannot be split into podCIDRs like this",
        "choose `pod_prefix_per_node` larger than the prefix of `pod_cidr`, by at most 16";
    POD_NETWORK_SMALL = "BS-SPEC-045", "the pod network is too small for the nodes",
        "use a larger `pod_cidr` or a longer `pod_prefix_per_node`";
    PORT_TAKEN = "BS-SPEC-046", "the API port is used by another component", "use 6443 or another free port";
    ADD_ON_MANIFEST = "BS-SPEC-047", "`add_on` and `manifest` contradict each other",
        "give `manifest` if and only if `add_on` is `manifest`";
    NODE_NETWORK_TWICE = "BS-SPEC-048", "the node network is given twice", "keep `node_cidr` and remove `prefix`";
    CEPH_WITHOUT_MONITOR = "BS-SPEC-049", "there are Ceph roles but no monitor",
        "give the role `ceph-mon` to one, three or five nodes";
    CEPH_NETWORK = "BS-SPEC-050", "a Ceph node is outside Ceph's public network",
        "set `cluster.ceph.public_network` to the network the nodes are in";

    // Node files.
    UNKNOWN_NODE = "BS-SPEC-051", "a node file describes a node that cluster.yaml does not list",
        "add the node to cluster.yaml, or remove the file";
    CONTRADICTION = "BS-SPEC-052", "a node file contradicts cluster.yaml", "make both agree, or remove it from the node file";
    FILE_NAME = "BS-SPEC-053", "a node file's name is not the name of its node", "rename the file to nodes/<name>.yaml";
    TWO_FILES = "BS-SPEC-054", "two files describe the same node", "keep one of them";

    // Warnings.
    EVEN_MASTERS = "BS-SPEC-055", "the number of masters is even",
        "use one, three or five masters: an even number survives no more failures than one fewer";
    EVEN_MONITORS = "BS-SPEC-056", "the number of Ceph monitors is even",
        "use one, three or five monitors: an even number survives no more failures than one fewer";
    TOKEN_IN_FILE = "BS-SPEC-057", "the bootstrap token is in cluster.yaml",
        "remove it and let the join service hand out tokens; anyone who can read this file can join as any worker";
    EXAMPLE_TOKEN = "BS-SPEC-058", "the bootstrap token is the one from the documentation",
        "remove it, or make one: `openssl rand -hex 3` and `openssl rand -hex 8`, joined by a dot";
    CEPH_UNUSED = "BS-SPEC-059", "there are Ceph settings but no Ceph node",
        "give nodes the roles ceph-mon, ceph-mgr and ceph-osd, or remove the `ceph` section";
    CEPH_WITHOUT_MANAGER = "BS-SPEC-060", "there are Ceph monitors but no manager",
        "give the role `ceph-mgr` to at least one node; without it Ceph reports no usage and balances nothing";
    NO_IDENTITY = "BS-SPEC-061", "nothing identifies a node's machine",
        "add hardware.mac_addresses; without it the machine needs its name given with `--node`";
    TOO_MANY = "BS-SPEC-062", "too many problems to list all", "fix these first, then check again";

    // Ceph's OSDs and pools.
    OSD_NOT_LISTED = "BS-SPEC-063", "a node has the role `ceph-osd` but lists no OSD",
        "list the devices it may use, as in `ceph: {osds: [{device: /dev/sdb}]}`; blackstart never picks a disk itself";
    OSD_WITHOUT_ROLE = "BS-SPEC-064", "a node lists OSDs but does not have the role `ceph-osd`",
        "add `ceph-osd` to its roles, or remove its `ceph` section";
    OSD_STORE = "BS-SPEC-065", "an OSD is not given as one device, or as one file and its size",
        "write `device: /dev/sdb`, or `file: /var/lib/ceph-osd/one` and `size: 10G`";
    OSD_TWICE = "BS-SPEC-066", "a node lists the same device or file twice", "give every OSD its own";
    POOL_SIZE = "BS-SPEC-067", "Ceph's pools cannot have this many copies",
        "lower `pool_size` or `pool_min_size`, or give the role `ceph-osd` to more nodes";
    BAD_SIZE = "BS-SPEC-068", "a value is not a size", "write a number and a unit, such as `10G`; units are M, G and T";

    BAD_TTL = "BS-SPEC-080", "invalid duration", "write a number and a unit, such as `30d` or `12h`, or `never`";
    ROLE_TWICE = "BS-SPEC-081", "a node has the same role twice",
        "list every role once; `control-plane` is an alias of `master`";
    BAD_KMS = "BS-SPEC-082", "invalid KMS plugin endpoint",
        "name the socket of a KMS v2 plugin on every master, such as `unix:///run/kms/plugin.sock`";

    // The temporary bootstrap node.
    BOOTSTRAP_ROLES = "BS-SPEC-083", "the bootstrap node has another role as well",
        "give it the role `bootstrap` alone: it is removed once the masters have taken the cluster over";
    TWO_BOOTSTRAP_NODES = "BS-SPEC-084", "two nodes have the role `bootstrap`",
        "keep one: two bootstrap nodes would start two clusters";
    BOOTSTRAP_MASTERS = "BS-SPEC-085", "wrong number of masters for a cluster with a bootstrap node",
        "list one, three or five masters; without a bootstrap node any number is possible";
    BOOTSTRAP_KMS = "BS-SPEC-086", "a KMS plugin in a cluster that begins on a bootstrap node",
        "leave `cluster.encryption.kms` out until the masters have taken over; then take the bootstrap node out of cluster.yaml, add the plugin and run `blackstart pki rotate encryption`";
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_ours_and_in_order() {
        assert!(super::ALL.iter().all(|code| code.id.starts_with("BS-SPEC-")));
        assert!(super::ALL.is_sorted_by(|one, next| one.id < next.id));
    }
}
