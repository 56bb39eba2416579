//! How the API server encrypts secrets before they go to etcd.

use serde_json::json;

use crate::yaml;

/// The text of `/etc/kubernetes/encryption.yaml`, which all masters share. The key has 32 bytes. It is a secret, so the
/// file is for root alone.
///
/// Whatever was written before encryption was turned on can still be read, and is encrypted when it is next written.
pub fn encryption_config(key_base64: &str) -> String {
    yaml::document(&json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "EncryptionConfiguration",
        "resources": [{
            "resources": ["secrets"],
            "providers": [
                { "secretbox": { "keys": [{ "name": "key1", "secret": key_base64 }] } },
                { "identity": {} },
            ],
        }],
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_encrypted_and_old_ones_still_read() {
        insta::assert_snapshot!(encryption_config("c2l4dGVlbiBieXRlcyBhbmQgc2l4dGVlbiBtb3JlIQ=="));
    }
}
