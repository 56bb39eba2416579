//! What the driver that gives pods block devices of Ceph proves itself with.

use serde_json::{Value, json};

/// A Secret as ceph-csi reads it: who it is, and its key. `clusterID` is what its configuration calls this cluster.
pub fn csi_secret(namespace: &str, name: &str, fsid: &str, user: &str, key: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": { "name": name, "namespace": namespace },
        "type": "Opaque",
        "stringData": { "clusterID": fsid, "userID": user, "userKey": key },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::manifest;

    #[test]
    fn what_is_printed() {
        let fsid = "6a8f1f3e-0d6c-4a43-9d0e-2f1f4d1c9b10";
        let secret =
            csi_secret("ceph-csi", "csi-rbd-secret", fsid, "csi-rbd", "AQDRRxlp6SUZBBAAQUJDREVGR0hJSktMTU5PUA==");
        insta::assert_snapshot!(manifest(&[secret]));
    }
}
