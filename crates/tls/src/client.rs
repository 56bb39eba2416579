//! HTTP clients for talking inside the cluster.

use std::time::Duration;

use reqwest::{Certificate, Client, ClientBuilder, Identity};

use crate::{
    TlsError, install_provider,
    pem::{certificates, certified},
};

/// A machine of the same network answers at once or is not there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A client that trusts only this CA (one or several certificates) and, where an identity is given as certificate
/// and key, proves it. All texts are PEM.
pub fn client(ca_pem: &str, identity: Option<(&str, &str)>) -> Result<Client, TlsError> {
    let mut builder = builder().tls_certs_only(cas(ca_pem)?);
    if let Some((cert, key)) = identity {
        builder = builder.identity(read_identity(cert, key)?);
    }
    Ok(builder.build()?)
}

/// A client that believes *any* server, for the one request that is made before the CA is known.
///
/// Whatever it receives is a claim by an unknown party. The caller must prove it by other means (the join token's
/// HMAC), send no secret over it, and then start again with [`client`].
pub fn unproven_client() -> Result<Client, TlsError> {
    Ok(builder().tls_danger_accept_invalid_certs(true).build()?)
}

/// A client for plain HTTP on loopback. It needs no CA, and so does not look for those of the system, which a machine
/// need not have.
pub fn loopback_client() -> Result<Client, TlsError> {
    Ok(builder().https_only(false).tls_certs_only([]).build()?)
}

fn builder() -> ClientBuilder {
    install_provider();
    Client::builder()
        .https_only(true)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
}

fn cas(ca_pem: &str) -> Result<Vec<Certificate>, TlsError> {
    certificates("CA", ca_pem)?.iter().map(|der| Ok(Certificate::from_der(der)?)).collect()
}

fn read_identity(cert: &str, key: &str) -> Result<Identity, TlsError> {
    certified("client certificate", cert, key)?;
    Ok(Identity::from_pem(format!("{cert}\n{key}").as_bytes())?)
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    #[test]
    fn what_is_no_pem_is_distinguished() {
        let key = KeyPair::generate().unwrap();
        let cert = CertificateParams::new(vec![]).unwrap().self_signed(&key).unwrap().pem();
        let key = key.serialize_pem();
        let other = KeyPair::generate().unwrap().serialize_pem();
        let cases = [
            (cert.as_str(), None, "fine"),
            (&cert, Some((cert.as_str(), key.as_str())), "fine"),
            ("", None, "the CA is not a readable PEM certificate"),
            (&cert, Some(("", &key)), "the client certificate is not a readable PEM certificate"),
            (&cert, Some((&cert, "-----BEGIN")), "the key of the client certificate is not a readable PEM key"),
            (&cert, Some((&cert, &other)), "the client certificate and its key do not belong together"),
        ];
        for (ca, identity, expected) in cases {
            let seen = client(ca, identity).map_or_else(|error| error.to_string(), |_| "fine".to_owned());
            assert_eq!(seen, expected);
        }
    }
}
