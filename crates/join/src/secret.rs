//! The join key of a cluster and the node secrets that are derived from it.
//!
//! A node's secret is the HMAC of its name, its generation and its expiry under the join key. Masters keep one key instead
//! of a list, and a node that is added later needs nothing from them. As text:
//! `v2.<node>.<generation>.<expiry, unix seconds or 0>.<base64url>`.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use explain::{Code, Explain};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretSlice, SecretString};

use crate::{codes, generation::Generation, mac};
pub(crate) use crate::{
    generation::{moment, seconds},
    mac::NoRandomness,
};

const VERSION: &str = "v2";
const PURPOSE: &str = "blackstart node secret v2";
const MARK: &str = "blackstart join key mark v1";
const KEY_BYTES: usize = 32;
const MARK_BYTES: usize = 8;

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
    /// Which of the node's secrets it is: each is of a higher one than those before it.
    pub generation: Generation,
    /// When it ends; `None` for never.
    pub expires: Option<Timestamp>,
    secret: SecretSlice<u8>,
}

impl JoinKey {
    /// A new one.
    pub fn generate() -> Result<Self, NoRandomness> {
        mac::random::<KEY_BYTES>().map(|bytes| Self(bytes.to_vec().into()))
    }

    /// Reads the text of a `join.key`: the key that secrets are made with.
    pub fn parse(text: &str) -> Result<Self, BadSecret> {
        Self::parse_all(text).map(|mut keys| keys.swap_remove(0))
    }

    /// Reads all of a `join.key`, one key on each line: while it is replaced, secrets of either key are good. They are made
    /// with the first.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, BadSecret> {
        const WRONG: BadSecret = BadSecret("a join key");
        let key = |line: &str| {
            let bytes = BASE64.decode(line).ok().filter(|bytes| bytes.len() == KEY_BYTES);
            bytes.map(|bytes| Self(bytes.into())).ok_or(WRONG)
        };
        let keys: Vec<Self> = text.split_whitespace().map(key).collect::<Result<_, _>>()?;
        if keys.is_empty() { Err(WRONG) } else { Ok(keys) }
    }

    /// Distinguishes this key from others without giving it away.
    pub fn mark(&self) -> String {
        let tag = mac::sign(self.0.expose_secret(), MARK, &[]);
        tag.as_ref().iter().take(MARK_BYTES).map(|byte| format!("{byte:02x}")).collect()
    }

    /// As it is written to `join.key`.
    pub fn text(&self) -> SecretString {
        BASE64.encode(self.0.expose_secret()).into()
    }

    /// The secret of a node.
    pub fn node_secret(&self, node: &str, generation: Generation, expires: Option<Timestamp>) -> NodeSecret {
        // As precise and as late as the text can say.
        let expires = expires.and_then(|_| moment(seconds(expires)));
        let fields = [node.as_bytes(), &generation.0.to_be_bytes(), &seconds(expires).to_be_bytes()];
        let tag = mac::sign(self.0.expose_secret(), PURPOSE, &fields);
        NodeSecret { node: node.to_owned(), generation, expires, secret: tag.as_ref().to_vec().into() }
    }

    /// The secret that follows one of the same node, and is good for as long as that was.
    pub fn next_secret(&self, present: &NodeSecret, now: Timestamp) -> NodeSecret {
        let length = present.expires.map(|end| end.as_second() - i64::from(present.generation.0));
        let expires = length.and_then(|length| Timestamp::from_second(now.as_second() + length).ok());
        self.node_secret(&present.node, present.generation.next(now), expires)
    }

    /// True if this key made the secret.
    pub fn made(&self, secret: &NodeSecret) -> bool {
        let NodeSecret { node, generation, expires, .. } = secret;
        let fields = [node.as_bytes(), &generation.0.to_be_bytes(), &seconds(*expires).to_be_bytes()];
        mac::verify(self.0.expose_secret(), PURPOSE, &fields, secret.secret.expose_secret())
    }
}

impl NodeSecret {
    /// Reads the text of a `join-secret`. Whether the cluster knows it is for a master to say.
    pub fn parse(text: &str) -> Result<Self, BadSecret> {
        const WRONG: BadSecret = BadSecret("a node's join secret");
        // A node's name may hold dots, the parts behind it cannot.
        let mut parts = text.trim().rsplitn(4, '.');
        let mut next = || parts.next().ok_or(WRONG);
        let [secret, expires, generation, front] = [next()?, next()?, next()?, next()?];
        let node = front.strip_prefix(VERSION).and_then(|rest| rest.strip_prefix('.')).ok_or(WRONG)?;
        let generation = Generation(generation.parse().map_err(|_| WRONG)?);
        let expires = moment(expires.parse().map_err(|_| WRONG)?);
        let secret = BASE64.decode(secret).map_err(|_| WRONG)?;
        if node.is_empty() || secret.len() != KEY_BYTES {
            return Err(WRONG);
        }
        Ok(Self { node: node.to_owned(), generation, expires, secret: secret.into() })
    }

    /// As it is written to `join-secret`.
    pub fn text(&self) -> SecretString {
        let secret = BASE64.encode(self.secret.expose_secret());
        format!("{VERSION}.{}.{}.{}.{secret}", self.node, self.generation.0, seconds(self.expires)).into()
    }

    /// True once it is of no use any more.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    /// True once two thirds of its life are spent, as with certificates: a living node is given another one then.
    pub fn is_due(&self, now: Timestamp) -> bool {
        let (now, made) = (now.as_second(), i64::from(self.generation.0));
        self.expires.is_some_and(|end| (now - made).saturating_mul(3) >= (end.as_second() - made).saturating_mul(2))
    }

    /// The key of its proofs.
    pub fn bytes(&self) -> &SecretSlice<u8> {
        &self.secret
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MADE: Generation = Generation(1_800_000_000);

    fn key() -> JoinKey {
        JoinKey::parse(&"A".repeat(43)).unwrap()
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn secrets_are_written_and_read_back() {
        let later = at(1_900_000_000);
        for (node, expires) in [("worker-01", None), ("node.example.org", Some(later)), ("01", None)] {
            let secret = key().node_secret(node, MADE, expires);
            let read = NodeSecret::parse(&format!("{}\n", secret.text().expose_secret())).unwrap();
            assert_eq!((read.node.as_str(), read.generation, read.expires), (node, MADE, expires));
            assert!(key().made(&read));
        }
        insta::assert_snapshot!(key().node_secret("worker-01", MADE, Some(later)).text().expose_secret());
    }

    #[test]
    fn a_changed_secret_is_of_no_key() {
        let secret = key().node_secret("worker-01", MADE, Some(at(1_900_000_000)));
        let text = secret.text().expose_secret().to_owned();
        let tampering = [
            ("worker-01", "worker-02"),
            ("1800000000", "1800000001"),
            ("1900000000", "1900000001"),
            ("1900000000", "0"),
        ];
        for (from, to) in tampering {
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
            "v2".into(),
            format!("v1.worker-01.0.{whole}"),
            format!("v1.worker-01.1.0.{whole}"),
            format!("v3.worker-01.1.0.{whole}"),
            format!("v2..1.0.{whole}"),
            format!("v2.worker-01.-1.0.{whole}"),
            format!("v2.worker-01.1.-1.{whole}"),
            format!("v2.worker-01.1.99999999999999.{whole}"),
            "v2.worker-01.1.0.short".into(),
            "v2.worker-01.1.0.!!!".into(),
        ];
        for text in cases {
            assert_eq!(NodeSecret::parse(&text).unwrap_err().to_string(), "this is not a node's join secret", "{text}");
        }
        assert_eq!(JoinKey::parse("secret!").unwrap_err().to_string(), "this is not a join key");
    }

    #[test]
    fn due_when_two_thirds_of_its_life_are_spent() {
        let made = i64::from(MADE.0);
        let secret = key().node_secret("worker-01", MADE, Some(at(made + 30)));
        for (after, due, expired) in [(-5, false, false), (19, false, false), (20, true, false), (30, true, true)] {
            let now = at(made + after);
            assert_eq!((secret.is_due(now), secret.is_expired(now)), (due, expired), "{after}");
        }
        assert!(!key().node_secret("worker-01", MADE, None).is_due(at(made + 1_000_000_000)), "it never ends");
    }

    #[test]
    fn while_a_key_is_replaced_the_first_one_makes_secrets() {
        let (old, new) = (key(), JoinKey::generate().unwrap());
        let line = |key: &JoinKey| key.text().expose_secret().to_owned();
        for (keys, expected) in
            [(vec![&old], vec![&old]), (vec![&old, &new], vec![&old, &new]), (vec![&new], vec![&new])]
        {
            let text: String = keys.iter().map(|key| format!("{}\n", line(key))).collect();
            let read = JoinKey::parse_all(&text).unwrap();
            assert_eq!(
                read.iter().map(line).collect::<Vec<_>>(),
                expected.iter().map(|key| line(key)).collect::<Vec<_>>()
            );
            assert_eq!(line(&JoinKey::parse(&text).unwrap()), line(expected[0]));
        }
        for text in ["", "\n", &format!("{}\nshort", line(&old))] {
            assert!(JoinKey::parse_all(text).is_err(), "{text}");
        }
        assert_eq!(old.mark().len(), 16);
        assert_ne!(old.mark(), new.mark());
        assert!(!line(&new).contains(&new.mark()));
    }

    #[test]
    fn nothing_secret_is_shown_by_debug() {
        let secret = key().node_secret("worker-01", MADE, None);
        let text = secret.text().expose_secret().rsplit('.').next().unwrap().to_owned();
        assert!(!format!("{secret:?} {:?}", key()).contains(&text));
        assert!(!format!("{:?}", key()).contains("AAAA") && !format!("{:?}", key()).contains("0, 0"));
    }
}
