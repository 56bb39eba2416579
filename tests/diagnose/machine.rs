//! What can be done to the machine below the cluster: services, disks, the clock, the network, components.
//!
//! Whatever a case takes away it keeps in `/run`, and puts back from there.

use crate::case::{Case, Deed, MASTER, WORKER};

pub(crate) const SERVICES: &[Case] = &[
    Case {
        name: "kubelet stopped",
        machine: WORKER,
        provoke: Deed::Sh("systemctl stop kubelet"),
        codes: &["BS-DIAG-006"],
        evidence: "kubelet.service is inactive",
        fix: Deed::Sh("systemctl start kubelet"),
        ..Case::PLAIN
    },
    Case {
        name: "containerd stopped",
        machine: WORKER,
        provoke: Deed::Sh("systemctl stop containerd"),
        codes: &["BS-DIAG-006"],
        evidence: "containerd.service is inactive",
        fix: Deed::Sh("systemctl start containerd"),
        ..Case::PLAIN
    },
    Case {
        name: "scheduler masked",
        provoke: Deed::Sh(
            "cd /etc/systemd/system; mv kube-scheduler.service /run; ln -s /dev/null kube-scheduler.service; \
             systemctl daemon-reload; systemctl stop kube-scheduler",
        ),
        codes: &["BS-DIAG-006"],
        evidence: "kube-scheduler.service is masked",
        fix: Deed::Sh(
            "cd /etc/systemd/system; rm kube-scheduler.service; mv /run/kube-scheduler.service .; \
             systemctl daemon-reload; systemctl start kube-scheduler",
        ),
        ..Case::PLAIN
    },
    Case {
        name: "kubelet disabled",
        machine: WORKER,
        provoke: Deed::Sh("systemctl disable kubelet"),
        warnings: &["BS-DIAG-008"],
        evidence: "kubelet.service runs and is disabled",
        fix: Deed::Sh("ln -s ../kubelet.service /etc/systemd/system/multi-user.target.wants/kubelet.service"),
        ..Case::PLAIN
    },
    Case {
        name: "drop-in with a flag that does not exist",
        provoke: Deed::Sh(
            "d=/etc/systemd/system/kube-controller-manager.service.d; mkdir $d; \
             printf '[Service]\nExecStart=\nExecStart=/usr/local/bin/kube-controller-manager --no-such-flag\n' > $d/x.conf; \
             systemctl daemon-reload; systemctl restart kube-controller-manager",
        ),
        codes: &["BS-DIAG-007"],
        evidence: "kube-controller-manager.service.d/x.conf",
        fix: Deed::Sh(
            "rm -r /etc/systemd/system/kube-controller-manager.service.d; systemctl daemon-reload; \
             systemctl restart kube-controller-manager",
        ),
        ..Case::PLAIN
    },
    Case {
        name: "kubelet configuration edited",
        machine: WORKER,
        provoke: Deed::Sh(
            "cp -p /var/lib/kubelet/config.yaml /run; echo 'noSuchField: [' >> /var/lib/kubelet/config.yaml; \
             systemctl restart kubelet",
        ),
        codes: &["BS-DIAG-007"],
        evidence: "/var/lib/kubelet/config.yaml",
        fix: Deed::Sh("mv /run/config.yaml /var/lib/kubelet/config.yaml; systemctl restart kubelet"),
        ..Case::PLAIN
    },
    Case {
        name: "agent stopped, pod network's configuration removed",
        machine: WORKER,
        provoke: Deed::Sh("systemctl stop blackstart-agent; rm /etc/cni/net.d/10-blackstart.conflist"),
        codes: &["BS-DIAG-006"],
        evidence: "blackstart-agent.service is inactive",
        fix: Deed::Sh("systemctl start blackstart-agent"),
        ..Case::PLAIN
    },
    Case {
        name: "scheduler killed again and again",
        provoke: Deed::Sh(
            "systemd-run -q --collect --unit=killer sh -c 'while sleep 0.3; do pkill -KILL -x kube-scheduler; done'",
        ),
        codes: &["BS-DIAG-001"],
        evidence: "kube-scheduler.service is act",
        fix: Deed::Sh("systemctl stop killer kube-scheduler; systemctl reset-failed; systemctl start kube-scheduler"),
        ..Case::PLAIN
    },
    Case {
        name: "scheduler out of memory",
        provoke: Deed::Sh(
            "g=/sys/fs/cgroup/memory/tight; d=/etc/systemd/system/kube-scheduler.service.d; mkdir -p $g $d; \
             echo 12M > $g/memory.limit_in_bytes; \
             printf '[Service]\nExecStart=\nExecStart=/bin/sh -c \"echo $$$$ > %s/cgroup.procs; \
             exec /usr/local/bin/kube-scheduler --kubeconfig=/etc/kubernetes/scheduler.conf\"\n' $g > $d/tight.conf; \
             systemctl daemon-reload; systemctl restart kube-scheduler || true",
        ),
        codes: &["BS-DIAG-011"],
        evidence: "kube-scheduler.service ran out of memory",
        fix: Deed::Sh(
            "rm -r /etc/systemd/system/kube-scheduler.service.d; systemctl daemon-reload; \
             systemctl restart kube-scheduler; rmdir /sys/fs/cgroup/memory/tight",
        ),
        ..Case::PLAIN
    },
];

pub(crate) const STORAGE: &[Case] = &[
    Case {
        name: "state directory full",
        machine: WORKER,
        provoke: Deed::Sh(
            "s=/var/lib/cluster-state; cp -a $s /run; mount -t tmpfs -o size=4m,mode=0755 tmpfs $s; \
             cp -a /run/cluster-state/. $s; dd if=/dev/zero of=$s/filler bs=1k || true",
        ),
        codes: &["BS-PRE-012"],
        evidence: "/var/lib/cluster-state is full: 0 of 4 MiB",
        fix: Deed::Sh("umount /var/lib/cluster-state; rm -r /run/cluster-state"),
        ..Case::PLAIN
    },
    Case {
        name: "state directory out of inodes",
        machine: WORKER,
        provoke: Deed::Sh(
            "s=/var/lib/cluster-state; cp -a $s /run; mount -t tmpfs -o size=64m,nr_inodes=300,mode=0755 tmpfs $s; \
             cp -a /run/cluster-state/. $s; i=0; while touch $s/$i; do i=$((i+1)); done",
        ),
        codes: &["BS-DIAG-012"],
        evidence: "0 of 300 inodes",
        fix: Deed::Sh("umount /var/lib/cluster-state; rm -r /run/cluster-state"),
        ..Case::PLAIN
    },
    Case {
        name: "etcd's disk full",
        provoke: Deed::Sh(
            "systemctl stop etcd; e=/var/lib/etcd; mkdir /run/etcd-data; cp -a $e/. /run/etcd-data; \
             mount -t tmpfs -o size=$(($(du -sm $e | cut -f1) + 2))m,mode=0700 tmpfs $e; cp -a /run/etcd-data/. $e; \
             dd if=/dev/zero of=$e/filler bs=1k || true; systemctl start etcd || true",
        ),
        codes: &["BS-PRE-012"],
        evidence: "/var/lib/etcd is full",
        fix: Deed::Sh(
            "systemctl stop etcd; umount /var/lib/etcd; rm -r /run/etcd-data; systemctl start etcd; \
             systemctl reset-failed; systemctl restart kube-controller-manager kube-scheduler",
        ),
        ..Case::PLAIN
    },
    Case {
        name: "certificates' file system read-only",
        provoke: Deed::Sh("mount --bind /etc/kubernetes /etc/kubernetes; mount -o remount,bind,ro /etc/kubernetes"),
        codes: &["BS-DIAG-013"],
        evidence: "/etc/kubernetes is mounted read-only",
        fix: Deed::Sh("umount /etc/kubernetes"),
        ..Case::PLAIN
    },
];

pub(crate) const IDENTITY: &[Case] = &[
    Case {
        name: "clock a day ahead of the master's",
        machine: WORKER,
        environment: "BLACKSTART_CLOCK=86400",
        codes: &["BS-DIAG-014"],
        evidence: "86400 s ahead of master-01",
        ..Case::PLAIN
    },
    Case {
        name: "clock a day behind what was written",
        environment: "BLACKSTART_CLOCK=-86400",
        codes: &["BS-DIAG-015"],
        evidence: "the clock went backwards",
        ..Case::PLAIN
    },
    Case {
        name: "clock plainly wrong",
        environment: "BLACKSTART_CLOCK=-800000000",
        codes: &["BS-PRE-004"],
        evidence: "the clock says 2001",
        ..Case::PLAIN
    },
    Case {
        name: "own name leads elsewhere",
        machine: WORKER,
        provoke: Deed::Sh(
            "cp /etc/hosts /run; sed '/worker-01/d' /run/hosts > /etc/hosts; echo 192.0.2.7 worker-01 >> /etc/hosts",
        ),
        codes: &["BS-PRE-007"],
        evidence: "192.0.2.7",
        fix: Deed::Sh("cat /run/hosts > /etc/hosts"),
        ..Case::PLAIN
    },
    Case {
        name: "machine-id of another node",
        machine: WORKER,
        provoke: Deed::By(|bench| {
            let id = bench.sh(MASTER, "cat /etc/machine-id");
            bench.sh(WORKER, &format!("cp /etc/machine-id /run; echo {id} > /etc/machine-id"));
        }),
        codes: &["BS-PRE-006"],
        evidence: "node `master-01` has machine-id",
        fix: Deed::Sh("cat /run/machine-id > /etc/machine-id"),
        ..Case::PLAIN
    },
];

pub(crate) const NETWORK: &[Case] = &[
    Case {
        name: "port held by another program",
        provoke: Deed::Sh(
            "systemctl stop kube-scheduler; systemd-run -q --collect --unit=squatter socat TCP-LISTEN:10259,fork /dev/null; \
             systemctl start kube-scheduler",
        ),
        codes: &["BS-PRE-011"],
        evidence: "by `socat`",
        fix: Deed::Sh("systemctl stop squatter; systemctl restart kube-scheduler"),
        ..Case::PLAIN
    },
    Case {
        name: "address changed",
        machine: WORKER,
        provoke: Deed::Sh(
            "set -- $(ip -4 -o address show scope global dev eth0); \
             ip address add ${4%.*}.250/24 dev eth0; ip address delete $4 dev eth0; ip address replace ${4%.*}.250/24 dev eth0",
        ),
        codes: &["BS-DIAG-010"],
        evidence: ".250 on eth0",
        fix: Deed::Sh("ip address flush scope global dev eth0; nmcli connection up blackstart"),
        ..Case::PLAIN
    },
    Case {
        name: "firewall drops the API server's port",
        provoke: Deed::Sh(
            "nft add table inet corp; nft add chain inet corp guard '{ type filter hook input priority 0; }'; \
             nft add rule inet corp guard tcp dport 6443 drop",
        ),
        codes: &["BS-DIAG-017"],
        evidence: "chain `guard` of table `inet corp` has the rule `tcp dport 6443 drop`",
        fix: Deed::Sh("nft delete table inet corp"),
        ..Case::PLAIN
    },
    Case {
        name: "firewall drops etcd's port, by iptables",
        provoke: Deed::Sh("iptables -I INPUT -p tcp --dport 2379 -j DROP"),
        codes: &["BS-DIAG-017"],
        evidence: "chain `INPUT` of table `ip filter`",
        fix: Deed::Sh("iptables -D INPUT -p tcp --dport 2379 -j DROP"),
        ..Case::PLAIN
    },
    Case {
        name: "firewall accepts too little",
        machine: WORKER,
        provoke: Deed::Sh(
            "nft add table inet corp; nft add chain inet corp guard '{ type filter hook input priority 0; policy drop; }'; \
             nft add rule inet corp guard ct state established,related accept; \
             nft add rule inet corp guard iifname lo accept; nft add rule inet corp guard tcp dport 22 accept",
        ),
        codes: &["BS-DIAG-017"],
        evidence: "from master-01 to the kubelet (port 10250)",
        fix: Deed::Sh("nft delete table inet corp"),
        ..Case::PLAIN
    },
    Case {
        name: "firewall lets nothing out to the join service",
        machine: WORKER,
        provoke: Deed::Sh(
            "nft add table inet corp; nft add chain inet corp out '{ type filter hook output priority 0; }'; \
             nft add rule inet corp out tcp dport 7444 reject",
        ),
        codes: &["BS-DIAG-017"],
        evidence: "to the join service of master-01 (port 7444)",
        fix: Deed::Sh("nft delete table inet corp"),
        ..Case::PLAIN
    },
    Case {
        name: "no name server",
        machine: WORKER,
        provoke: Deed::Sh("cat /etc/resolv.conf > /run/resolv; : > /etc/resolv.conf"),
        codes: &["BS-DIAG-016"],
        evidence: "names no name server",
        fix: Deed::Sh("cat /run/resolv > /etc/resolv.conf"),
        ..Case::PLAIN
    },
    Case {
        name: "name server that does not answer",
        machine: WORKER,
        provoke: Deed::Sh("cat /etc/resolv.conf > /run/resolv; echo nameserver 192.0.2.53 > /etc/resolv.conf"),
        codes: &["BS-DIAG-016"],
        evidence: "no answer from 192.0.2.53",
        fix: Deed::Sh("cat /run/resolv > /etc/resolv.conf"),
        ..Case::PLAIN
    },
    Case {
        name: "forwarding off",
        provoke: Deed::Sh("sysctl -w net.ipv4.ip_forward=0"),
        codes: &["BS-DIAG-009"],
        evidence: "net.ipv4.ip_forward is 0",
        fix: Deed::Sh("sysctl -w net.ipv4.ip_forward=1"),
        ..Case::PLAIN
    },
    Case {
        name: "another pod network in front",
        machine: WORKER,
        provoke: Deed::Sh(
            r#"echo '{"cniVersion":"1.0.0","name":"other","type":"bridge","ipam":{"type":"host-local"}}' > /etc/cni/net.d/05-other.conf"#,
        ),
        codes: &["BS-DIAG-021"],
        evidence: "/etc/cni/net.d/05-other.conf comes before",
        fix: Deed::Sh("rm /etc/cni/net.d/05-other.conf"),
        ..Case::PLAIN
    },
];

pub(crate) const COMPONENTS: &[Case] = &[
    Case {
        name: "program removed",
        provoke: Deed::Sh("mv /usr/local/bin/kube-scheduler /run"),
        codes: &["BS-PRE-008"],
        evidence: "/usr/local/bin/kube-scheduler is missing",
        fix: Deed::Sh("mv /run/kube-scheduler /usr/local/bin"),
        ..Case::PLAIN
    },
    Case {
        name: "program damaged",
        provoke: Deed::Sh(
            "p=$(readlink -f /usr/local/bin/kube-scheduler); cp -p $p /run/kept; systemctl stop kube-scheduler; \
             printf XXXX | dd of=$p bs=1 conv=notrunc; systemctl start kube-scheduler || true",
        ),
        codes: &["BS-PRE-008"],
        evidence: "bin/kube-scheduler is not the file that was installed",
        fix: Deed::Sh("mv /run/kept $(readlink -f /usr/local/bin/kube-scheduler); systemctl restart kube-scheduler"),
        ..Case::PLAIN
    },
    Case {
        name: "network plugin of the bundle missing",
        machine: WORKER,
        provoke: Deed::Sh("mv $(readlink -f /opt/cni/bin)/ptp /run"),
        codes: &["BS-PRE-008"],
        evidence: "cni/ptp is missing",
        fix: Deed::Sh("mv /run/ptp $(readlink -f /opt/cni/bin)"),
        ..Case::PLAIN
    },
    Case {
        name: "directory of network plugins empty",
        machine: WORKER,
        provoke: Deed::Sh("mv /opt/cni/bin /opt/cni/kept; mkdir /opt/cni/bin"),
        codes: &["BS-DIAG-022"],
        evidence: "/opt/cni/bin/host-local",
        fix: Deed::Sh("rmdir /opt/cni/bin; mv /opt/cni/kept /opt/cni/bin"),
        ..Case::PLAIN
    },
    Case {
        name: "pause image removed",
        machine: WORKER,
        provoke: Deed::Sh("ctr -n k8s.io images remove $(ctr -n k8s.io images list -q | grep /pause:)"),
        codes: &["BS-DIAG-019"],
        evidence: "without which no pod starts",
        fix: Deed::Sh("ctr -n k8s.io images import --local /opt/blackstart/current/images/pause.tar"),
        ..Case::PLAIN
    },
    Case {
        name: "cgroup drivers differ",
        machine: WORKER,
        provoke: Deed::Sh("sed -i.kept 's/SystemdCgroup = false/SystemdCgroup = true/' /etc/containerd/config.toml"),
        codes: &["BS-DIAG-018"],
        warnings: &["BS-DIAG-007"],
        evidence: "config.toml has `systemd`",
        fix: Deed::Sh("mv /etc/containerd/config.toml.kept /etc/containerd/config.toml"),
        ..Case::PLAIN
    },
];

pub(crate) const BOOTSTRAP: &[Case] = &[
    Case {
        name: "last node up failed",
        machine: WORKER,
        provoke: Deed::Sh(
            "systemctl stop kube-proxy; systemd-run -q --collect --unit=squatter socat TCP-LISTEN:10256,fork /dev/null; \
             ! blackstart node up; systemctl stop squatter; systemctl start kube-proxy",
        ),
        codes: &["BS-DIAG-003"],
        evidence: "failed in step `preflight`: BS-PRE-011",
        fix: Deed::Sh("blackstart node up"),
        ..Case::PLAIN
    },
    Case {
        name: "bootstrap disabled",
        machine: WORKER,
        provoke: Deed::Sh("systemctl disable cluster-bootstrap"),
        warnings: &["BS-DIAG-005"],
        evidence: "cluster-bootstrap.service is disabled",
        fix: Deed::Sh("systemctl enable cluster-bootstrap"),
        ..Case::PLAIN
    },
];
