//! What a bootstrap node that is gone can leave behind, as a master sees it, and one that comes a second time.

use super::{BOOTSTRAP, Stage};
use crate::case::{Case, Deed};

/// The address of the bootstrap node in cluster.yaml.
macro_rules! with_ip {
    ($line:expr) => {
        with_tools!(concat!(
            "ip=$(sed -n '/name: *\"*bootstrap/,$ s/.*[^_a-z]ip: *\"*\\([0-9.]*\\).*/\\1/p' $CONFIG/cluster.yaml | head -n 1)
             [ -n \"$ip\" ]
             ",
            $line
        ))
    };
}

pub(crate) const LEFT: &[Case] = &[
    Case {
        name: "left behind: member of etcd",
        provoke: Deed::Sh(with_ip!("change add bootstrap --peer-urls https://$ip:2380")),
        warnings: &["BS-DIAG-087"],
        evidence: "3 of 4 voters healthy, 3 needed): one more failure stops etcd",
        fix: Deed::Sh(with_ip!("change remove $(ctl member list | grep \"https://$ip:2380\" | cut -d, -f1)")),
        ..Case::PLAIN
    },
    Case {
        name: "left behind: Lease of the scheduler",
        provoke: sh!(r#"now=$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)
                        kubectl -n kube-system patch lease kube-scheduler --type merge \
                          -p "{\"spec\":{\"holderIdentity\":\"bootstrap_1b9c\",\"leaseDurationSeconds\":3600,\"renewTime\":\"$now\"}}""#),
        codes: &["BS-DIAG-088"],
        evidence: "the Lease kube-scheduler is held by bootstrap_1b9c",
        fix: sh!(r#"kubectl -n kube-system patch lease kube-scheduler --type merge \
                      -p '{"spec":{"holderIdentity":"","leaseDurationSeconds":1}}'"#),
        ..Case::PLAIN
    },
    Case {
        name: "left behind: address in the Service",
        // API servers write the list again every ten seconds.
        provoke: Deed::Sh(with_ip!(
            r#"printf '%s\n' "while sleep 0.2; do kubectl get endpointslice kubernetes -o yaml | grep -qw $ip || \
                 kubectl patch endpointslice kubernetes --type json \
                   -p '[{\"op\":\"add\",\"path\":\"/endpoints/-\",\"value\":{\"addresses\":[\"$ip\"],\"conditions\":{\"ready\":true}}}]'; done" > /run/leaver
               systemd-run -q --collect --unit=leaver --setenv=KUBECONFIG=/root/.kube/config sh /run/leaver"#
        )),
        codes: &["BS-DIAG-089"],
        evidence: "the Service kubernetes leads to",
        fix: Deed::Sh("systemctl stop leaver"),
        ..Case::PLAIN
    },
    Case {
        name: "left behind: address in a file",
        provoke: Deed::Sh(with_ip!("cat /etc/hosts > /run/hosts; echo $ip api >> /etc/hosts")),
        warnings: &["BS-DIAG-089"],
        evidence: "/etc/hosts, line",
        fix: Deed::Sh("cat /run/hosts > /etc/hosts"),
        ..Case::PLAIN
    },
    Case {
        name: "left behind: address in a kubeconfig",
        provoke: Deed::Sh(with_ip!(
            "keep /etc/kubernetes/scheduler.conf; sed -i \"s|server: .*|server: https://$ip:6443|\" /etc/kubernetes/scheduler.conf"
        )),
        codes: &["BS-DIAG-035"],
        evidence: "scheduler.conf leads to",
        fix: sh!("back /etc/kubernetes/scheduler.conf"),
        ..Case::PLAIN
    },
    Case {
        name: "left behind: Node",
        provoke: sh!(
            r#"printf '{"apiVersion":"v1","kind":"Node","metadata":{"name":"bootstrap"}}' | kubectl apply -f -"#
        ),
        warnings: &["BS-DIAG-090"],
        evidence: "the Node bootstrap is in the API",
        fix: sh!("kubectl delete node bootstrap --timeout 20s"),
        ..Case::PLAIN
    },
    Case {
        name: "left behind: mirror pods",
        // Without something that holds it, the controller manager would collect it.
        provoke: sh!(
            r#"printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"etcd-bootstrap","namespace":"kube-system","finalizers":["blackstart.test/held"]},"spec":{"nodeName":"bootstrap","automountServiceAccountToken":false,"containers":[{"name":"etcd","image":"x"}]}}' | kubectl apply -f -"#
        ),
        warnings: &["BS-DIAG-091"],
        evidence: "kube-system/etcd-bootstrap",
        fix: sh!(r#"kubectl -n kube-system patch pod etcd-bootstrap --type merge -p '{"metadata":{"finalizers":null}}'
                    kubectl -n kube-system delete pod etcd-bootstrap --grace-period=0 --force --ignore-not-found --timeout 20s"#),
        ..Case::PLAIN
    },
];

/// A machine that is installed as the bootstrap node while the masters have a cluster.
pub(crate) const SECOND: Case = Case {
    name: "second bootstrap node",
    machine: BOOTSTRAP,
    codes: &["BS-NODE-008"],
    evidence: "is part of a cluster already",
    stays: true,
    ..Case::PLAIN
};

/// An empty machine in place of the one that was retired.
pub(crate) fn comes_again(stage: &Stage) {
    stage.bench.lab.run("wipe", &["--yes", BOOTSTRAP]).ok();
    stage.bench.lab.run("up", &["--machines-only"]).ok();
    stage.install(BOOTSTRAP);
}
