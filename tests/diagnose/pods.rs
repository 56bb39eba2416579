//! Pods, their DNS, their routes and the addresses of services.

use crate::case::{Case, Deed, WORKER};

pub(crate) const PODS: &[Case] = &[
    Case {
        name: "DNS scaled to nothing",
        provoke: Deed::Sh("kubectl -n kube-system scale deployment coredns --replicas 0"),
        codes: &["BS-DIAG-055"],
        evidence: "scaled to 0",
        fix: Deed::Sh("kubectl -n kube-system scale deployment coredns --replicas 2"),
        ..Case::PLAIN
    },
    Case {
        name: "DNS service deleted",
        provoke: Deed::Sh(
            "mkdir -p /run/kept
             kubectl -n kube-system get service kube-dns -o yaml | sed '/resourceVersion:/d; /uid:/d' > /run/kept/kube-dns
             kubectl -n kube-system delete service kube-dns",
        ),
        codes: &["BS-DIAG-055"],
        evidence: "Service kube-system/kube-dns is missing",
        fix: Deed::Sh("kubectl create -f /run/kept/kube-dns"),
        ..Case::PLAIN
    },
    Case {
        name: "rules of services flushed",
        machine: WORKER,
        provoke: Deed::Sh("nft delete table ip kube-proxy"),
        codes: &["BS-DIAG-057"],
        evidence: "ip kube-proxy",
        fix: Deed::Sh("systemctl restart kube-proxy"),
        ..Case::PLAIN
    },
    Case {
        name: "way to the pods of another node blocked",
        machine: WORKER,
        provoke: Deed::Sh("ip route add blackhole $(ip route show proto 176 | sed -n 's|/24 via .*|/25|p')"),
        codes: &["BS-DIAG-058"],
        evidence: "of master-01",
        fix: Deed::Sh("ip route del $(ip route show type blackhole | cut -d ' ' -f 2)"),
        ..Case::PLAIN
    },
    Case {
        name: "image that no registry has",
        provoke: Deed::Sh("kubectl run imageless --image=registry.invalid/nothing:1"),
        warnings: &["BS-DIAG-059"],
        evidence: "default/imageless: image registry.invalid/nothing:1",
        fix: Deed::Sh("kubectl delete pod imageless --now"),
        ..Case::PLAIN
    },
    Case {
        name: "pod that fits nowhere",
        provoke: Deed::Sh(
            "kubectl run placeless --image=registry.invalid/nothing:1 \
               --overrides '{\"spec\": {\"nodeSelector\": {\"no\": \"such\"}}}'",
        ),
        warnings: &["BS-DIAG-060"],
        evidence: "default/placeless",
        fix: Deed::Sh("kubectl delete pod placeless --now"),
        ..Case::PLAIN
    },
];
