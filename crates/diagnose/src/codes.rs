//! Codes of what a diagnosis can answer. `docs/troubleshooting.md` is made from them.

explain::codes! {
    CRASH_LOOP = "BS-DIAG-001", "a service is crash-looping",
        "its last log line is in the message; `journalctl -u UNIT` shows the whole log";
    NEVER_STARTED = "BS-DIAG-002", "`node up` never ran on this machine",
        "`systemctl enable --now cluster-bootstrap` runs it now and at every boot; `blackstart node up` runs it once";
    BOOTSTRAP_FAILED = "BS-DIAG-003", "the last `node up` failed or was interrupted",
        "fix the error in the message; `cluster-bootstrap.service` retries by itself, or run `blackstart node up`";
    BOOTSTRAP_WAITS = "BS-DIAG-004", "`node up` has been waiting for a long time",
        "resolve the condition shown as `waiting for`; `blackstart watch` shows all nodes";
    BOOTSTRAP_OFF = "BS-DIAG-005", "`cluster-bootstrap` is disabled: this machine will not become a node at its next boot",
        "`systemctl unmask cluster-bootstrap; systemctl enable cluster-bootstrap`";
    SERVICE_STOPPED = "BS-DIAG-006", "a service of the node is stopped",
        "start it: `systemctl start UNIT`; if it is masked, `systemctl unmask UNIT` first";
    SERVICE_CHANGED = "BS-DIAG-007", "a unit or a configuration file was changed by hand",
        "`blackstart node up` restores the files; remove drop-ins, then `systemctl daemon-reload` and restart the unit";
    SERVICE_DISABLED = "BS-DIAG-008", "a service of the node is disabled at boot",
        "`systemctl enable UNIT`, or run `blackstart node up`";
    KERNEL_SETTING = "BS-DIAG-009", "a required sysctl is off",
        "`sysctl --load /etc/sysctl.d/90-blackstart.conf`, and find out which other file of `/etc/sysctl.d` turns it off";
    ADDRESS_GONE = "BS-DIAG-010", "no interface has the node's address",
        "give the machine its address of cluster.yaml back (`blackstart node detect` does it), or correct cluster.yaml and \
         join the node again";
    OUT_OF_MEMORY = "BS-DIAG-011", "the kernel killed a service: out of memory",
        "give the machine more memory, or find out which process uses it: `systemd-cgtop -m`";
    NO_INODES = "BS-DIAG-012", "a file system of the node is out of inodes",
        "remove what made so many small files: `du -x --inodes --max-depth=2 DIR | sort -n | tail` shows where they are";
    READ_ONLY = "BS-DIAG-013", "a file system of the node is read-only",
        "check `dmesg` for disk errors; then `mount -o remount,rw DIR`, or check the disk and boot again";
    CLOCK_DIFFERS = "BS-DIAG-014", "clock skew against the control plane",
        "let `systemd-timesyncd` or `chronyd` synchronise the clocks of all nodes: `timedatectl set-ntp true`";
    CLOCK_WENT_BACK = "BS-DIAG-015", "the clock went backwards: it is behind what this machine wrote earlier",
        "set the clock, or let `systemd-timesyncd` or `chronyd` do it: `timedatectl set-ntp true`";
    NO_NAME_SERVER = "BS-DIAG-016", "no name server answers",
        "put a name server that answers into `cluster.networking.dns` or `/etc/resolv.conf`: image pulls and external \
         names need one";
    FIREWALL = "BS-DIAG-017", "a firewall rule blocks the node's connections",
        "remove the rule named in the message, or accept the node's ports before it";
    CGROUP_DRIVER = "BS-DIAG-018", "the kubelet and containerd use different cgroup drivers",
        "`blackstart node up` writes both configurations with the same driver";
    NO_BUNDLE_IMAGE = "BS-DIAG-019", "an image of the bundle is missing in containerd",
        "`blackstart node up` imports it again";
    NO_POD_NETWORK = "BS-DIAG-020", "the node has no CNI configuration",
        "check `journalctl -u blackstart-agent`, which writes it; with another add-on, check that add-on's pods";
    FOREIGN_POD_NETWORK = "BS-DIAG-021", "a CNI configuration of another add-on takes precedence",
        "remove the file named in the message from `/etc/cni/net.d`";
    NO_NETWORK_PLUGIN = "BS-DIAG-022", "a CNI plugin is missing",
        "install the components again: `blackstart bundle install DIR`, then `blackstart node up`";
    CERTIFICATE_EXPIRED = "BS-DIAG-030", "a certificate has expired",
        "check the clock; if it is right, renew the certificate with `blackstart pki renew NAME` on a master";
    CERTIFICATE_ENDS = "BS-DIAG-031", "a certificate expires soon and was not renewed",
        "check `journalctl -u blackstart-agent`, which renews it; `blackstart pki renew` on a master does it now";
    CERTIFICATE_NAMES = "BS-DIAG-032", "a certificate lacks a required SAN",
        "`blackstart pki renew NAME` issues it with all names of cluster.yaml; then restart its service";
    CERTIFICATE_MISSING = "BS-DIAG-033", "a certificate or kubeconfig is missing",
        "`blackstart node up` makes it again; a CA comes from a backup, from another master or from the sealed directory";
    CERTIFICATE_UNFIT = "BS-DIAG-034", "a certificate has the wrong subject or is not valid yet",
        "`blackstart pki renew NAME` issues it correctly";
    KUBECONFIG_ASTRAY = "BS-DIAG-035", "a kubeconfig has the wrong server or CA",
        "remove the file and run `blackstart node up`, which makes it again";
    ETCD_NO_LEADER = "BS-DIAG-036", "etcd has no leader, so nothing can be read or written",
        "start the masters whose members do not answer: etcd needs a majority, nothing else; if they are lost, restore a \
         backup";
    ETCD_ALARM = "BS-DIAG-037", "etcd has an alarm and refuses writes",
        "for NOSPACE compact and defragment, then disarm: `etcdctl compact REVISION`, `etcdctl defrag`, `etcdctl alarm \
         disarm`; for CORRUPT restore a snapshot";
    ETCD_SLOW = "BS-DIAG-038", "etcd's disk is slow",
        "put /var/lib/etcd on a disk of its own, best an SSD; `iostat -x 1` shows what else writes";
    ETCD_DATA = "BS-DIAG-039", "etcd cannot use its data directory",
        "with other masters: `blackstart node reset` on this one, then `blackstart node up`, which copies everything from \
         them; with one, restore /var/lib/etcd from a backup or a snapshot; never mix directories of different members";
    API_NOT_READY = "BS-DIAG-040", "the API server answers but is not ready",
        "fix the failing checks it lists; `kubectl get --raw '/readyz?verbose'` shows all of them";
    API_DISTRUSTED = "BS-DIAG-041", "the API server's certificate is not trusted",
        "compare its CA with `blackstart pki show`; `blackstart pki renew apiserver` issues the certificate again";
    API_REFUSES = "BS-DIAG-042", "the API server rejects this node's client certificate",
        "`blackstart pki show` lists its issuer and expiry";
    ENCRYPTION_KEY = "BS-DIAG-043", "Secrets cannot be decrypted with the key in encryption.yaml",
        "restore the key they were encrypted with: it is in the sealed directory of the first master (`encryption.key`) or \
         in a backup; then restart kube-apiserver";
    ENCRYPTION_CHANGED = "BS-DIAG-044", "encryption.yaml was changed: its key is not the one of the sealed directory",
        "no action if it was changed on purpose; keep a safe copy of the new file: without it all Secrets are lost";
    CSR_PENDING = "BS-DIAG-045", "a node's CSR is pending",
        "the masters' agents approve it: check `journalctl -u blackstart-agent` there";
    CSR_DENIED = "BS-DIAG-046", "a node's CSR was denied",
        "fix the reason; then restart the kubelet of that node, which asks again";
    BALANCER_SILENT = "BS-DIAG-047", "the agent's API balancer does not answer, so nothing on this node reaches the API",
        "check `journalctl -u blackstart-agent`, and which process uses the port with `ss -ltnp`";
    JOIN_SERVICE_DOWN = "BS-DIAG-048", "no master's join service answers, so certificates cannot be issued or renewed",
        "start the agent on the masters: `systemctl start blackstart-agent`; port 7444 must be open between the nodes";
    NODE_GONE = "BS-DIAG-049", "this node's Node object is missing",
        "`systemctl restart kubelet` registers the node again";
    NODE_NOT_READY = "BS-DIAG-050", "the node is not Ready",
        "fix the reason the kubelet reports; `journalctl -u kubelet` has more";
    NODE_CORDONED = "BS-DIAG-051", "the node is cordoned: no new pods are scheduled",
        "`kubectl uncordon NODE` when it should take pods again";
    OTHER_NODE = "BS-DIAG-052", "another node of the cluster is missing or not Ready",
        "run `blackstart diagnose` on that node";
    UNLISTED_NODE = "BS-DIAG-053", "the cluster has a Node that is not in cluster.yaml",
        "add it to cluster.yaml, or remove it: `kubectl delete node NAME`";
    ROLES_GONE = "BS-DIAG-054", "required RBAC roles or bindings are missing or were changed",
        "`blackstart node up` on the first master applies them again";
    DNS_GONE = "BS-DIAG-055", "objects of the cluster's DNS are missing, or it was scaled to zero",
        "`blackstart node up` on the first master applies them again";
    DNS_SILENT = "BS-DIAG-056", "the cluster's DNS does not answer",
        "check its pods: `kubectl -n kube-system describe pods -l k8s-app=kube-dns`";
    SERVICE_TABLE_GONE = "BS-DIAG-057", "kube-proxy's nftables table is gone, so Services do not work",
        "`systemctl restart kube-proxy` makes it again; find what removes it, such as a firewall script with `nft flush \
         ruleset`";
    POD_ROUTE = "BS-DIAG-058", "packets for another node's pods are routed elsewhere",
        "remove the route that is in the way (`ip route`); the agent sets its own within 15 s";
    POD_IMAGE = "BS-DIAG-059", "a pod's image cannot be pulled",
        "correct the image's name, or import it on the node: `ctr -n k8s.io images import FILE`";
    POD_UNSCHEDULED = "BS-DIAG-060", "a pod is unschedulable",
        "fix what the scheduler reports: free resources, another selector, an uncordoned node";
    POD_FAILS = "BS-DIAG-061", "a pod does not stay up",
        "`kubectl logs --previous` and `kubectl describe pod` show why";
    ETCD_MEMBER_SILENT = "BS-DIAG-062", "an etcd member does not answer; the others still have quorum",
        "start its master, or run `blackstart diagnose` there; if it is gone for good, `blackstart node remove NAME`";
    ETCD_MEMBER_LOST = "BS-DIAG-063", "an etcd member's machine has lost its data: it was wiped or replaced",
        "`blackstart node up` on that master replaces the member; if it is not to come back, `blackstart node remove NAME`";
    ETCD_NEVER_CAME = "BS-DIAG-064", "etcd learner was added but never started",
        "start its master; the agents remove a learner that does not start after two minutes, and no other master can join \
         before";
    ETCD_LEARNER = "BS-DIAG-065", "an etcd member is still a learner",
        "`blackstart node up` on that master promotes it once it has caught up";
    ETCD_NO_MEMBER = "BS-DIAG-066", "a master is not an etcd member",
        "if it was removed: `blackstart node reset` on that master, then `blackstart node up`, which joins again; else let \
         `blackstart node up` finish";
    ETCD_APART = "BS-DIAG-067", "split brain: masters are in different etcd clusters",
        "decide which one to keep; `blackstart node reset` on the masters in the other one, then `blackstart node up`: \
         what only those know is lost";
    ETCD_NEARLY_FULL = "BS-DIAG-068", "etcd's database is close to its quota",
        "find out what writes so much (`kubectl get events -A`, large ConfigMaps and Secrets); if little of it is in use, \
         `etcdctl defrag` frees the rest, one master after the other";
    ETCD_DATA_GONE = "BS-DIAG-069", "etcd's data are gone from this master",
        "mount their disk, or put them back, and `systemctl start etcd`; else, with other masters, `blackstart node up` \
         joins it again as a new member; with one, `blackstart backup restore` or `blackstart etcd restore`";
    CEPH_STOPPED = "BS-DIAG-070", "a Ceph daemon is stopped", "start it: `systemctl start UNIT`";
    CEPH_FAILS = "BS-DIAG-071", "a Ceph daemon is crash-looping",
        "its last log line is in the message; `journalctl -u UNIT` and /var/log/ceph have the whole log";
    CEPH_PORT = "BS-DIAG-072", "a port of Ceph's monitor is in use",
        "stop the program that the message names, and keep it from starting again; then `systemctl reset-failed \
         ceph-mon@NAME` and `systemctl start ceph-mon@NAME`";
    CEPH_KEY = "BS-DIAG-073", "Ceph refused a key of this node",
        "the key is not the one the monitors know: remove the keyring named in the message and run `blackstart node up`, \
         which fetches the right one";
    CEPH_NO_QUORUM = "BS-DIAG-074", "Ceph's monitors have no quorum, so Ceph serves no reads or writes",
        "start the monitors that do not answer; more than half of them must run and reach each other on ports 3300 and \
         6789";
    CEPH_CLOCK = "BS-DIAG-075", "clock skew between Ceph's monitors",
        "let `systemd-timesyncd` or `chronyd` synchronise the clocks of all nodes; Ceph checks again within five minutes";
    CEPH_FULL = "BS-DIAG-076", "Ceph is running out of space",
        "add OSDs (`nodes[].ceph.osds` in cluster.yaml) or remove data; a full OSD stops all writes: `ceph osd df` shows which, `ceph df` whose data";
    CEPH_SLOW = "BS-DIAG-077", "a disk or network of Ceph is slow",
        "find the OSD (`ceph health detail`, `ceph osd perf`) and what else uses its disk (`iostat -x 1`); a failing disk \
         is slow first";
    CEPH_UNWELL = "BS-DIAG-078", "Ceph reports a problem",
        "`ceph health detail` on a monitor's node shows it; for a daemon that is down, run `blackstart diagnose` on its \
         node";

    KMS_SILENT = "BS-DIAG-079", "the KMS plugin does not answer, so the API server cannot read or write Secrets",
        "start the plugin on this master and check its log; the API server reconnects by itself";
    KMS_DIFFERS = "BS-DIAG-080", "Secrets are not encrypted by the KMS that cluster.yaml names",
        "run `blackstart pki rotate encryption` on a master: it encrypts every Secret again, as cluster.yaml has it";

    MANIFEST_GONE = "BS-DIAG-081", "the manifest of a static pod is missing",
        "`blackstart node up` writes it again, and the kubelet starts the pod";
    MANIFEST_UNREADABLE = "BS-DIAG-082", "the kubelet cannot read the manifest of a static pod",
        "`blackstart node up` writes it again; `journalctl -u kubelet` shows what the kubelet cannot read";
    STATIC_POD_DOWN = "BS-DIAG-083", "a static pod has no container",
        "fix what the kubelet reports; `crictl pods`, `crictl ps -a` and `journalctl -u kubelet` show more";
    MASTER_AWAITED = "BS-DIAG-084", "the bootstrap node waits for masters",
        "switch on those that do not answer; run `blackstart diagnose` on the others";
    HAND_OVER_STUCK = "BS-DIAG-085", "the hand-over to the masters is stuck",
        "fix the error in the message; `systemctl start cluster-bootstrap` continues the hand-over; if this machine \
         is not to come back, run `blackstart bootstrap remove` on a master";
    BOOTSTRAP_LEADS = "BS-DIAG-086", "the bootstrap node has handed over its API but is still the leader of etcd",
        "run `blackstart diagnose` there; do not switch it off before it has left etcd";
    BOOTSTRAP_MEMBER = "BS-DIAG-087", "a bootstrap node that is gone is still an etcd member",
        "`blackstart bootstrap remove` on a master removes it";
    BOOTSTRAP_LEASE = "BS-DIAG-088", "a bootstrap node that is gone still holds the Lease of a controller",
        "`blackstart bootstrap remove` on a master clears it; without that, a master takes over when the Lease \
         expires";
    BOOTSTRAP_ADDRESS = "BS-DIAG-089", "the address of a bootstrap node that is gone is still in use",
        "`blackstart bootstrap remove` on a master removes it from the cluster; correct the files in the message by \
         hand";
    BOOTSTRAP_NODE = "BS-DIAG-090", "the Node object of a bootstrap node that is gone is still there",
        "`blackstart bootstrap remove` on a master, or `kubectl delete node NAME`";
    BOOTSTRAP_PODS = "BS-DIAG-091", "pods of a bootstrap node that is gone are still there",
        "`kubectl delete pod -n NAMESPACE NAME --grace-period=0 --force`: no kubelet is left to stop them";
    BOOTSTRAP_SILENT = "BS-DIAG-092", "a master waits for a bootstrap node that does not answer",
        "switch the bootstrap node on, or run `blackstart diagnose` there; ports 6443 and 7444 must be open between the two";
    IGNITION_UNFINISHED = "BS-DIAG-093", "Ignition did not finish, or had no config",
        "reboot the machine with its config, so that Ignition runs again: it overwrites what it wrote; on Fedora \
         CoreOS run `touch /boot/ignition.firstboot` first";
    IGNITION_OTHER = "BS-DIAG-094", "the machine was set up with another node's Ignition config",
        "give this machine the config of its own name, and boot it from an empty disk";
    IN_PLACE_BUDGET = "BS-DIAG-095", "a node that is to be worked on in place is not drained: a budget holds its pods",
        "add replicas, or relax the PodDisruptionBudget; `drain.onTimeout: delete` in the NodeUpgrade deletes such pods instead";
    IN_PLACE_SLOT = "BS-DIAG-096", "nodes wait for a slot: as many as may be are being worked on in place",
        "no action needed: they follow when the nodes in the message are done; one that is Stuck keeps its slot until it is \
         repaired";
    IN_PLACE_SECRET = "BS-DIAG-097", "a node is to be worked on in place, and has no Secret that can be used",
        "`blackstart reprovision start NODE --secret DIR` writes the Secret that the message names, and labels the node";
    IN_PLACE_NOBODY = "BS-DIAG-098", "a node is to be worked on in place, and what does it is missing in the cluster",
        "`blackstart reprovision manifests | kubectl apply --server-side -f -` applies all of it; `kubectl -n ipb-system get pods` \
         shows whether it runs";
    IN_PLACE_NO_DOOR = "BS-DIAG-099", "a node that is to be worked on in place has no pod of ipb-daemonset that runs",
        "`kubectl -n ipb-system describe daemonset ipb-daemonset` and `kubectl -n ipb-system describe pods -l app=ipb-daemonset` \
         show why";
    IN_PLACE_SECRET_LEFT = "BS-DIAG-100", "the Secret of a node is still there a day after its run has ended",
        "it holds tokens that nobody needs any more: `kubectl -n ipb-system delete secret NAME`";
    IN_PLACE_CORDON = "BS-DIAG-101", "a node was cordoned to be worked on in place, and has no NodeUpgrade any more",
        "nobody gives it back: `kubectl annotate node NODE blackstart.io/upgrade-order-`, then `kubectl uncordon NODE`; labels and \
         taints that it lost meanwhile are gone";
    IN_PLACE_NOT_COMMITTED = "BS-DIAG-102", "a node was armed, and its work was never committed",
        "its pod removes the label once it is armed: `kubectl -n ipb-system logs -l app=ipb-daemonset` and `journalctl -u \
         blackstart-reprovision` on the node show why it did not; nothing was changed, so label it again";
    IN_PLACE_WENT_BACK = "BS-DIAG-103", "a node went back to what it was before it was worked on in place",
        "the message has why; `journalctl -u blackstart-reprovision -u blackstart-reprovision-boot` on the node has the output";
    IN_PLACE_STUCK = "BS-DIAG-104", "a node that was worked on in place could not go back, and is left to a person",
        "repair it by hand (`journalctl -u blackstart-reprovision -u blackstart-reprovision-boot` on the node), then annotate its \
         NodeUpgrade with blackstart.io/retry, or delete it";
    IN_PLACE_OLD_BOOT = "BS-DIAG-105", "a node was to reboot, and is still or again in its old boot",
        "check `systemctl list-jobs` and the console of that machine, then reboot it by hand: the work goes on by itself";
    IN_PLACE_PROGRESS = "BS-DIAG-106", "progress of a node that is worked on in place is not delivered",
        "check `progress-url` and `progress-token` in the node's Secret, and that the pod ipb-controller reaches the API; the node \
         itself is not affected";
    IN_PLACE_ENCAPSULATED = "BS-DIAG-107", "a file tells the operating system to provision itself anew at its next boot",
        "find out who wrote it; where nobody needs it, `rm /etc/ignition-machine-config-encapsulated.json`";
    IN_PLACE_UPDATER = "BS-DIAG-108", "an automatic updater is active on a node that is to be worked on in place",
        "disable it for the time of the work: it could change or reboot the machine in the middle";
}
