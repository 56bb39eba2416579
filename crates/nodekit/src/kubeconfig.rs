//! The identity inside a kubeconfig, to be shown to a join service.

use base64::{Engine, prelude::BASE64_STANDARD};
use engine::StepError;
use kubeapi::{ApiError, kube::config::Kubeconfig};
use secrecy::ExposeSecret;

/// Who a kubeconfig says one is, and whom it believes. PEM.
pub struct Identity {
    pub certificate: String,
    pub key: String,
    pub ca: String,
}

impl Identity {
    /// The one user of a kubeconfig with everything inside it, as an agent's is.
    pub fn read(text: &str) -> Result<Self, StepError> {
        Self::inside(text).ok_or_else(|| {
            let error = ApiError::Kubeconfig("it has no certificate, key or CA inside".to_owned());
            StepError::from_explained(&error)
        })
    }

    fn inside(text: &str) -> Option<Self> {
        let file = Kubeconfig::from_yaml(text).ok()?;
        let user = file.auth_infos.first()?.auth_info.as_ref()?;
        let cluster = file.clusters.first()?.cluster.as_ref()?;
        Some(Self {
            certificate: decoded(user.client_certificate_data.as_deref()?)?,
            key: decoded(user.client_key_data.as_ref()?.expose_secret())?,
            ca: decoded(cluster.certificate_authority_data.as_deref()?)?,
        })
    }
}

fn decoded(data: &str) -> Option<String> {
    String::from_utf8(BASE64_STANDARD.decode(data.trim()).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pki::{Proof, kubeconfig};

    use super::*;

    #[test]
    fn what_we_write_we_read() {
        let inside = Proof::Inside { certificate_pem: "certificate", key_pem: "key" };
        let read = Identity::read(&kubeconfig("home", "agent", "https://127.0.0.1:7443", b"ca", inside)).unwrap();
        assert_eq!([read.certificate, read.key, read.ca], ["certificate", "key", "ca"]);
        let outside = Proof::File(Path::new("/var/lib/kubelet/pki/kubelet-client-current.pem"));
        assert!(Identity::read(&kubeconfig("home", "kubelet", "https://127.0.0.1:7443", b"ca", outside)).is_err());
        assert!(Identity::read("").is_err());
    }
}
