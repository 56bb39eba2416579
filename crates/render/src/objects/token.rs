//! A bootstrap token as the API server keeps it.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};

use super::BOOTSTRAPPERS;

/// The annotation that binds a token to one node.
pub const NODE_ANNOTATION: &str = "blackstart.dev/node";

/// The Secret of a token: `id` and `secret` are its two halves, `expires` is a moment as in RFC 3339, and with `node`
/// only that one may use it. What is returned is secret.
pub fn token(id: &str, secret: &str, expires: Option<&str>, node: Option<&str>, description: &str) -> Value {
    let mut fields = vec![
        ("auth-extra-groups", BOOTSTRAPPERS),
        ("description", description),
        ("token-id", id),
        ("token-secret", secret),
        ("usage-bootstrap-authentication", "true"),
        ("usage-bootstrap-signing", "true"),
    ];
    fields.extend(expires.map(|moment| ("expiration", moment)));
    // Not `stringData`: server-side apply does not see a field that is no longer in there.
    let data: Map<String, Value> =
        fields.into_iter().map(|(key, value)| (key.to_owned(), BASE64_STANDARD.encode(value).into())).collect();
    let mut metadata = json!({ "name": format!("bootstrap-token-{id}"), "namespace": "kube-system" });
    if let Some(node) = node {
        metadata["annotations"] = json!({ NODE_ANNOTATION: node });
    }
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata,
        "type": "bootstrap.kubernetes.io/token",
        "data": data,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::manifest;

    #[test]
    fn with_and_without_limits() {
        let bound =
            token("abcdef", "0123456789abcdef", Some("2026-11-16T12:00:00Z"), Some("worker-01"), "for worker-01");
        let open = token("ghijkl", "0123456789abcdef", None, None, "");
        insta::assert_snapshot!(manifest(&[bound, open]));
    }
}
