//! The join key of a cluster and the node secrets that are derived from it.
//!
//! A node's secret is the HMAC of its name and expiry under the join key. Masters keep one key instead of a list, and a
//! node that is added later needs nothing from them. As text: `v1.<node>.<expiry, unix seconds or 0>.<base64url>`.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use explain::{Code, Explain};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretSlice, SecretString};

use crate::{codes, mac};

const VERSION: &str = "v1";
const PURPOSE: &str = "blackstart node secret v1";
const KEY_BYTES: usize = 32;

/// The system gave no random bytes; nothing can be made without them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the system gave no random bytes")]
pub struct NoRandomness;

/// A text that is no secret of this kind. It says what was expected and never what was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is not {0}")]
pub struct BadSecret(pub(crate) &'static str);

impl Explain for BadSecret {
    fn code(&self) -> Code {
        codes::BAD_SECRET
    }
}

/// The key from which the secrets of all nodes are derived. Only masters hold it.
#[derive(Debug, Clone)]
pub struct JoinKey(SecretSlice<u8>);

/// What one node proves itself with.
#[derive(Debug, Clone)]
pub struct NodeSecret {
    /// The node it was made for.
    pub node: String,
    /// When it ends; `None` for never.
    pub expires: Option<Timestamp>,
    secret: SecretSlice<u8>,
}

impl JoinKey {
    /// A new one.
    pub fn generate() -> Result<Self, NoRandomness> {
        mac::random::<KEY_BYTES>().map(|bytes| Self(bytes.to_vec().into()))
    }

    /// Reads the text of a `join.key`.
    pub fn parse(text: &str) -> Result<Self, BadSecret> {
        let bytes = BASE64.decode(text.trim()).ok().filter(|bytes| bytes.len() == KEY_BYTES);
        bytes.map(|bytes| Self(bytes.into())).ok_or(BadSecret("a join key"))
    }

    /// As it is written to `join.key`.
    pub fn text(&self) -> SecretString {
        BASE64.encode(self.0.expose_secret()).into()
    }

    /// The secret of a node.
    pub fn node_secret(&self, node: &str, expires: Option<Timestamp>) -> NodeSecret {
        // As precise and as late as the text can say.
        let expires = expires.and_then(|_| moment(seconds(expires)));
        let fields = [node.as_bytes(), &seconds(expires).to_be_bytes()];
        let tag = mac::sign(self.0.expose_secret(), PURPOSE, &fields);
        NodeSecret { node: node.to_owned(), expires, secret: tag.as_ref().to_vec().into() }
    }

    /// True if this key made the secret.
    pub fn made(&self, secret: &NodeSecret) -> bool {
        let fields = [secret.node.as_bytes(), &seconds(secret.expires).to_be_bytes()];
        mac::verify(self.0.expose_secret(), PURPOSE, &fields, secret.secret.expose_secret())
    }
}

impl NodeSecret {
    /// Reads the text of a `join-secret`. Whether the cluster knows it is for a master to say.
    pub fn parse(text: &str) -> Result<Self, BadSecret> {
        const WRONG: BadSecret = BadSecret("a node's join secret");
        // A node's name may hold dots, the parts behind it cannot.
        let mut parts = text.trim().rsplitn(3, '.');
        let (Some(secret), Some(expires), Some(front)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(WRONG);
        };
        let node = front.strip_prefix(VERSION).and_then(|rest| rest.strip_prefix('.')).ok_or(WRONG)?;
        let expires = moment(expires.parse().map_err(|_| WRONG)?);
        let secret = BASE64.decode(secret).map_err(|_| WRONG)?;
        if node.is_empty() || secret.len() != KEY_BYTES {
            return Err(WRONG);
        }
        Ok(Self { node: node.to_owned(), expires, secret: secret.into() })
    }

    /// As it is written to `join-secret`.
    pub fn text(&self) -> SecretString {
        let secret = BASE64.encode(self.secret.expose_secret());
        format!("{VERSION}.{}.{}.{secret}", self.node, seconds(self.expires)).into()
    }

    /// True once it is of no use any more.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    /// The key of its proofs.
    pub fn bytes(&self) -> &SecretSlice<u8> {
        &self.secret
    }
}

/// Unix seconds, 0 for never. What lies beyond the range (before 1970, after 2106) becomes its end.
pub(crate) fn seconds(expires: Option<Timestamp>) -> u32 {
    let clamped = |moment: Timestamp| moment.as_second().clamp(1, u32::MAX.into());
    expires.map_or(0, |moment| u32::try_from(clamped(moment)).unwrap_or(u32::MAX))
}

/// The reverse of [`seconds`].
pub(crate) fn moment(seconds: u32) -> Option<Timestamp> {
    if seconds == 0 { None } else { Timestamp::from_second(seconds.into()).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> JoinKey {
        JoinKey::parse(&"A".repeat(43)).unwrap()
    }

    #[test]
    fn secrets_are_written_and_read_back() {
        let later = Timestamp::from_second(1_900_000_000).unwrap();
        for (node, expires) in [("worker-01", None), ("node.example.org", Some(later)), ("01", None)] {
            let secret = key().node_secret(node, expires);
            let read = NodeSecret::parse(&format!("{}\n", secret.text().expose_secret())).unwrap();
            assert_eq!((read.node.as_str(), read.expires), (node, expires));
            assert!(key().made(&read));
        }
        insta::assert_snapshot!(key().node_secret("worker-01", Some(later)).text().expose_secret());
    }

    #[test]
    fn a_changed_secret_is_of_no_key() {
        let secret = key().node_secret("worker-01", Some(Timestamp::from_second(1_900_000_000).unwrap()));
        let text = secret.text().expose_secret().to_owned();
        for (from, to) in [("worker-01", "worker-02"), ("1900000000", "1900000001"), ("1900000000", "0")] {
            let changed = NodeSecret::parse(&text.replace(from, to)).unwrap();
            assert!(!key().made(&changed), "{from} became {to}");
        }
        assert!(!JoinKey::generate().unwrap().made(&secret));
    }

    #[test]
    fn other_texts_are_refused_without_being_repeated() {
        let whole = "B".repeat(43);
        let cases = [
            String::new(),
            "v1".into(),
            format!("v2.worker-01.0.{whole}"),
            format!("v1..0.{whole}"),
            format!("v1.worker-01.-1.{whole}"),
            format!("v1.worker-01.99999999999999.{whole}"),
            "v1.worker-01.0.short".into(),
            "v1.worker-01.0.!!!".into(),
        ];
        for text in cases {
            assert_eq!(NodeSecret::parse(&text).unwrap_err().to_string(), "this is not a node's join secret", "{text}");
        }
        assert_eq!(JoinKey::parse("secret!").unwrap_err().to_string(), "this is not a join key");
    }

    #[test]
    fn nothing_secret_is_shown_by_debug() {
        let secret = key().node_secret("worker-01", None);
        let text = secret.text().expose_secret().rsplit('.').next().unwrap().to_owned();
        assert!(!format!("{secret:?} {:?}", key()).contains(&text));
        assert!(!format!("{:?}", key()).contains("AAAA") && !format!("{:?}", key()).contains("0, 0"));
    }
}
