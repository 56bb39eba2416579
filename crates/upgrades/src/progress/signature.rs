//! The signature of what is sent, as Standard Webhooks has it: a receiver that knows the token can verify that a report is ours, whole,
//! and not older than it says. Pure.
//!
//! It is signed again for each attempt, because receivers refuse what is older than minutes; the id stays.

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose},
};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};

/// Of a secret in the form that Standard Webhooks gives it: what follows is base64.
pub(super) const PREFIX: &str = "whsec_";

/// With or without `=` at the end: both are around.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What reports are signed with.
#[derive(Clone)]
pub struct SigningKey(hmac::Key);

impl SigningKey {
    /// From the token; none where it promises base64 and has something else, or nothing.
    pub fn new(token: &SecretString) -> Option<Self> {
        let token = token.expose_secret();
        let key = match token.strip_prefix(PREFIX) {
            Some(encoded) => LENIENT.decode(encoded).ok()?,
            None => token.as_bytes().to_vec(),
        };
        (!key.is_empty()).then(|| Self(hmac::Key::new(HMAC_SHA256, &key)))
    }

    /// The headers of a body that is sent now.
    pub fn headers(&self, id: &str, now: Timestamp, body: &[u8]) -> [(&'static str, String); 3] {
        let timestamp = now.as_second().to_string();
        let signed = [id.as_bytes(), timestamp.as_bytes(), body].join(&b'.');
        let tag = general_purpose::STANDARD.encode(hmac::sign(&self.0, &signed));
        [("webhook-id", id.to_owned()), ("webhook-timestamp", timestamp), ("webhook-signature", format!("v1,{tag}"))]
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SigningKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(token: &str) -> Option<SigningKey> {
        SigningKey::new(&SecretString::from(token))
    }

    /// Made by others, for each of these:
    /// `python3 -c 'hmac.new(KEY, b"ID.TIMESTAMP.BODY", "sha256")'`, the first and the last also by `openssl dgst -sha256 -hmac`.
    /// The last is the example of the specification's own libraries.
    #[test]
    fn signatures_are_those_that_other_tools_make() {
        let raw = "progress-token-of-worker-01";
        let encoded = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let ours = ("3f2a/7", 1_767_225_600, r#"{"specversion":"1.0"}"#);
        let theirs = ("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        for (token, (id, second, body), expected) in [
            (raw, ours, "v1,hEw8MTZGvtGqV97YgZIqciQnCPD/t8Vfmr+WJfCYMd4="),
            (raw, theirs, "v1,5UgTfUnjw3E1/h2NNrRWgJQF0QYGmMIEKRmWeM4Gd3c="),
            (encoded, ours, "v1,OQ1mlx0e1BHxho5wa4a1QQ/lLtQrT/sNQmyrJmnm56k="),
            (encoded, theirs, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
        ] {
            let now = Timestamp::from_second(second).unwrap();
            let headers = key(token).unwrap().headers(id, now, body.as_bytes());
            let expected =
                [("webhook-id", id), ("webhook-timestamp", &second.to_string()), ("webhook-signature", expected)]
                    .map(|(name, value)| (name, value.to_owned()));
            assert_eq!(headers, expected);
        }
    }

    #[test]
    fn only_what_promises_base64_must_be_some() {
        for (token, is_key) in [
            ("whsec_MfKQ9r8=", true),
            ("whsec_MfKQ9r8", true),
            ("whsec_not base64", false),
            ("whsec_", false),
            ("", false),
            ("not base64 at all", true),
        ] {
            assert_eq!(key(token).is_some(), is_key, "{token}");
        }
        assert_eq!(format!("{:?}", key("hidden")), "Some(SigningKey)");
    }
}
