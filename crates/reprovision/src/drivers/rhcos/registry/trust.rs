//! Whom podman would believe: the CAs of the system, those of the registry's own directory, and the Secret's.

use std::path::Path;

use host::{Disk, HostError};
use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};

/// The first that is there is the system's.
const SYSTEM: [&str; 3] = [
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
];
const OF_REGISTRIES: [&str; 2] = ["/etc/containers/certs.d", "/etc/docker/certs.d"];
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// All of them for this registry, as one text.
pub(in super::super) fn roots(disk: &dyn Disk, registry: &str, ca: Option<&str>) -> Result<String, HostError> {
    let mut text = ca.map(usable).unwrap_or_default();
    for path in SYSTEM {
        if let Some(bytes) = disk.read_optional(Path::new(path))? {
            text += &usable(&String::from_utf8_lossy(&bytes));
            break;
        }
    }
    for dir in OF_REGISTRIES {
        let dir = Path::new(dir).join(registry);
        if !disk.exists(&dir)? {
            continue;
        }
        for name in disk.list(&dir)?.iter().filter(|name| Path::new(name).extension().is_some_and(|end| end == "crt")) {
            text += &usable(&String::from_utf8_lossy(&disk.read(&dir.join(name))?));
        }
    }
    Ok(text)
}

/// The certificates of a text that can be a root at all: one that cannot must not spoil the others.
pub(in super::super) fn usable(text: &str) -> String {
    let blocks = text.split(BEGIN).skip(1).filter_map(|block| Some(block.split_once(END)?.0));
    blocks.map(|block| format!("{BEGIN}{block}{END}\n")).filter(|pem| is_root(pem)).collect()
}

fn is_root(pem: &str) -> bool {
    CertificateDer::from_pem_slice(pem.as_bytes())
        .is_ok_and(|certificate| RootCertStore::empty().add(certificate).is_ok())
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Machine, *};

    #[test]
    fn what_is_no_certificate_is_left_out() {
        let broken = format!("# a comment\n{BEGIN}\nAAAA\n{END}\n{BEGIN}\nhalf");
        assert_eq!(usable(&broken), "");
        let machine = Machine::default();
        machine.write("/etc/docker/certs.d/registry.lab:5000/ca.crt", &broken);
        assert_eq!(roots(&*machine.host().disk, "registry.lab:5000", Some(&broken)).unwrap(), "");
    }
}
