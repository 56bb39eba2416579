//! Codes of what can keep the conditions of a cluster from being written.

explain::codes! {
    NO_ACCOUNT = "BS-OPERATOR-001", "the operator has no service account",
        "it runs in a pod of the Deployment cluster-version-operator; `blackstart node up` on a master applies that again";
    SIGNALS = "BS-OPERATOR-002", "cannot install signal handlers",
        "this is a bug in blackstart, or a limit of the system: please report it with the message";
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_in_order() {
        assert!(super::ALL.is_sorted_by(|one, next| one.id < next.id));
    }
}
