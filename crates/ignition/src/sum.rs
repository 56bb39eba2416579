//! Sums, in the two forms that are written.

use aws_lc_rs::digest::{SHA256, SHA512, digest};

/// SHA-256 in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}

/// As Ignition writes it in `verification.hash`.
pub(crate) fn verification(bytes: &[u8]) -> String {
    format!("sha512-{}", hex(digest(&SHA512, bytes).as_ref()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn sums_are_the_published_ones() {
        assert_eq!(super::sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert!(super::verification(b"abc").starts_with("sha512-ddaf35a193617abacc417349ae20413112e6fa4e89a97ea2"));
    }
}
