//! Certificates, CAs and kubeconfigs that are not what they should be.

use crate::case::{Case, Deed, WORKER};

pub(crate) const CERTIFICATES: &[Case] = &[
    Case {
        name: "certificate expired",
        provoke: sh!("keep $PKI/apiserver.crt; sign $(names $PKI/apiserver.crt) 20250101000000Z 20250201000000Z"),
        codes: &["BS-DIAG-030"],
        evidence: "apiserver.crt ended on 2025-02-01",
        fix: sh!("back $PKI/apiserver.crt"),
        ..Case::PLAIN
    },
    Case {
        name: "certificate near its end",
        provoke: sh!("keep $PKI/apiserver.crt
                      sign $(names $PKI/apiserver.crt) 20250101000000Z $(date -ud '5 days' +%Y%m%d%H%M%SZ)"),
        warnings: &["BS-DIAG-031"],
        evidence: "apiserver.crt ends on",
        fix: sh!("back $PKI/apiserver.crt"),
        ..Case::PLAIN
    },
    Case {
        name: "certificate without the node's address",
        provoke: sh!("keep $PKI/apiserver.crt; sign DNS:localhost,IP:127.0.0.1 20260101000000Z 20270601000000Z"),
        codes: &["BS-DIAG-032"],
        evidence: "lacks kubernetes",
        fix: sh!("back $PKI/apiserver.crt"),
        ..Case::PLAIN
    },
    Case {
        name: "key of another certificate",
        provoke: sh!("keep $PKI/apiserver.key; openssl ecparam -name prime256v1 -genkey -noout > $PKI/apiserver.key"),
        codes: &["BS-PKI-003"],
        evidence: "apiserver.crt",
        fix: sh!("back $PKI/apiserver.key"),
        ..Case::PLAIN
    },
    Case {
        name: "certificate of another CA",
        provoke: sh!("keep $PKI/front-proxy-client.crt $PKI/front-proxy-client.key
                      stranger $PKI/front-proxy-client.key $PKI/front-proxy-client.crt"),
        codes: &["BS-PKI-008"],
        evidence: "front-proxy-client.crt was signed by",
        fix: sh!("back $PKI/front-proxy-client.crt $PKI/front-proxy-client.key"),
        ..Case::PLAIN
    },
    Case {
        name: "CA exchanged on a worker",
        machine: WORKER,
        provoke: sh!("keep $PKI/ca.crt; stranger /run/kept/stranger.key $PKI/ca.crt"),
        codes: &["BS-PKI-008"],
        evidence: "pki/ca.crt has signed none",
        fix: sh!("back $PKI/ca.crt"),
        ..Case::PLAIN
    },
    Case {
        name: "CA unreadable",
        provoke: sh!("keep $PKI/etcd/ca.crt; echo nonsense > $PKI/etcd/ca.crt"),
        codes: &["BS-PKI-002"],
        evidence: "etcd/ca.crt cannot be read",
        fix: sh!("back $PKI/etcd/ca.crt"),
        ..Case::PLAIN
    },
    Case {
        name: "kubeconfig missing",
        provoke: sh!("keep /etc/kubernetes/scheduler.conf; rm /etc/kubernetes/scheduler.conf"),
        codes: &["BS-DIAG-033"],
        evidence: "scheduler.conf is not there",
        fix: sh!("back /etc/kubernetes/scheduler.conf"),
        ..Case::PLAIN
    },
    Case {
        name: "kubeconfig trusts another CA",
        machine: WORKER,
        provoke: sh!("keep /etc/kubernetes/kubelet.conf
                      stranger /run/kept/stranger.key /run/kept/stranger.crt
                      new=$(base64 -w0 < /run/kept/stranger.crt)
                      sed -i \"s|certificate-authority-data: .*|certificate-authority-data: $new|\" /etc/kubernetes/kubelet.conf"),
        codes: &["BS-DIAG-035"],
        evidence: "kubelet.conf trusts another CA",
        fix: sh!("back /etc/kubernetes/kubelet.conf"),
        ..Case::PLAIN
    },
];
