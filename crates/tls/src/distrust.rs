//! Why a server was not believed: as its client sees it, and as the server hears it from that client.

use std::{error::Error, io};

use rustls::{AlertDescription, CertificateError};

/// Why a server's certificate was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distrust {
    /// Another CA signed it: another cluster, another installation of this one, or an attacker in between.
    Ca,
    /// It is not valid yet or not any more; most often a clock is wrong.
    Time,
    /// It is made out to other names and addresses than the one that was called.
    Name,
    /// Anything else that is wrong with it.
    Other,
}

/// Distinguishes a server that was reached and not believed (`Some`) from every other failure (`None`).
pub fn distrust(error: &(dyn Error + 'static)) -> Option<Distrust> {
    match tls_error(error)? {
        rustls::Error::InvalidCertificate(why) => Some(kind(why)),
        _ => None,
    }
}

/// The same on the server's side: the client's alert on our certificate when it broke off the handshake.
pub(crate) fn distrusted(error: &io::Error) -> Option<Distrust> {
    match tls_error(error)? {
        rustls::Error::AlertReceived(alert) => kind_of_alert(*alert),
        _ => None,
    }
}

fn tls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
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
        // A CA of the same name with another key shows as a bad signature.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => Distrust::Ca,
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => Distrust::Time,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => Distrust::Name,
        _ => Distrust::Other,
    }
}

/// What clients say in which case is in RFC 8446, section 6.2; a bad signature is a failed decryption there.
fn kind_of_alert(alert: AlertDescription) -> Option<Distrust> {
    match alert {
        AlertDescription::UnknownCA | AlertDescription::DecryptError => Some(Distrust::Ca),
        AlertDescription::CertificateExpired => Some(Distrust::Time),
        AlertDescription::BadCertificate => Some(Distrust::Name),
        AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateUnknown => Some(Distrust::Other),
        _ => None,
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
            (wrapped(refused(CertificateError::UnknownIssuer)), Some(Distrust::Ca)),
            (wrapped(refused(CertificateError::BadSignature)), Some(Distrust::Ca)),
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
