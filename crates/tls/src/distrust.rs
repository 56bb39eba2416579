//! Why a server that answered was not believed.

use std::{error::Error, io};

use rustls::CertificateError;

/// Why a server's certificate was refused by this side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distrust {
    /// Another authority signed it: another cluster, another installation of this one, or somebody in between.
    Authority,
    /// It is not valid yet or not any more; most often a clock is wrong.
    Time,
    /// It is made out to other names and addresses than the one that was called.
    Name,
    /// Anything else that is wrong with it.
    Other,
}

/// Tells a server that was reached and not believed (`Some`) from every other failure (`None`).
pub fn distrust(error: &(dyn Error + 'static)) -> Option<Distrust> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(rustls::Error::InvalidCertificate(why)) = error.downcast_ref() {
            return Some(kind(why));
        }
        // What an I/O error wraps is not its source: it has to be asked for.
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match wrapped {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

fn kind(why: &CertificateError) -> Distrust {
    match why {
        // An authority of the same name with another key shows as a bad signature.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => Distrust::Authority,
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => Distrust::Time,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => Distrust::Name,
        _ => Distrust::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_found_however_deep_it_is_wrapped() {
        let refused = |why| rustls::Error::InvalidCertificate(why);
        let wrapped = |inner: rustls::Error| io::Error::other(io::Error::other(inner));
        for (error, expected) in [
            (wrapped(refused(CertificateError::UnknownIssuer)), Some(Distrust::Authority)),
            (wrapped(refused(CertificateError::BadSignature)), Some(Distrust::Authority)),
            (wrapped(refused(CertificateError::Expired)), Some(Distrust::Time)),
            (wrapped(refused(CertificateError::NotValidForName)), Some(Distrust::Name)),
            (wrapped(refused(CertificateError::Revoked)), Some(Distrust::Other)),
            (wrapped(rustls::Error::HandshakeNotComplete), None),
            (io::Error::from(io::ErrorKind::ConnectionRefused), None),
        ] {
            assert_eq!(distrust(&error), expected, "{error}");
        }
    }
}
