//! What nodes compare to know whether they are where their masters are, while keys are replaced.

use aws_lc_rs::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

/// What every node is to trust and to hold. Nothing in it is secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// [`ca_mark`] of the CAs that are trusted.
    pub ca: String,
    /// The `kid` of the key that signs service account tokens.
    pub tokens: String,
    /// [`JoinKey::mark`](crate::JoinKey::mark) of the key that nodes' secrets are to be of; only while it is replaced.
    pub join: Option<String>,
}

/// SHA-256 of a `ca.crt`, in hex. While CAs are replaced, the order in the file says which one signs, so it counts.
pub fn ca_mark(ca_pem: &str) -> String {
    digest(&SHA256, ca_pem.trim().as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_counts_and_the_last_line_end_does_not() {
        assert_eq!(ca_mark("old\nnew\n"), ca_mark("old\nnew"));
        assert_ne!(ca_mark("old\nnew"), ca_mark("new\nold"));
    }
}
