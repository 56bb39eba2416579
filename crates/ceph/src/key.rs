//! Keys of cephx, byte by byte as Ceph writes them.
//!
//! ```text
//! base64( type: u16 | created, seconds: u32 | nanoseconds: u32 | length: u16 | that many random bytes )
//! ```
//! All numbers are little endian. Which type a key has is decided in one place, [`Cipher`].

use std::fmt;

use base64::{Engine, prelude::BASE64_STANDARD};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::random::{NoRandomness, random};

const HEADER: usize = 12;

/// What a key is used with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cipher {
    /// AES-128; every Ceph knows it.
    Aes,
    /// AES-256 as Kerberos uses it; known to newer ones only.
    Aes256,
}

impl Cipher {
    /// What the Ceph of the distributions we install on wants.
    pub const OURS: Self = Self::Aes;

    fn number(self) -> u16 {
        match self {
            Self::Aes => 1,
            Self::Aes256 => 2,
        }
    }

    fn of_number(number: u16) -> Option<Self> {
        [Self::Aes, Self::Aes256].into_iter().find(|cipher| cipher.number() == number)
    }

    fn length(self) -> u16 {
        match self {
            Self::Aes => 16,
            Self::Aes256 => 32,
        }
    }
}

/// A key, as text. It cannot be printed by accident.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key(String);

impl Key {
    /// A new one.
    pub fn generate(cipher: Cipher, now: Timestamp) -> Result<Self, NoRandomness> {
        let secret: [u8; 32] = random()?;
        let length = cipher.length();
        // A clock before 1970 or after 2106 makes a key as good as any: nothing reads when it was made.
        let seconds = u32::try_from(now.as_second()).unwrap_or_default();
        let nanoseconds = u32::try_from(now.subsec_nanosecond()).unwrap_or_default();
        let mut bytes = Vec::with_capacity(HEADER + usize::from(length));
        bytes.extend(cipher.number().to_le_bytes());
        bytes.extend(seconds.to_le_bytes());
        bytes.extend(nanoseconds.to_le_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend(&secret[..length.into()]);
        Ok(Self(BASE64_STANDARD.encode(bytes)))
    }

    /// Reads one; `None` if it is no key of a type we know.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let bytes = BASE64_STANDARD.decode(text).ok()?;
        let number = |at: usize| Some(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
        let cipher = Cipher::of_number(number(0)?)?;
        let fits = number(10)? == cipher.length() && bytes.len() == HEADER + usize::from(cipher.length());
        fits.then(|| Self(text.to_owned()))
    }

    /// The secret itself: for a keyring, a Secret or an input, never for a message.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl TryFrom<String> for Key {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("not a key of cephx")
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by the monitors of Ceph 16.2.15, in a lab that is gone.
    const OF_CEPH: &str = "AQA6E/tqqQ1uHhAAAtmjtrePb1gSU/FtNogjwg==";

    #[test]
    fn a_key_of_ours_differs_from_one_of_cephs_in_nothing_but_the_secret() {
        let made_at = Timestamp::new(0x6afb_133a, 0x1e6e_0da9).unwrap();
        let decoded = |text: &str| BASE64_STANDARD.decode(text).unwrap();
        let (ours, theirs) = (decoded(Key::generate(Cipher::OURS, made_at).unwrap().expose()), decoded(OF_CEPH));
        assert_eq!((ours.len(), &ours[..HEADER]), (theirs.len(), &theirs[..HEADER]));
        assert_ne!(ours[HEADER..], theirs[HEADER..]);
    }

    #[test]
    fn keys_are_read_and_nothing_else_is() {
        let now = Timestamp::UNIX_EPOCH;
        for cipher in [Cipher::Aes, Cipher::Aes256] {
            let key = Key::generate(cipher, now).unwrap();
            assert_eq!(Key::parse(&format!("{}\n", key.expose())), Some(key));
        }
        assert!(Key::parse(OF_CEPH).is_some());
        for bad in ["", "AQ==", "AQA6E/tqqQ1uHhAAAtmjtrePb1gSU/FtNogjwg", "AwA6E/tqqQ1uHhAAAtmjtrePb1gSU/FtNogjwg=="] {
            assert_eq!(Key::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_key_is_never_printed() {
        let key = Key::parse(OF_CEPH).unwrap();
        assert_eq!(format!("{key:?}"), "Key(..)");
    }
}
