//! What can be done to the cluster on top of the machines: certificates, etcd, the API, joining, objects, pods.
//!
//! Whatever a case takes away it keeps in `/run/kept`, and puts back from there.

use crate::{
    bench::Bench,
    case::{Case, Deed, MASTER, WORKER},
};

/// Shell functions that cases share, and the line that uses them.
macro_rules! with_tools {
    ($line:expr) => {
        concat!(
            r#"
keep() { mkdir -p /run/kept; for f; do cp -a "$f" "/run/kept/$(echo "$f" | tr / _)"; done; }
back() { for f; do mv "/run/kept/$(echo "$f" | tr / _)" "$f"; done; }
names() { openssl x509 -noout -ext subjectAltName -in "$1" | tail -n 1 | sed 's/IP Address/IP/g; s/ //g'; }
# The API server's certificate anew, by the cluster's own authority: names, first day, last day.
sign() {
  d=$(mktemp -d); : > "$d/db"
  printf '[ca]\ndefault_ca=c\n[c]\ndatabase=%s/db\nnew_certs_dir=%s\nrand_serial=yes\ndefault_md=sha256\npolicy=p\n' "$d" "$d" > "$d/cnf"
  printf '[p]\ncommonName=supplied\n[e]\nextendedKeyUsage=serverAuth\nsubjectAltName=%s\n' "$1" >> "$d/cnf"
  openssl req -new -key "$PKI/apiserver.key" -subj /CN=kube-apiserver -out "$d/csr"
  openssl ca -batch -config "$d/cnf" -extensions e -cert "$PKI/ca.crt" -keyfile "$PKI/ca.key" -in "$d/csr" \
    -startdate "$2" -enddate "$3" -notext -out "$d/crt"
  cat "$d/crt" > "$PKI/apiserver.crt"
}
# An authority that nobody knows: key and certificate.
stranger() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1" -out "$2" -subj /CN=kubernetes -days 9
}
etcd_api() {
  curl -sS --fail --cacert $PKI/etcd/ca.crt --cert $PKI/etcd/healthcheck-client.crt --key $PKI/etcd/healthcheck-client.key "$@"
}
PKI=/etc/kubernetes/pki CONFIG=/etc/cluster-config
"#,
            $line
        )
    };
}

/// A line of shell with the tools above.
macro_rules! sh {
    ($line:expr) => {
        Deed::Sh(with_tools!($line))
    };
}

/// Something done on a machine that is not the one that is asked.
macro_rules! on {
    ($machine:expr, $line:expr) => {
        Deed::By(|bench| drop(bench.sh($machine, with_tools!($line))))
    };
}

pub(crate) const CERTIFICATES: &[Case] = &[
    Case {
        name: "certificate expired",
        provoke: sh!("keep $PKI/apiserver.crt; sign $(names $PKI/apiserver.crt) 20250101000000Z 20250201000000Z"),
        codes: &["BS-DIAG-030"],
        tells: "apiserver.crt ended on 2025-02-01",
        mend: sh!("back $PKI/apiserver.crt"),
        ..Case::PLAIN
    },
    Case {
        name: "certificate near its end",
        provoke: sh!("keep $PKI/apiserver.crt
                      sign $(names $PKI/apiserver.crt) 20250101000000Z $(date -ud '5 days' +%Y%m%d%H%M%SZ)"),
        warnings: &["BS-DIAG-031"],
        tells: "apiserver.crt ends on",
        mend: sh!("back $PKI/apiserver.crt"),
        ..Case::PLAIN
    },
    Case {
        name: "certificate without the node's address",
        provoke: sh!("keep $PKI/apiserver.crt; sign DNS:localhost,IP:127.0.0.1 20260101000000Z 20270601000000Z"),
        codes: &["BS-DIAG-032"],
        tells: "lacks kubernetes",
        mend: sh!("back $PKI/apiserver.crt"),
        ..Case::PLAIN
    },
    Case {
        name: "key of another certificate",
        provoke: sh!("keep $PKI/apiserver.key; openssl ecparam -name prime256v1 -genkey -noout > $PKI/apiserver.key"),
        codes: &["BS-PKI-003"],
        tells: "apiserver.crt",
        mend: sh!("back $PKI/apiserver.key"),
        ..Case::PLAIN
    },
    Case {
        name: "certificate of another authority",
        provoke: sh!("keep $PKI/front-proxy-client.crt $PKI/front-proxy-client.key
                      stranger $PKI/front-proxy-client.key $PKI/front-proxy-client.crt"),
        codes: &["BS-PKI-008"],
        tells: "front-proxy-client.crt was signed by",
        mend: sh!("back $PKI/front-proxy-client.crt $PKI/front-proxy-client.key"),
        ..Case::PLAIN
    },
    Case {
        name: "authority exchanged on a worker",
        machine: WORKER,
        provoke: sh!("keep $PKI/ca.crt; stranger /run/kept/stranger.key $PKI/ca.crt"),
        codes: &["BS-PKI-008"],
        tells: "pki/ca.crt has signed none",
        mend: sh!("back $PKI/ca.crt"),
        ..Case::PLAIN
    },
    Case {
        name: "authority unreadable",
        provoke: sh!("keep $PKI/etcd/ca.crt; echo nonsense > $PKI/etcd/ca.crt"),
        codes: &["BS-PKI-002"],
        tells: "etcd/ca.crt cannot be read",
        mend: sh!("back $PKI/etcd/ca.crt"),
        ..Case::PLAIN
    },
    Case {
        name: "kubeconfig missing",
        provoke: sh!("keep /etc/kubernetes/scheduler.conf; rm /etc/kubernetes/scheduler.conf"),
        codes: &["BS-DIAG-033"],
        tells: "scheduler.conf is not there",
        mend: sh!("back /etc/kubernetes/scheduler.conf"),
        ..Case::PLAIN
    },
    Case {
        name: "kubeconfig trusts another authority",
        machine: WORKER,
        provoke: sh!("keep /etc/kubernetes/kubelet.conf
                      stranger /run/kept/stranger.key /run/kept/stranger.crt
                      new=$(base64 -w0 < /run/kept/stranger.crt)
                      sed -i \"s|certificate-authority-data: .*|certificate-authority-data: $new|\" /etc/kubernetes/kubelet.conf"),
        codes: &["BS-DIAG-035"],
        tells: "kubelet.conf trusts another authority",
        mend: sh!("back /etc/kubernetes/kubelet.conf"),
        ..Case::PLAIN
    },
];

pub(crate) const ETCD: &[Case] = &[
    Case {
        name: "etcd hangs",
        provoke: Deed::Sh("systemctl kill --signal=STOP etcd"),
        codes: &["BS-ETCD-001"],
        tells: "2379",
        mend: Deed::Sh("systemctl kill --signal=CONT etcd"),
        ..Case::PLAIN
    },
    Case {
        name: "etcd out of space",
        provoke: sh!("id=$(etcd_api https://127.0.0.1:2379/v3/maintenance/status -d '{}' | sed 's/.*\"member_id\":\"\\([0-9]*\\)\".*/\\1/')
                      etcd_api https://127.0.0.1:2379/v3/maintenance/alarm \
                        -d \"{\\\"action\\\":\\\"ACTIVATE\\\",\\\"memberID\\\":\\\"$id\\\",\\\"alarm\\\":\\\"NOSPACE\\\"}\""),
        codes: &["BS-DIAG-037"],
        tells: "NOSPACE",
        mend: sh!("id=$(etcd_api https://127.0.0.1:2379/v3/maintenance/status -d '{}' | sed 's/.*\"member_id\":\"\\([0-9]*\\)\".*/\\1/')
                   etcd_api https://127.0.0.1:2379/v3/maintenance/alarm \
                     -d \"{\\\"action\\\":\\\"DEACTIVATE\\\",\\\"memberID\\\":\\\"$id\\\",\\\"alarm\\\":\\\"NOSPACE\\\"}\""),
        ..Case::PLAIN
    },
    Case {
        name: "etcd without a majority",
        provoke: sh!("etcd_api https://127.0.0.1:2379/v3/cluster/member/add -d '{\"peerURLs\":[\"https://192.0.2.1:2380\"]}'"),
        codes: &["BS-DIAG-036"],
        tells: "one that never started (https://192.0.2.1:2380)",
        mend: Deed::Sh(
            "mkdir -p /run/systemd/system/etcd.service.d
             printf '[Service]\\nEnvironment=ETCD_FORCE_NEW_CLUSTER=true\\n' > /run/systemd/system/etcd.service.d/alone.conf
             systemctl daemon-reload
             systemctl restart etcd
             rm -r /run/systemd/system/etcd.service.d
             systemctl daemon-reload",
        ),
        ..Case::PLAIN
    },
    Case {
        name: "etcd's data damaged",
        provoke: Deed::Sh(
            "systemctl stop etcd
             mkdir -p /run/kept
             mv /var/lib/etcd /run/kept/etcd
             cp -a /run/kept/etcd /var/lib/etcd
             for f in /var/lib/etcd/member/wal/*.wal; do printf nonsense | dd of=$f bs=1 seek=64 conv=notrunc status=none; done
             systemctl start --no-block etcd",
        ),
        codes: &["BS-DIAG-039"],
        tells: "etcd said",
        mend: Deed::Sh("systemctl stop etcd; rm -r /var/lib/etcd; mv /run/kept/etcd /var/lib/etcd
             systemctl start etcd"),
        ..Case::PLAIN
    },
];

pub(crate) const API: &[Case] = &[
    Case {
        name: "encryption key exchanged",
        provoke: sh!("kubectl -n default create secret generic kept --from-literal=a=b
                      keep /etc/kubernetes/encryption.yaml
                      sed -i \"s|secret: .*|secret: $(openssl rand -base64 32)|\" /etc/kubernetes/encryption.yaml
                      systemctl restart kube-apiserver"),
        codes: &["BS-DIAG-043"],
        tells: "cannot read Secret default/kept",
        mend: sh!("back /etc/kubernetes/encryption.yaml
                   systemctl restart kube-apiserver
                   until kubectl -n default delete secret kept --ignore-not-found --timeout 5s; do :; done"),
        ..Case::PLAIN
    },
    Case {
        name: "API server of the master stopped, seen from a worker",
        machine: WORKER,
        provoke: on!(MASTER, "systemctl stop kube-apiserver"),
        codes: &["BS-API-002"],
        tells: "no API server listens",
        mend: on!(MASTER, "systemctl start kube-apiserver"),
        ..Case::PLAIN
    },
    Case {
        name: "API server without etcd, seen from a worker",
        machine: WORKER,
        provoke: on!(MASTER, "systemctl stop etcd"),
        codes: &["BS-DIAG-040"],
        tells: "etcd",
        mend: on!(MASTER, "systemctl start etcd"),
        ..Case::PLAIN
    },
    Case {
        name: "API server without etcd, seen from the master",
        provoke: Deed::Sh("systemctl stop etcd"),
        codes: &["BS-DIAG-006"],
        tells: "etcd.service",
        mend: Deed::Sh("systemctl start etcd"),
        ..Case::PLAIN
    },
    Case {
        name: "master cut off from a worker",
        machine: WORKER,
        provoke: Deed::By(|bench| drop(bench.lab.run("cut", &[WORKER, MASTER]).ok())),
        codes: &["BS-JOIN-019"],
        tells: "does not answer at all",
        mend: Deed::By(|bench| drop(bench.lab.run("heal", &[]).ok())),
        ..Case::PLAIN
    },
    Case {
        name: "agent of the master stopped, seen from a worker",
        machine: WORKER,
        provoke: on!(MASTER, "systemctl stop blackstart-agent"),
        warnings: &["BS-DIAG-048"],
        tells: ":7444",
        mend: on!(MASTER, "systemctl start blackstart-agent"),
        ..Case::PLAIN
    },
];

/// A worker that lost what it was handed, and what keeps it from being handed it again.
pub(crate) const JOINING: &[Case] = &[
    Case {
        name: "kubeconfig of the agent lost",
        machine: WORKER,
        provoke: sh!("keep /etc/kubernetes/agent.conf; rm /etc/kubernetes/agent.conf"),
        codes: &["BS-DIAG-033"],
        tells: "agent.conf is not there",
        mend: sh!("back /etc/kubernetes/agent.conf"),
        ..Case::PLAIN
    },
    Case {
        name: "join secret expired",
        machine: WORKER,
        provoke: sh!("keep /etc/kubernetes/agent.conf $CONFIG/join-secret; rm /etc/kubernetes/agent.conf
                      sed -i -E 's/^(v1\\.worker-01\\.)[0-9]+/\\11700000000/' $CONFIG/join-secret"),
        codes: &["BS-JOIN-003"],
        tells: "ended on 2023-11-14",
        mend: sh!("back /etc/kubernetes/agent.conf $CONFIG/join-secret"),
        ..Case::PLAIN
    },
    Case {
        name: "join secret of another node",
        machine: WORKER,
        provoke: sh!("keep /etc/kubernetes/agent.conf $CONFIG/join-secret; rm /etc/kubernetes/agent.conf
                      sed -i 's/worker-01/worker-09/' $CONFIG/join-secret"),
        codes: &["BS-JOIN-004"],
        tells: "worker-09",
        mend: sh!("back /etc/kubernetes/agent.conf $CONFIG/join-secret"),
        ..Case::PLAIN
    },
    Case {
        name: "authority that does not fit its pin",
        machine: WORKER,
        provoke: sh!("keep /etc/kubernetes/agent.conf $CONFIG/ca.crt; rm /etc/kubernetes/agent.conf
                      stranger /run/kept/stranger.key $CONFIG/ca.crt"),
        codes: &["BS-JOIN-031"],
        tells: "ca-pin",
        mend: sh!("back /etc/kubernetes/agent.conf $CONFIG/ca.crt"),
        ..Case::PLAIN
    },
    Case {
        name: "sealed for another cluster",
        machine: WORKER,
        provoke: sh!("keep /etc/kubernetes/agent.conf $CONFIG/ca.crt $CONFIG/ca-pin; rm /etc/kubernetes/agent.conf
                      stranger /run/kept/stranger.key $CONFIG/ca.crt
                      sum=$(openssl x509 -in $CONFIG/ca.crt -noout -pubkey | openssl pkey -pubin -outform der | sha256sum)
                      echo sha256:${sum%% *} > $CONFIG/ca-pin"),
        codes: &["BS-JOIN-020"],
        tells: "signed by another authority",
        mend: sh!("back /etc/kubernetes/agent.conf $CONFIG/ca.crt $CONFIG/ca-pin"),
        ..Case::PLAIN
    },
    Case {
        name: "join service stopped",
        machine: WORKER,
        provoke: Deed::By(|bench| {
            bench.sh(MASTER, "systemctl stop blackstart-agent");
            bench.sh(WORKER, with_tools!("keep /etc/kubernetes/agent.conf; rm /etc/kubernetes/agent.conf"));
        }),
        codes: &["BS-JOIN-019"],
        tells: "refused",
        mend: Deed::By(|bench| {
            bench.sh(WORKER, with_tools!("back /etc/kubernetes/agent.conf"));
            bench.sh(MASTER, "systemctl start blackstart-agent");
        }),
        ..Case::PLAIN
    },
];

pub(crate) const OBJECTS: &[Case] = &[
    Case {
        name: "certificate request denied",
        provoke: Deed::By(ask_for_another_name),
        codes: &["BS-DIAG-046"],
        tells: "BS-CSR-004",
        mend: Deed::Sh("kubectl delete csr misnamed"),
        ..Case::PLAIN
    },
    Case {
        name: "Node deleted",
        machine: WORKER,
        provoke: on!(MASTER, "kubectl delete node worker-01"),
        codes: &["BS-DIAG-049"],
        tells: "no Node worker-01",
        mend: Deed::Sh("systemctl restart kubelet"),
        ..Case::PLAIN
    },
    Case {
        name: "node cordoned",
        machine: WORKER,
        provoke: on!(MASTER, "kubectl cordon worker-01"),
        warnings: &["BS-DIAG-051"],
        tells: "unschedulable",
        mend: on!(MASTER, "kubectl uncordon worker-01"),
        ..Case::PLAIN
    },
    Case {
        name: "Node that is not in cluster.yaml",
        provoke: Deed::Sh("echo '{apiVersion: v1, kind: Node, metadata: {name: stranger}}' | kubectl create -f -"),
        warnings: &["BS-DIAG-053"],
        tells: "stranger",
        mend: Deed::Sh("kubectl delete node stranger"),
        ..Case::PLAIN
    },
    Case {
        name: "binding deleted",
        provoke: Deed::Sh("kubectl delete clusterrolebinding kubeadm:apiserver-kubelet-client"),
        codes: &["BS-DIAG-054"],
        tells: "ClusterRoleBinding kubeadm:apiserver-kubelet-client",
        mend: Deed::Sh(
            "kubectl create clusterrolebinding kubeadm:apiserver-kubelet-client \
               --clusterrole system:kubelet-api-admin --user kube-apiserver-kubelet-client",
        ),
        ..Case::PLAIN
    },
    Case {
        name: "binding of the agents deleted, seen from a worker",
        machine: WORKER,
        provoke: on!(MASTER, "kubectl delete clusterrolebinding blackstart:agent"),
        codes: &["BS-DIAG-054"],
        tells: "nodes is forbidden",
        mend: on!(
            MASTER,
            "kubectl create clusterrolebinding blackstart:agent --clusterrole blackstart:agent --group blackstart:agents"
        ),
        ..Case::PLAIN
    },
];

pub(crate) const PODS: &[Case] = &[
    Case {
        name: "DNS scaled to nothing",
        provoke: Deed::Sh("kubectl -n kube-system scale deployment coredns --replicas 0"),
        codes: &["BS-DIAG-055"],
        tells: "scaled to 0",
        mend: Deed::Sh("kubectl -n kube-system scale deployment coredns --replicas 2"),
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
        tells: "Service kube-system/kube-dns is missing",
        mend: Deed::Sh("kubectl create -f /run/kept/kube-dns"),
        ..Case::PLAIN
    },
    Case {
        name: "rules of services flushed",
        machine: WORKER,
        provoke: Deed::Sh("nft delete table ip kube-proxy"),
        codes: &["BS-DIAG-057"],
        tells: "ip kube-proxy",
        mend: Deed::Sh("systemctl restart kube-proxy"),
        ..Case::PLAIN
    },
    Case {
        name: "way to the pods of another node blocked",
        machine: WORKER,
        provoke: Deed::Sh("ip route add blackhole $(ip route show proto 176 | sed -n 's|/24 via .*|/25|p')"),
        codes: &["BS-DIAG-058"],
        tells: "of master-01",
        mend: Deed::Sh("ip route del $(ip route show type blackhole | cut -d ' ' -f 2)"),
        ..Case::PLAIN
    },
    Case {
        name: "image that nobody has",
        provoke: Deed::Sh("kubectl run imageless --image=registry.invalid/nothing:1"),
        warnings: &["BS-DIAG-059"],
        tells: "default/imageless: image registry.invalid/nothing:1",
        mend: Deed::Sh("kubectl delete pod imageless --now"),
        ..Case::PLAIN
    },
    Case {
        name: "pod that fits nowhere",
        provoke: Deed::Sh(
            "kubectl run placeless --image=registry.invalid/nothing:1 \
               --overrides '{\"spec\": {\"nodeSelector\": {\"no\": \"such\"}}}'",
        ),
        warnings: &["BS-DIAG-060"],
        tells: "default/placeless",
        mend: Deed::Sh("kubectl delete pod placeless --now"),
        ..Case::PLAIN
    },
];

/// The worker's kubelet asks for a serving certificate with a name that is not the node's.
fn ask_for_another_name(bench: &Bench) {
    let request = bench.sh(
        WORKER,
        "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /run/misnamed.key \
           -subj /O=system:nodes/CN=system:node:worker-01 -addext subjectAltName=DNS:another 2>/run/misnamed.log | base64 -w0",
    );
    let manifest = format!(
        "{{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {{name: misnamed}}, \
          spec: {{signerName: kubernetes.io/kubelet-serving, usages: [digital signature, server auth], request: {request}}}}}"
    );
    bench.sh(WORKER, &format!("echo '{manifest}' | kubectl --kubeconfig /etc/kubernetes/kubelet.conf create -f -"));
}
