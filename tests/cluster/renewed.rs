//! Certificates near their end are renewed by the agent, and only what cannot read them again is restarted.

use pki::Proof;
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use time::{Duration, OffsetDateTime};

use crate::support::{Check, Cluster, eventually};

pub(crate) const CHECKS: &[Check] = &[("what is near its end is renewed without an outage", renewed)];

const MASTER: &str = "master-01";
const PAIR: &str = "/etc/kubernetes/pki/apiserver-kubelet-client";
const KUBECONFIG: &str = "/etc/kubernetes/scheduler.conf";

fn renewed(cluster: &Cluster) {
    let ca = cluster.sh(MASTER, "cat /etc/kubernetes/pki/ca.crt");
    let key = KeyPair::from_pem(&cluster.sh(MASTER, "cat /etc/kubernetes/pki/ca.key")).unwrap();
    let issuer = Issuer::from_ca_cert_pem(&format!("{ca}\n"), key).unwrap();

    let (certificate, key) = near_its_end(&issuer, "kube-apiserver-kubelet-client");
    write(cluster, &format!("{PAIR}.crt"), &certificate);
    write(cluster, &format!("{PAIR}.key"), &key);
    let (certificate, key) = near_its_end(&issuer, "system:kube-scheduler");
    let proof = Proof::Inside { certificate_pem: &certificate, key_pem: &key };
    let server = cluster.sh(MASTER, &format!("grep -o 'https://[0-9.:]*' {KUBECONFIG}"));
    let user = "system:kube-scheduler";
    let old = pki::kubeconfig(&cluster.lab.name, user, &server, format!("{ca}\n").as_bytes(), proof);
    write(cluster, KUBECONFIG, &old);

    let process = |unit: &str| cluster.sh(MASTER, &format!("systemctl show -p MainPID --value {unit}"));
    let (scheduler, api_server) = (process("kube-scheduler"), process("kube-apiserver"));
    cluster.sh(MASTER, "systemctl restart blackstart-agent");
    eventually("the pair is renewed", || {
        cluster.try_sh(MASTER, &format!("openssl x509 -checkend 25920000 -noout -in {PAIR}.crt")).code == Some(0)
    });
    eventually("the kubeconfig is renewed and its holder started again", || {
        cluster.sh(MASTER, &format!("cat {KUBECONFIG}")) != old.trim() && process("kube-scheduler") != scheduler
    });
    assert_eq!(process("kube-apiserver"), api_server, "it reads its files again by itself");
    // Connections with the old certificate are closed; those with the new one reach the kubelets.
    eventually("the API server reaches the kubelets", || {
        cluster.try_kubectl(&["-n", "kube-system", "logs", "deployment/coredns", "--tail=1"]).code == Some(0)
    });
    cluster.await_ready(&Cluster::MACHINES);
}

/// A client certificate that has spent most of its year, and its key.
fn near_its_end(issuer: &Issuer<'_, KeyPair>, name: &str) -> (String, String) {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = OffsetDateTime::now_utc() - Duration::days(300);
    params.not_after = OffsetDateTime::now_utc() + Duration::days(65);
    params.is_ca = IsCa::ExplicitNoCa;
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let key = KeyPair::generate().unwrap();
    (params.signed_by(&key, issuer).unwrap().pem(), key.serialize_pem())
}

fn write(cluster: &Cluster, path: &str, text: &str) {
    cluster.sh(MASTER, &format!("cat > {path} <<'END'\n{}\nEND", text.trim_end()));
}
