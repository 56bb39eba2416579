//! What distinguishes one Ceph cluster from another, and one OSD from another: a random UUID.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::random::{NoRandomness, random};

/// A UUID, in the form in which Ceph writes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fsid(String);

impl Fsid {
    /// A new one.
    pub fn generate() -> Result<Self, NoRandomness> {
        let mut bytes = random::<16>()?;
        // Version 4, random, of the usual variant.
        bytes[6] = (bytes[6] & 0x0f) | 0x40;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")))
    }

    /// Reads one, with or without white space around it; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        const HYPHENS: [usize; 4] = [8, 13, 18, 23];
        let text = text.trim();
        let fits = |(at, byte): (usize, u8)| {
            if HYPHENS.contains(&at) { byte == b'-' } else { byte.is_ascii_hexdigit() }
        };
        (text.len() == 36 && text.bytes().enumerate().all(fits)).then(|| Self(text.to_ascii_lowercase()))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fsid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Fsid {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("not a UUID")
    }
}

impl From<Fsid> for String {
    fn from(fsid: Fsid) -> Self {
        fsid.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_is_read_and_never_made_twice() {
        let (one, other) = (Fsid::generate().unwrap(), Fsid::generate().unwrap());
        assert_ne!(one, other);
        assert_eq!(Fsid::parse(&format!(" {one}\n")), Some(one.clone()));
        assert!(one.as_str().as_bytes()[14] == b'4' && b"89ab".contains(&one.as_str().as_bytes()[19]), "{one}");
    }

    #[test]
    fn nothing_else_is_a_uuid() {
        for (text, expected) in [
            ("6A8F1F3E-0d6c-4a43-9d0e-2f1f4d1c9b10", Some("6a8f1f3e-0d6c-4a43-9d0e-2f1f4d1c9b10")),
            ("6a8f1f3e0d6c-4a43-9d0e-2f1f4d1c9b10--", None),
            ("6a8f1f3e-0d6c-4a43-9d0e-2f1f4d1c9b1", None),
            ("6a8f1f3e-0d6c-4a43-9d0e-2f1f4d1c9b1g", None),
            ("", None),
        ] {
            assert_eq!(Fsid::parse(text).as_ref().map(Fsid::as_str), expected, "{text}");
        }
    }
}
