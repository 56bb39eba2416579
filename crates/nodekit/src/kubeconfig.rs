//! The certificate inside a kubeconfig: read to know when it ends and to show it elsewhere, replaced when it is renewed.

use base64::{Engine, prelude::BASE64_STANDARD};
use engine::StepError;
use jiff::Timestamp;
use kubeapi::{ApiError, kube::config::Kubeconfig};
use secrecy::ExposeSecret;
use x509_parser::pem::Pem;

/// Who a kubeconfig of ours says one is. PEM.
pub struct Identity {
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
    /// What the kubeconfig trusts.
    pub ca: String,
}

/// Why a kubeconfig is of no use here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(&'static str);

impl From<Unusable> for StepError {
    fn from(unusable: Unusable) -> Self {
        Self::from_explained(&ApiError::Kubeconfig(unusable.to_string()))
    }
}

impl Identity {
    /// The one user of a kubeconfig with everything inside it, as ours are.
    pub fn read(text: &str) -> Result<Self, Unusable> {
        const NO_DATA: Unusable = Unusable("it has no certificate, key or CA inside");
        let file = Kubeconfig::from_yaml(text).map_err(|_| Unusable("it is no kubeconfig"))?;
        let user = file.auth_infos.first().and_then(|user| user.auth_info.as_ref()).ok_or(NO_DATA)?;
        let cluster = file.clusters.first().and_then(|cluster| cluster.cluster.as_ref()).ok_or(NO_DATA)?;
        let key = user.client_key_data.as_ref().map(|key| key.expose_secret().to_owned());
        Ok(Self {
            certificate: decode(user.client_certificate_data.as_deref().ok_or(NO_DATA)?)?,
            key: decode(&key.ok_or(NO_DATA)?)?,
            ca: decode(cluster.certificate_authority_data.as_deref().ok_or(NO_DATA)?)?,
        })
    }

    /// The same kubeconfig with another identity in it; everything else in it stays.
    pub fn replace(&self, text: &str, new: &Self) -> String {
        [(&self.certificate, &new.certificate), (&self.key, &new.key), (&self.ca, &new.ca)]
            .into_iter()
            .fold(text.to_owned(), |text, (old, new)| text.replace(&encode(old), &encode(new)))
    }

    /// True when two thirds of the certificate's life are over.
    pub fn is_due(&self, now: Timestamp) -> Result<bool, Unusable> {
        const DAMAGED: Unusable = Unusable("its certificate is damaged");
        let pem = Pem::iter_from_buffer(self.certificate.as_bytes()).next().and_then(Result::ok).ok_or(DAMAGED)?;
        let validity = pem.parse_x509().map_err(|_| DAMAGED)?.validity().clone();
        let (start, end) = (validity.not_before.timestamp(), validity.not_after.timestamp());
        Ok(3 * (now.as_second() - start) >= 2 * (end - start))
    }
}

fn encode(pem: &str) -> String {
    BASE64_STANDARD.encode(pem)
}

fn decode(data: &str) -> Result<String, Unusable> {
    const DAMAGED: Unusable = Unusable("its base64 data is damaged");
    String::from_utf8(BASE64_STANDARD.decode(data.trim()).map_err(|_| DAMAGED)?).map_err(|_| DAMAGED)
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn identity() -> Identity {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.not_before = date_time_ymd(2026, 1, 1);
        params.not_after = date_time_ymd(2026, 1, 31);
        let certificate = params.self_signed(&key).unwrap().pem();
        Identity { ca: certificate.clone(), certificate, key: key.serialize_pem() }
    }

    fn kubeconfig(identity: &Identity) -> String {
        let [certificate, key, ca] = [&identity.certificate, &identity.key, &identity.ca].map(|pem| encode(pem));
        format!(
            "# mine\ncurrent-context: c\nclusters:\n- name: k\n  cluster: {{ server: 'https://127.0.0.1:7443', \
             certificate-authority-data: {ca} }}\nusers:\n- name: u\n  user: {{ client-certificate-data: {certificate}, \
             client-key-data: {key} }}\ncontexts: []\n"
        )
    }

    #[test]
    fn the_identity_changes_and_nothing_else() {
        let (old, new) = (identity(), identity());
        let text = kubeconfig(&old);
        let read = Identity::read(&text).unwrap();
        assert_eq!(read.replace(&text, &new), kubeconfig(&new));
        assert_eq!((read.certificate, read.key), (old.certificate, old.key));
    }

    #[test]
    fn due_when_two_thirds_are_over() {
        for (now, expected) in [
            ("2026-01-01T00:00:00Z", false),
            ("2026-01-20T23:59:59Z", false),
            ("2026-01-21T00:00:00Z", true),
            ("2026-02-21T00:00:00Z", true),
        ] {
            assert_eq!(identity().is_due(now.parse().unwrap()), Ok(expected), "{now}");
        }
    }

    #[test]
    fn what_is_no_kubeconfig_of_ours_says_why() {
        for (text, expected) in [
            ("a: [", "it is no kubeconfig"),
            ("users: []", "it has no certificate, key or CA inside"),
            (
                "users: [{name: u, user: {token: t}}]\nclusters: [{name: k, cluster: {server: s}}]",
                "it has no certificate, key or CA inside",
            ),
        ] {
            assert_eq!(Identity::read(text).err().map(|error| error.to_string()).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_we_write_we_read() {
        let inside = pki::Proof::Inside { certificate_pem: "certificate", key_pem: "key" };
        let read = Identity::read(&pki::kubeconfig("home", "agent", "https://127.0.0.1:7443", b"ca", inside)).unwrap();
        assert_eq!([read.certificate, read.key, read.ca], ["certificate", "key", "ca"]);
        let outside = pki::Proof::File(std::path::Path::new("/var/lib/kubelet/pki/kubelet-client-current.pem"));
        assert!(Identity::read(&pki::kubeconfig("home", "kubelet", "https://127.0.0.1:7443", b"ca", outside)).is_err());
        assert!(Identity::read("").is_err());
    }
}
