//! A bootstrap node that holds the cluster: its static pods, what they need, and where they came from.

use super::{BOOTSTRAP, stage::AWAITED};
use crate::case::{Case, Deed, PROMISED};

/// A case of the bootstrap node. It waits for masters all the time, and is warned of nothing else.
const PLAIN: Case = Case { machine: BOOTSTRAP, within: Some(PROMISED), beside: Some(&[AWAITED]), ..Case::PLAIN };

/// What a render of ours leaves on a machine, without Ignition's own result.
macro_rules! ignited {
    () => {
        "mkdir -p /etc/blackstart; n=$(hostname -s); c=$(sed -n 's/^ *name: *//p' /etc/cluster-config/cluster.yaml | head -n 1)
         printf '{\"id\":\"1f2e\",\"cluster\":\"%s\",\"node\":\"%s\",\"renderedAt\":\"2025-01-01T00:00:00Z\",\"validUntil\":\"2025-02-01T00:00:00Z\"}' \
           $c $n > /etc/blackstart/ignition.json"
    };
}

/// The same, and Ignition came to its end: a config that has ended since.
pub(super) const IGNITED_OLD: &str =
    concat!(ignited!(), "; echo '{\"userConfigProvided\":true}' > /etc/.ignition-result.json");

/// Stops the pod of a process, lets another process take its port, and lets it come back.
macro_rules! squat {
    ($process:literal, $port:literal) => {
        Deed::Sh(concat!(
            "m=/etc/kubernetes/manifests/",
            $process,
            "-pod.yaml; cp -p $m /run/squatted; rm $m; n=0
             while ss -Hltn sport = :",
            $port,
            " | grep -q .; do n=$((n + 1)); [ $n -lt 400 ]; sleep 0.1; done
             systemd-run -q --collect --unit=squatter socat TCP-LISTEN:",
            $port,
            ",fork,reuseaddr /dev/null; cp -p /run/squatted /run/squatted.new; mv /run/squatted.new $m"
        ))
    };
}

pub(crate) const HOLDS: &[Case] = &[
    Case {
        name: "bootstrap node: pause image missing, so a static pod cannot be made",
        provoke: Deed::Sh(
            "ctr -n k8s.io images remove $(ctr -n k8s.io images list -q | grep /pause:)
             crictl rmp -f $(crictl pods -q --name kube-scheduler)",
        ),
        codes: &["BS-DIAG-019"],
        evidence: "without which no pod starts",
        fix: Deed::Sh("ctr -n k8s.io images import --local /opt/blackstart/current/images/pause.tar"),
        ..PLAIN
    },
    Case {
        name: "bootstrap node: certificate expired",
        provoke: sh!("keep $PKI/apiserver.crt; sign $(names $PKI/apiserver.crt) 20250101000000Z 20250201000000Z"),
        codes: &["BS-DIAG-030"],
        evidence: "apiserver.crt ended on 2025-02-01",
        fix: sh!("back $PKI/apiserver.crt"),
        ..PLAIN
    },
    Case {
        name: "bootstrap node: port of the API server taken",
        provoke: squat!("kube-apiserver", "6443"),
        codes: &["BS-PRE-011"],
        evidence: "by `socat`",
        fix: Deed::Sh("systemctl stop squatter"),
        ..PLAIN
    },
    Case {
        name: "bootstrap node: kubelet stopped",
        provoke: Deed::Sh("systemctl stop kubelet"),
        codes: &["BS-DIAG-006"],
        evidence: "kubelet.service is inactive",
        fix: Deed::Sh("systemctl start kubelet"),
        ..PLAIN
    },
    Case {
        name: "bootstrap node: manifest unreadable",
        provoke: sh!("keep /etc/kubernetes/manifests/kube-scheduler-pod.yaml
                      printf 'kind: Pod\\n  spec: {' > /etc/kubernetes/manifests/kube-scheduler-pod.yaml"),
        codes: &["BS-DIAG-082"],
        evidence: "kube-scheduler-pod.yaml",
        fix: sh!("back /etc/kubernetes/manifests/kube-scheduler-pod.yaml"),
        ..PLAIN
    },
    Case {
        name: "bootstrap node: certificate without the node's address",
        provoke: sh!("keep $PKI/apiserver.crt; sign DNS:localhost,IP:127.0.0.1 20260101000000Z 20270601000000Z"),
        codes: &["BS-DIAG-032"],
        evidence: "apiserver.crt lacks",
        fix: sh!("back $PKI/apiserver.crt"),
        ..PLAIN
    },
    Case {
        name: "bootstrap node: etcd hangs, so the API server is not ready",
        provoke: Deed::Sh("pkill -STOP -x etcd"),
        codes: &["BS-ETCD-001"],
        evidence: "2379",
        fix: Deed::Sh("pkill -CONT -x etcd"),
        ..PLAIN
    },
    Case {
        name: "bootstrap node: controller manager killed again and again",
        provoke: Deed::Sh(
            "systemd-run -q --collect --unit=killer sh -c 'while sleep 0.3; do pkill -KILL -x kube-controller; done'",
        ),
        codes: &["BS-DIAG-001"],
        evidence: "the static pod kube-controller-manager has ended",
        fix: Deed::Sh("systemctl stop killer"),
        ..PLAIN
    },
    Case {
        name: "bootstrap node: manifest removed",
        provoke: sh!("keep /etc/kubernetes/manifests/kube-controller-manager-pod.yaml
                      rm /etc/kubernetes/manifests/kube-controller-manager-pod.yaml"),
        codes: &["BS-DIAG-081"],
        evidence: "kube-controller-manager-pod.yaml is not there",
        fix: sh!("back /etc/kubernetes/manifests/kube-controller-manager-pod.yaml"),
        ..PLAIN
    },
    Case {
        name: "bootstrap node: Ignition did not come to its end",
        provoke: Deed::Sh(ignited!()),
        codes: &["BS-DIAG-093"],
        evidence: "Ignition did not come to its end",
        fix: Deed::Sh("rm /etc/blackstart/ignition.json"),
        ..PLAIN
    },
    Case {
        name: "bootstrap node: Ignition ran without a config",
        provoke: Deed::Sh("echo '{\"userConfigProvided\":false}' > /etc/.ignition-result.json"),
        codes: &["BS-DIAG-093"],
        evidence: "says that Ignition ran without a config",
        fix: Deed::Sh("rm /etc/.ignition-result.json"),
        ..PLAIN
    },
    Case {
        name: "bootstrap node: manifest with a flag that does not exist",
        provoke: sh!("m=/etc/kubernetes/manifests/kube-scheduler-pod.yaml; keep $m
                      sed 's/--leader-elect[^ \"]*/--no-such-flag/' $m > /run/changed; grep -q no-such-flag /run/changed
                      mv /run/changed $m"),
        codes: &["BS-DIAG-007"],
        evidence: "the static pod kube-scheduler was changed by hand",
        fix: sh!("back /etc/kubernetes/manifests/kube-scheduler-pod.yaml"),
        ..PLAIN
    },
    Case {
        name: "bootstrap node: certificate of another CA",
        provoke: sh!("keep $PKI/front-proxy-client.crt $PKI/front-proxy-client.key
                      stranger $PKI/front-proxy-client.key $PKI/front-proxy-client.crt"),
        codes: &["BS-PKI-008"],
        evidence: "front-proxy-client.crt was signed by",
        fix: sh!("back $PKI/front-proxy-client.crt $PKI/front-proxy-client.key"),
        ..PLAIN
    },
    Case {
        name: "bootstrap node: Ignition config of another node",
        provoke: Deed::Sh(concat!(
            ignited!(),
            "; sed -i s/bootstrap/master-02/ /etc/blackstart/ignition.json
             echo '{\"userConfigProvided\":true}' > /etc/.ignition-result.json"
        )),
        codes: &["BS-DIAG-094"],
        evidence: "from the config of master-02 of cluster",
        fix: Deed::Sh("rm /etc/blackstart/ignition.json /etc/.ignition-result.json"),
        ..PLAIN
    },
    Case {
        name: "bootstrap node: port of etcd taken",
        provoke: squat!("etcd", "2379"),
        codes: &["BS-PRE-011"],
        evidence: "by `socat`",
        fix: Deed::Sh("systemctl stop squatter"),
        ..PLAIN
    },
    Case {
        name: "bootstrap node: containerd stopped",
        provoke: Deed::Sh("systemctl stop containerd"),
        codes: &["BS-DIAG-006"],
        evidence: "containerd.service is inactive",
        fix: Deed::Sh("systemctl start containerd"),
        ..PLAIN
    },
    Case {
        name: "bootstrap node: master announced to etcd and never started",
        provoke: sh!("change add nobody --learner --peer-urls https://192.0.2.1:2380"),
        warnings: &["BS-DIAG-064"],
        evidence: "a member at https://192.0.2.1:2380 was added to etcd as a learner",
        fix: sh!("change remove $(ctl member list | grep 192.0.2.1 | cut -d, -f1)"),
        ..PLAIN
    },
    Case {
        name: "bootstrap node: address on no interface",
        provoke: Deed::Sh(
            "set -- $(ip -4 -o address show scope global dev eth0); \
             ip address add ${4%.*}.250/24 dev eth0; ip address delete $4 dev eth0; ip address replace ${4%.*}.250/24 dev eth0",
        ),
        codes: &["BS-DIAG-010"],
        evidence: ".250 on eth0",
        fix: Deed::Sh("ip address flush scope global dev eth0; nmcli connection up blackstart"),
        ..PLAIN
    },
];

/// What takes two minutes.
pub(crate) const SLOW: &[Case] = &[
    Case {
        name: "bootstrap node: etcd's disk slow",
        // A process that stands still in the middle of a sync has a slow sync. The times are those since its start.
        provoke: sh!("pkill -TERM -x etcd; until ctl endpoint health; do sleep 0.3; done
                      echo \"while :; do etcdctl --command-timeout 5s --cacert $PKI/etcd/ca.crt --cert $PKI/etcd/healthcheck-client.crt \
                         --key $PKI/etcd/healthcheck-client.key put /slow x; done\" > /run/writer
                      for i in 1 2 3 4; do systemd-run -q --collect --unit=writer$i sh /run/writer; done
                      systemd-run -q --collect --unit=slower sh -c 'while :; do pkill -STOP -x etcd; sleep 0.2; pkill -CONT -x etcd; sleep 0.02; done'"),
        warnings: &["BS-DIAG-038"],
        evidence: "syncs of etcd's log took longer",
        // A share of some hundred syncs must be slow, and slow ones take their time.
        within: None,
        fix: sh!("systemctl stop writer1 writer2 writer3 writer4 slower; pkill -CONT -x etcd || true; ctl del /slow; pkill -TERM -x etcd
                   until ctl endpoint health; do sleep 0.3; done"),
        ..PLAIN
    },
];
