//! HMAC-SHA256 over lists of fields.
//!
//! Every field is preceded by its length and every use has a name of its own, so that no two lists, and no two uses, can
//! have the same bytes.

use aws_lc_rs::{
    hmac::{self, HMAC_SHA256},
    rand,
};

/// The system gave no random bytes; nothing can be made without them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the system gave no random bytes")]
pub struct NoRandomness;

/// The HMAC of these fields for this use.
pub(crate) fn sign(key: &[u8], purpose: &str, fields: &[&[u8]]) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(HMAC_SHA256, key), &framed(purpose, fields))
}

/// True if the tag is that of these fields for this use; takes the same time wherever it differs.
pub(crate) fn verify(key: &[u8], purpose: &str, fields: &[&[u8]], tag: &[u8]) -> bool {
    hmac::verify(&hmac::Key::new(HMAC_SHA256, key), &framed(purpose, fields), tag).is_ok()
}

fn framed(purpose: &str, fields: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in [purpose.as_bytes()].iter().chain(fields) {
        bytes.extend((field.len() as u64).to_be_bytes());
        bytes.extend(*field);
    }
    bytes
}

/// Random bytes.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    rand::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_cannot_be_moved_into_each_other() {
        let tag = sign(b"key", "test", &[b"ab", b"c"]);
        let cases = [
            ("key", "test", vec!["ab", "c"], true),
            ("key", "test", vec!["a", "bc"], false),
            ("key", "test", vec!["abc"], false),
            ("key", "test", vec!["a", "c", ""], false),
            ("key", "other", vec!["a", "c"], false),
            ("yek", "test", vec!["a", "c"], false),
        ];
        for (key, purpose, fields, expected) in cases {
            let fields: Vec<&[u8]> = fields.iter().map(|field| field.as_bytes()).collect();
            assert_eq!(verify(key.as_bytes(), purpose, &fields, tag.as_ref()), expected, "{purpose} {fields:?}");
        }
        assert!(!verify(b"key", "test", &[b"ab", b"c"], &tag.as_ref()[..31]), "a shortened tag");
        assert!(!verify(b"key", "test", &[b"ab", b"c"], b""), "no tag");
    }
}
