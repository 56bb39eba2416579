//! What nodes compare to know whether they trust the same authorities.

use aws_lc_rs::digest::{SHA256, digest};

/// SHA-256 of a `ca.crt`, in hex. While authorities are replaced, the order in the file says which one signs, so it counts.
pub fn authority_mark(ca_pem: &str) -> String {
    digest(&SHA256, ca_pem.trim().as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_counts_and_the_last_line_end_does_not() {
        assert_eq!(authority_mark("old\nnew\n"), authority_mark("old\nnew"));
        assert_ne!(authority_mark("old\nnew"), authority_mark("new\nold"));
    }
}
