//! The sum that etcd puts behind a snapshot: the last 32 bytes are the SHA-256 of all before them.
//!
//! A snapshot that was copied badly is noticed here, and not when a restore depends on it. It is fed piece by piece,
//! because a snapshot may be larger than the memory.

use aws_lc_rs::digest::{Context, SHA256, SHA256_OUTPUT_LEN};
use explain::{Code, Explain};

use crate::codes;

/// A database is written in pages, and their size is a multiple of this.
const SECTOR: u64 = 512;

/// What etcd puts behind a snapshot.
pub(crate) const SUM_BYTES: usize = SHA256_OUTPUT_LEN;

/// Why something is no whole snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSnapshot {
    /// Its end is missing, or it was never one.
    #[error("it has {0} bytes, so it does not end with a checksum")]
    Size(u64),
    /// A byte is not what etcd sent.
    #[error("checksum mismatch")]
    Sum,
}

impl Explain for BadSnapshot {
    fn code(&self) -> Code {
        codes::BAD_SNAPSHOT
    }
}

/// Looks at a snapshot while it passes.
pub struct Checksum {
    before: Context,
    /// The last bytes so far: they may be the sum.
    end: Vec<u8>,
    size: u64,
}

impl Default for Checksum {
    fn default() -> Self {
        Self { before: Context::new(&SHA256), end: Vec::new(), size: 0 }
    }
}

impl Checksum {
    /// The next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.size += bytes.len() as u64;
        self.end.extend_from_slice(bytes);
        let known = self.end.len().saturating_sub(SUM_BYTES);
        self.before.update(&self.end[..known]);
        self.end.drain(..known);
    }

    /// How large the snapshot is, if it is whole.
    pub fn finish(self) -> Result<u64, BadSnapshot> {
        if self.end.len() < SUM_BYTES || self.size % SECTOR != SUM_BYTES as u64 {
            return Err(BadSnapshot::Size(self.size));
        }
        if self.before.finish().as_ref() != self.end {
            return Err(BadSnapshot::Sum);
        }
        Ok(self.size)
    }
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::digest::digest;

    use super::*;

    fn snapshot() -> Vec<u8> {
        let pages: Vec<u8> = (0..=255).cycle().take(4096).collect();
        [pages.as_slice(), digest(&SHA256, &pages).as_ref()].concat()
    }

    fn checked(bytes: &[u8], piece: usize) -> Result<u64, BadSnapshot> {
        let mut sum = Checksum::default();
        bytes.chunks(piece).for_each(|piece| sum.update(piece));
        sum.finish()
    }

    #[test]
    fn a_whole_one_is_whole_in_pieces_of_any_size() {
        for piece in [1, 31, 32, 33, 512, 4096, 5000] {
            assert_eq!(checked(&snapshot(), piece), Ok(4096 + 32), "{piece}");
        }
    }

    #[test]
    fn every_way_to_be_broken_is_reported() {
        let whole = snapshot();
        let flipped = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        };
        for (what, bytes, expected) in [
            ("first byte", flipped(0), BadSnapshot::Sum),
            ("last byte of the data", flipped(4095), BadSnapshot::Sum),
            ("the sum itself", flipped(4127), BadSnapshot::Sum),
            ("without its sum", whole[..4096].to_vec(), BadSnapshot::Size(4096)),
            ("cut short", whole[..1000].to_vec(), BadSnapshot::Size(1000)),
            ("nothing", Vec::new(), BadSnapshot::Size(0)),
            ("a page is missing", [&whole[..3584], &whole[4096..]].concat(), BadSnapshot::Sum),
        ] {
            assert_eq!(checked(&bytes, 100), Err(expected), "{what}");
        }
    }
}
