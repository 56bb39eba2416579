//! Codes of what can go wrong before a TLS connection is even tried.

explain::codes! {
    UNREADABLE = "BS-TLS-001", "a certificate or key for TLS cannot be read",
        "the file is no PEM text or is cut short; make it again with `blackstart pki init` or seal the node again";
    MISMATCH = "BS-TLS-002", "a certificate and its key do not belong together",
        "one of the two was replaced without the other; `blackstart pki renew` makes a new pair";
    SETUP = "BS-TLS-003", "TLS could not be set up",
        "read the cause in the message; a certificate with an algorithm that is not supported is the usual one";
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
