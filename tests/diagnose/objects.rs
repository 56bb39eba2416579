//! Objects of the API that are missing, denied or too many.

use crate::{
    bench::Bench,
    case::{Case, Deed, MASTER, WORKER},
};

pub(crate) const OBJECTS: &[Case] = &[
    Case {
        name: "certificate request denied",
        provoke: Deed::By(ask_for_another_name),
        codes: &["BS-DIAG-046"],
        evidence: "BS-CSR-020",
        fix: Deed::Sh("kubectl delete csr misnamed"),
        ..Case::PLAIN
    },
    Case {
        name: "Node deleted",
        machine: WORKER,
        provoke: on!(MASTER, "kubectl delete node worker-01"),
        codes: &["BS-DIAG-049"],
        evidence: "no Node worker-01",
        fix: Deed::Sh("systemctl restart kubelet"),
        ..Case::PLAIN
    },
    Case {
        name: "node cordoned",
        machine: WORKER,
        provoke: on!(MASTER, "kubectl cordon worker-01"),
        warnings: &["BS-DIAG-051"],
        evidence: "unschedulable",
        fix: on!(MASTER, "kubectl uncordon worker-01"),
        ..Case::PLAIN
    },
    Case {
        name: "Node that is not in cluster.yaml",
        provoke: Deed::Sh("echo '{apiVersion: v1, kind: Node, metadata: {name: stranger}}' | kubectl create -f -"),
        warnings: &["BS-DIAG-053"],
        evidence: "stranger",
        fix: Deed::Sh("kubectl delete node stranger"),
        ..Case::PLAIN
    },
    Case {
        name: "binding deleted",
        provoke: Deed::Sh("kubectl delete clusterrolebinding kubeadm:apiserver-kubelet-client"),
        codes: &["BS-DIAG-054"],
        evidence: "ClusterRoleBinding kubeadm:apiserver-kubelet-client",
        fix: Deed::Sh(
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
        evidence: "nodes is forbidden",
        fix: on!(
            MASTER,
            "kubectl create clusterrolebinding blackstart:agent --clusterrole blackstart:agent --group blackstart:agents"
        ),
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
