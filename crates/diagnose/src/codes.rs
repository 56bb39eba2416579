//! Codes of what a diagnosis can answer. `docs/troubleshooting.md` is made from them.

explain::codes! {
    CRASH_LOOP = "BS-DIAG-001", "a service ends again and again",
        "read its last words in the message; `journalctl -u UNIT` shows all of them";
    NEVER_STARTED = "BS-DIAG-002", "this machine was never made a node",
        "`systemctl enable --now cluster-bootstrap` makes it one, now and at every boot; `blackstart node up` does it once";
    BOOTSTRAP_FAILED = "BS-DIAG-003", "the last `node up` failed or was cut off",
        "mend what its error says; `cluster-bootstrap.service` tries again by itself, or run `blackstart node up`";
    BOOTSTRAP_WAITS = "BS-DIAG-004", "`node up` has been waiting for a long time",
        "see to what is waited for; `blackstart watch` shows how all nodes are doing";
    BOOTSTRAP_OFF = "BS-DIAG-005", "the machine does not become a node at its next boot",
        "`systemctl unmask cluster-bootstrap; systemctl enable cluster-bootstrap`";
    SERVICE_STOPPED = "BS-DIAG-006", "a service of the node was stopped",
        "start it again: `systemctl start UNIT`; where it is masked, `systemctl unmask UNIT` first";
    SERVICE_CHANGED = "BS-DIAG-007", "a unit or a configuration file was changed by hand",
        "`blackstart node up` writes the files as they should be; remove drop-ins, then `systemctl daemon-reload` and restart the unit";
    SERVICE_DISABLED = "BS-DIAG-008", "a service of the node does not start at the next boot",
        "`systemctl enable UNIT`, or let `blackstart node up` do it";
    KERNEL_SETTING = "BS-DIAG-009", "a setting of the kernel that the node needs is off",
        "`sysctl --load /etc/sysctl.d/90-blackstart.conf`, and find out which other file of `/etc/sysctl.d` turns it off";
    ADDRESS_GONE = "BS-DIAG-010", "no interface has the node's address",
        "give the machine its address of cluster.yaml back (`blackstart node detect` does it), or correct cluster.yaml and join the node anew";
    OUT_OF_MEMORY = "BS-DIAG-011", "the kernel ended a service because memory ran out",
        "give the machine more memory, or find out who else uses it: `systemd-cgtop -m`";
    NO_INODES = "BS-DIAG-012", "a file system that the node writes to has no room for more files",
        "remove what made so many small files: `du -x --inodes --max-depth=2 DIR | sort -n | tail` shows where they are";
    READ_ONLY = "BS-DIAG-013", "a file system that the node writes to is read-only",
        "look for disk errors in `dmesg`; then `mount -o remount,rw DIR`, or check the disk and boot again";
    CLOCK_DIFFERS = "BS-DIAG-014", "the clock is not that of the masters",
        "let `systemd-timesyncd` or `chronyd` keep the clocks of all nodes: `timedatectl set-ntp true`";
    CLOCK_WENT_BACK = "BS-DIAG-015", "the clock is behind what this machine wrote earlier",
        "set the clock, or let `systemd-timesyncd` or `chronyd` do it: `timedatectl set-ntp true`";
    NO_NAME_SERVER = "BS-DIAG-016", "no name server answers",
        "put a name server that answers into `cluster.networking.dns` or `/etc/resolv.conf`: images and outside names need one";
    FIREWALL = "BS-DIAG-017", "a rule of the packet filter keeps the node's connections away",
        "remove the rule named in the message, or accept the node's ports before it";
    CGROUP_DRIVER = "BS-DIAG-018", "the kubelet and containerd use different cgroup drivers",
        "`blackstart node up` writes both configurations so that they agree";
    NO_BUNDLE_IMAGE = "BS-DIAG-019", "containerd lacks an image of the bundle",
        "`blackstart node up` imports it again";
    NO_POD_NETWORK = "BS-DIAG-020", "the node has no configuration for the network of its pods",
        "look at `journalctl -u blackstart-agent`, which writes it; with another add-on, at that add-on's pods";
    FOREIGN_POD_NETWORK = "BS-DIAG-021", "a configuration of another pod network is in front of the cluster's",
        "remove the file named in the message from `/etc/cni/net.d`";
    NO_NETWORK_PLUGIN = "BS-DIAG-022", "a plugin of the pod network is missing",
        "install the components again: `blackstart bundle install DIR`, then `blackstart node up`";
    CERTIFICATE_EXPIRED = "BS-DIAG-030", "a certificate has expired",
        "check the clock; if it is right, `blackstart pki renew NAME` on a master makes the certificate anew";
    CERTIFICATE_ENDS = "BS-DIAG-031", "a certificate ends soon and was not renewed",
        "look at `journalctl -u blackstart-agent`, which renews it; `blackstart pki renew` on a master does it now";
    CERTIFICATE_NAMES = "BS-DIAG-032", "a certificate lacks a name or address with which it is used",
        "`blackstart pki renew NAME` makes it with all names of cluster.yaml; then restart its service";
    CERTIFICATE_MISSING = "BS-DIAG-033", "a certificate or kubeconfig is missing",
        "`blackstart node up` makes it again; an authority comes from a backup, from another master or from the sealed directory";
    CERTIFICATE_UNFIT = "BS-DIAG-034", "a certificate is made out to somebody else, or is not valid yet",
        "`blackstart pki renew NAME` makes it as it must be";
    KUBECONFIG_ASTRAY = "BS-DIAG-035", "a kubeconfig leads to another server or trusts another authority",
        "remove the file and run `blackstart node up`, which makes it anew";
    ETCD_NO_LEADER = "BS-DIAG-036", "etcd has no leader, so nothing can be read or written",
        "start the masters whose members do not answer: a majority must be there, and nothing else is needed; if they are lost, restore a backup";
    ETCD_ALARM = "BS-DIAG-037", "etcd has raised an alarm and refuses to write",
        "for NOSPACE compact and defragment, then disarm: `etcdctl compact REVISION`, `etcdctl defrag`, `etcdctl alarm disarm`; for CORRUPT restore a snapshot";
    ETCD_SLOW = "BS-DIAG-038", "etcd's disk is slow",
        "put /var/lib/etcd on a disk of its own, best an SSD; see who else writes with `iostat -x 1`";
    ETCD_DATA = "BS-DIAG-039", "etcd cannot work with its data directory",
        "with other masters: `blackstart node reset` on this one, then `blackstart node up`, which takes everything from them; with one, restore /var/lib/etcd from a backup or a snapshot; never mix directories of different members";
    API_NOT_READY = "BS-DIAG-040", "the API server answers and is not ready",
        "see to what it names as failing; `kubectl get --raw '/readyz?verbose'` shows all of it";
    API_DISTRUSTED = "BS-DIAG-041", "the API server's certificate is not believed",
        "compare the authority with `blackstart pki show`; `blackstart pki renew apiserver` makes the certificate anew";
    API_REFUSES = "BS-DIAG-042", "the API server does not accept this node's own certificate",
        "see with `blackstart pki show` who signed it and when it ends";
    ENCRYPTION_KEY = "BS-DIAG-043", "Secrets cannot be decrypted with the key in encryption.yaml",
        "put the key with which they were written back: it is in the sealed directory of the first master (`encryption.key`) or in a backup; then restart kube-apiserver";
    ENCRYPTION_CHANGED = "BS-DIAG-044", "encryption.yaml was changed and does not hold the key of the sealed directory",
        "keep the new file safe: whoever loses it loses all Secrets; nothing must be done if it was changed on purpose";
    CSR_PENDING = "BS-DIAG-045", "a node's certificate request is not decided on",
        "the agents of the masters decide: look at `journalctl -u blackstart-agent` there";
    CSR_DENIED = "BS-DIAG-046", "a node's certificate request was denied",
        "mend what the reason says; then restart the kubelet of that node, which asks again";
    BALANCER_SILENT = "BS-DIAG-047", "the agent's balancer does not answer, so nothing on this node reaches the API",
        "look at `journalctl -u blackstart-agent`, and at who holds the port with `ss -ltnp`";
    JOIN_SERVICE_DOWN = "BS-DIAG-048", "the join service of no master answers, so certificates cannot be had or renewed",
        "start the agent on the masters: `systemctl start blackstart-agent`; port 7444 must be open between the nodes";
    NODE_GONE = "BS-DIAG-049", "the Node object of this node is gone",
        "`systemctl restart kubelet` registers the node again";
    NODE_NOT_READY = "BS-DIAG-050", "the node is not Ready",
        "see to what the kubelet says; `journalctl -u kubelet` has more";
    NODE_CORDONED = "BS-DIAG-051", "the node is cordoned: no new pods come to it",
        "`kubectl uncordon NODE` when it shall take pods again";
    OTHER_NODE = "BS-DIAG-052", "another node of the cluster is missing or not Ready",
        "run `blackstart diagnose` on that node";
    UNLISTED_NODE = "BS-DIAG-053", "the cluster has a Node that is not in cluster.yaml",
        "add it to cluster.yaml, or remove it: `kubectl delete node NAME`";
    ROLES_GONE = "BS-DIAG-054", "roles or bindings that the cluster needs are missing or were changed",
        "`blackstart node up` on the first master applies them again";
    DNS_GONE = "BS-DIAG-055", "objects of the cluster's DNS are missing, or it was scaled to nothing",
        "`blackstart node up` on the first master applies them again";
    DNS_SILENT = "BS-DIAG-056", "the cluster's DNS does not answer",
        "look at its pods: `kubectl -n kube-system describe pods -l k8s-app=kube-dns`";
    SERVICE_TABLE_GONE = "BS-DIAG-057", "kube-proxy's nftables table is gone, so services have no addresses",
        "`systemctl restart kube-proxy` makes it again; whoever runs `nft flush ruleset` (a firewall script?) removes it again";
    POD_ROUTE = "BS-DIAG-058", "packets for another node's pods do not go to that node",
        "remove the route that is in the way (`ip route`); the agent sets its own within 15 s";
    POD_IMAGE = "BS-DIAG-059", "the image of a pod cannot be pulled",
        "correct the image's name, or bring it to the node: `ctr -n k8s.io images import FILE`";
    POD_UNSCHEDULED = "BS-DIAG-060", "a pod finds no node",
        "see to what the scheduler says: more room, another selector, an uncordoned node";
    POD_FAILS = "BS-DIAG-061", "a pod does not stay up",
        "`kubectl logs --previous` and `kubectl describe pod` tell more";
    ETCD_MEMBER_SILENT = "BS-DIAG-062", "a member of etcd does not answer; the others go on without it",
        "start its master, or run `blackstart diagnose` there; if it is gone for good, `blackstart node remove NAME`";
    ETCD_MEMBER_LOST = "BS-DIAG-063", "the machine of an etcd member has no data of it: it was wiped or exchanged",
        "`blackstart node up` on that master: it takes its place anew; if it is not to come back, `blackstart node remove NAME`";
    ETCD_NEVER_CAME = "BS-DIAG-064", "a place in etcd was announced, and nobody has come to take it",
        "start the master that it is for; the agents give the place of a learner up after two minutes, and no other master joins before";
    ETCD_LEARNER = "BS-DIAG-065", "a member of etcd has no vote",
        "`blackstart node up` on that master gives the member its vote when it has received everything";
    ETCD_NO_MEMBER = "BS-DIAG-066", "a master is not among etcd's members",
        "if it was removed: `blackstart node reset` on that master, then `blackstart node up`, which joins anew; else let `blackstart node up` finish";
    ETCD_APART = "BS-DIAG-067", "masters of this cluster are in different clusters of etcd",
        "decide which of them is the cluster; `blackstart node reset` on the masters in the other one, then `blackstart node up`: what only those know is lost";
    ETCD_NEARLY_FULL = "BS-DIAG-068", "etcd's database is near the size at which it refuses to write",
        "find out who writes so much (`kubectl get events -A`, large ConfigMaps and Secrets); where little of it is in use, `etcdctl defrag` gives the rest back, one master after the other";
    ETCD_DATA_GONE = "BS-DIAG-069", "etcd's data are gone from this master",
        "mount their disk, or put them back, and `systemctl start etcd`; else, with other masters, `blackstart node up` takes its place anew; with one, `blackstart backup restore` or `blackstart etcd restore`";
    CEPH_STOPPED = "BS-DIAG-070", "a daemon of Ceph was stopped",
        "start it again: `systemctl start UNIT`";
    CEPH_FAILS = "BS-DIAG-071", "a daemon of Ceph ends again and again",
        "read its last words in the message; `journalctl -u UNIT` and /var/log/ceph have all of them";
    CEPH_PORT = "BS-DIAG-072", "another program has a port of Ceph's monitor",
        "stop the program that the message names, and keep it from starting again; then `systemctl reset-failed ceph-mon@NAME` and `systemctl start ceph-mon@NAME`";
    CEPH_KEY = "BS-DIAG-073", "Ceph does not accept a key of this node",
        "the key is not the one that the monitors know: remove the keyring that the message names and run `blackstart node up`, which brings the right one";
    CEPH_NO_QUORUM = "BS-DIAG-074", "Ceph's monitors have no majority, so nothing of Ceph can be read or written",
        "start the monitors that do not answer; more than half of them must run and reach each other on ports 3300 and 6789";
    CEPH_CLOCK = "BS-DIAG-075", "the clocks of Ceph's monitors differ",
        "let `systemd-timesyncd` or `chronyd` synchronise the clocks of all nodes; Ceph looks again within five minutes";
    CEPH_FULL = "BS-DIAG-076", "Ceph is running out of space",
        "add OSDs (`nodes[].ceph.osds` in cluster.yaml) or remove data; a full OSD stops all writes: `ceph osd df` shows which, `ceph df` whose data";
    CEPH_SLOW = "BS-DIAG-077", "a disk or a network of Ceph is slow",
        "see which OSD it is (`ceph health detail`, `ceph osd perf`), and what else its disk does (`iostat -x 1`); a disk that dies is slow first";
    CEPH_UNWELL = "BS-DIAG-078", "Ceph reports a problem",
        "`ceph health detail` on a monitor's node has all of it; for a daemon that is down, run `blackstart diagnose` on its node";

    KMS_SILENT = "BS-DIAG-079", "the KMS plugin does not answer, so the API server can read and write no Secret",
        "start the plugin on this master and see its own log; the API server finds it again by itself";
    KMS_DIFFERS = "BS-DIAG-080", "Secrets are not encrypted by the KMS that cluster.yaml names",
        "run `blackstart pki rotate encryption` on a master: it encrypts every Secret as cluster.yaml says";
}
