//! The stand-in for the APIs outside the cluster: see `stand_in_api.py`.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType};

use crate::{SERVER, support::Cluster};

const PROGRAM: &str = include_str!("stand_in_api.py");
const DIR: &str = "/srv/api";

/// What must be found nowhere.
pub(crate) const TOKEN: &str = "s3cr3t-t0ken-of-worker-01";

/// Starts it.
pub(crate) fn serve(cluster: &Cluster) {
    let (ca, cert, key) = certificates(&cluster.ip(SERVER));
    cluster.sh(SERVER, &format!("mkdir -p {DIR}"));
    for (name, text) in
        [("ca.pem", &*ca), ("cert.pem", &cert), ("key.pem", &key), ("token", TOKEN), ("api.py", PROGRAM)]
    {
        write(cluster, SERVER, &format!("{DIR}/{name}"), text.as_bytes());
    }
    cluster.sh(
        SERVER,
        &format!("touch {DIR}/calls {DIR}/progress; systemd-run --quiet --collect --unit=api python3 {DIR}/api.py"),
    );
    crate::support::eventually("the stand-in API answers", || {
        cluster
            .try_sh(
                SERVER,
                &format!(
                    "curl -sf --cacert {DIR}/ca.pem https://{}:8443/ -o /dev/null; test $? = 22",
                    cluster.ip(SERVER)
                ),
            )
            .code
            == Some(0)
    });
}

fn certificates(ip: &str) -> (String, String, String) {
    let (ca_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let mut ca = CertificateParams::default();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    ca.distinguished_name.push(DnType::CommonName, "stand-in CA");
    let ca_cert = ca.self_signed(&ca_key).unwrap();
    let mut server = CertificateParams::default();
    server.subject_alt_names = vec![SanType::IpAddress(ip.parse().unwrap())];
    let cert = server.signed_by(&key, &Issuer::new(ca, ca_key)).unwrap();
    (ca_cert.pem(), cert.pem(), key.serialize_pem())
}

/// Puts a file on a machine.
pub(crate) fn write(cluster: &Cluster, machine: &str, file: &str, content: &[u8]) {
    cluster.lab.feed("exec", &[machine, "--", "sh", "-c", &format!("cat > {file}")], content).ok();
}

/// What the API gives out from now on: files of a payload, of which `bootstrap.sh` is run.
pub(crate) fn give(cluster: &Cluster, files: &[(&str, &str)]) {
    cluster.sh(SERVER, "rm -rf /srv/made; mkdir /srv/made");
    for (name, text) in files {
        write(cluster, SERVER, &format!("/srv/made/{name}"), text.as_bytes());
    }
    cluster.sh(SERVER, &format!("tar -C /srv/made -czf {DIR}/payload.new . && mv {DIR}/payload.new {DIR}/payload"));
}

/// What was asked for since the last time this was asked.
pub(crate) fn calls(cluster: &Cluster) -> Vec<String> {
    let calls = cluster.sh(SERVER, &format!("cat {DIR}/calls; : > {DIR}/calls"));
    calls.lines().map(str::to_owned).collect()
}

/// What was reported since the last time this was asked.
pub(crate) fn progress(cluster: &Cluster) -> Vec<serde_json::Value> {
    let lines = cluster.sh(SERVER, &format!("cat {DIR}/progress; : > {DIR}/progress"));
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The keys of a node's Secret, in a directory of the master.
pub(crate) fn secret(cluster: &Cluster, dir: &str) {
    let at = format!("https://{}:8443", cluster.ip(SERVER));
    let bootstrap = [
        ("bootstrap-url", format!("{at}/payload")),
        ("bootstrap-token", TOKEN.to_owned()),
        ("worker-id", "w-1".to_owned()),
        ("cluster-id", "c-1".to_owned()),
        ("region", "eu-de".to_owned()),
    ];
    keys(cluster, dir, bootstrap);
}

/// The keys of another Secret, for a payload of Ignition.
pub(crate) fn ignition_secret(cluster: &Cluster, dir: &str, token: &str) {
    let url = format!("https://{}:8443", cluster.ip(SERVER));
    keys(cluster, dir, [("ignition-url", url), ("ignition-token", token.to_owned())]);
}

fn keys(cluster: &Cluster, dir: &str, of_payload: impl IntoIterator<Item = (&'static str, String)>) {
    let at = format!("https://{}:8443", cluster.ip(SERVER));
    let ca = cluster.sh(SERVER, &format!("cat {DIR}/ca.pem"));
    cluster.sh(crate::MASTER, &format!("rm -rf {dir}; mkdir -p {dir}"));
    let of_all = [
        ("ca.crt", ca.clone()),
        ("progress-url", format!("{at}/progress")),
        ("progress-token", TOKEN.to_owned()),
        ("progress-ca.crt", ca),
    ];
    for (key, value) in of_payload.into_iter().chain(of_all) {
        write(cluster, crate::MASTER, &format!("{dir}/{key}"), value.as_bytes());
    }
}

/// What the ignition server serves from now on; none is one that has not built it yet.
pub(crate) fn serve_ignition(cluster: &Cluster, served: Option<&serde_json::Value>) {
    let file = format!("{DIR}/ignition");
    cluster.sh(SERVER, &format!("rm -f {file}"));
    if let Some(served) = served {
        write(cluster, SERVER, &format!("{file}.new"), served.to_string().as_bytes());
        cluster.sh(SERVER, &format!("mv {file}.new {file}"));
    }
}
