//! Codes of what can go wrong before a TLS connection is even tried.

explain::codes! {
    UNREADABLE = "BS-TLS-001", "cannot read a TLS certificate or key",
        "the file is not PEM or is truncated; make it again with `blackstart pki init` or seal the node again";
    MISMATCH = "BS-TLS-002", "certificate and key do not match",
        "one of the two was replaced without the other; `blackstart pki renew` makes a new pair";
    SETUP = "BS-TLS-003", "cannot set up TLS",
        "the message has the cause; usually a certificate with an unsupported algorithm";
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn numbers_are_in_order_without_gaps() {
        for (index, code) in ALL.iter().enumerate() {
            assert_eq!(code.id, format!("BS-TLS-{:03}", index + 1));
        }
    }
}
