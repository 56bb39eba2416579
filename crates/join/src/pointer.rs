//! What a pointer config shows to get its node's config: a proof of the node's secret that is good for nothing else.
//!
//! As text, `<node>.<generation>.<expiry, unix seconds or 0>.<base64url>`: a holder of the join key can make the secret again
//! from the first three and compare. A reader of the proof can fetch the config, and with it the secret, as long as the
//! secret is good; it is kept like one.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};

use crate::{Generation, JoinKey, NodeSecret, mac, secret};

const PURPOSE: &str = "blackstart ignition pointer v1";
const SCHEME: &str = "Bearer ";

/// The value of the `Authorization` header with which the holder of this secret asks for its config.
pub fn authorization(secret: &NodeSecret) -> SecretString {
    let proof = BASE64.encode(mac::sign(secret.bytes().expose_secret(), PURPOSE, &[secret.node.as_bytes()]));
    format!("{SCHEME}{}.{}.{}.{proof}", secret.node, secret.generation.0, secret::seconds(secret.expires)).into()
}

/// The secret behind a header, if this key made it and it has not ended. Whether its generation still counts is for
/// the masters' admissions to say.
pub fn authorized(key: &JoinKey, header: &str, now: Timestamp) -> Option<NodeSecret> {
    let mut parts = header.strip_prefix(SCHEME)?.rsplitn(4, '.');
    let proof = BASE64.decode(parts.next()?).ok()?;
    let expires = secret::moment(parts.next()?.parse().ok()?);
    let generation = Generation(parts.next()?.parse().ok()?);
    let secret = key.node_secret(parts.next()?, generation, expires);
    let is_proved = mac::verify(secret.bytes().expose_secret(), PURPOSE, &[secret.node.as_bytes()], &proof);
    (is_proved && !secret.is_expired(now)).then_some(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn only_the_holder_of_the_secret_is_authorized() {
        let key = JoinKey::parse(&"A".repeat(43)).unwrap();
        let secret = key.node_secret("worker.example.org", Generation(1_800_000_000), Some(at(1_900_000_000)));
        let header = authorization(&secret).expose_secret().to_owned();
        let node = |header: &str, now| authorized(&key, header, at(now)).map(|secret| secret.node);
        assert_eq!(node(&header, 1_850_000_000).as_deref(), Some("worker.example.org"));
        assert_eq!(node(&header, 1_900_000_000), None, "it has ended");
        for (from, to) in [
            ("worker.", "master."),
            ("1800000000", "1800000001"),
            ("1900000000", "1900000001"),
            ("1900000000", "0"),
            ("Bearer ", "Basic "),
            ("Bearer ", ""),
        ] {
            assert_eq!(node(&header.replace(from, to), 1_850_000_000), None, "{from} became {to}");
        }
        assert_eq!(node("Bearer a.1.0.", 0), None);
        let other = JoinKey::generate().unwrap();
        assert!(authorized(&other, &header, at(1_850_000_000)).is_none());
        assert!(!header.contains(secret.text().expose_secret().rsplit('.').next().unwrap()), "it is not the secret");
    }
}
