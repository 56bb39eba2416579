//! What machines are distinguished by.

use aws_lc_rs::digest::{SHA256, digest};

/// What is sent of `/etc/machine-id`: its SHA-256 in hex, because the id itself is meant to stay on the machine.
pub fn machine_id(text: &str) -> String {
    digest(&SHA256, text.trim().as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// True for what [`machine_id`] makes.
pub(crate) fn is_machine_id(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_end_does_not_matter() {
        let id = machine_id("4c4c4544003510398043b7c04f4d3532\n");
        assert_eq!(id, machine_id("4c4c4544003510398043b7c04f4d3532"));
        assert!(is_machine_id(&id));
        assert!(!is_machine_id(&id.to_uppercase()) && !is_machine_id(&id[1..]) && !is_machine_id(""));
    }
}
