//! Bootstrap tokens, as the join service asks for them: the one of cluster.yaml, and those in the API.

use jiff::Timestamp;
use join::server::{Answer, Credentials, NotReady, StoredToken};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client, ResourceExt};
use render::objects::NODE_ANNOTATION;
use spec::Token;
use tokio::sync::watch;

/// Where tokens are.
pub(super) struct Tokens {
    /// The one that is known without asking anybody.
    pub(super) embedded: Option<Token>,
    /// The API, as soon as there is a way to it.
    pub(super) client: watch::Receiver<Option<Client>>,
}

impl Credentials for Tokens {
    fn token<'a>(&'a self, id: &'a str) -> Answer<'a, Option<StoredToken>> {
        Box::pin(async move {
            if let Some(token) = self.embedded.as_ref().filter(|token| token.id == id) {
                return Ok(Some(StoredToken { secret: token.secret.clone(), expires: None, node: None }));
            }
            let client = self.client.borrow().clone().ok_or(NotReady)?;
            let secrets: Api<Secret> = Api::namespaced(client, "kube-system");
            let secret = secrets.get_opt(&format!("bootstrap-token-{id}")).await.map_err(|error| {
                tracing::debug!(%error, "cannot get a bootstrap token");
                NotReady
            })?;
            Ok(secret.as_ref().and_then(stored))
        })
    }
}

/// Reads a token's Secret; `None` for one that may not be used to authenticate.
fn stored(secret: &Secret) -> Option<StoredToken> {
    let field = |key| secret.data.as_ref()?.get(key).and_then(|value| String::from_utf8(value.0.clone()).ok());
    if field("usage-bootstrap-authentication").as_deref() != Some("true") {
        return None;
    }
    Some(StoredToken {
        secret: field("token-secret")?.into(),
        // As the API server has it: an end that cannot be read has come.
        expires: field("expiration").map(|end| end.parse().unwrap_or(Timestamp::UNIX_EPOCH)),
        node: secret.annotations().get(NODE_ANNOTATION).cloned(),
    })
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    const SECRET: &str = "0123456789abcdef";

    fn token(expires: Option<&str>, node: Option<&str>) -> Secret {
        serde_json::from_value(render::objects::token("abcdef", SECRET, expires, node, "")).unwrap()
    }

    #[test]
    fn a_secret_is_read_as_the_api_server_reads_it() {
        for (expires, node, end) in [
            (None, None, None),
            (Some("2026-11-16T12:00:00Z"), Some("worker-01"), Some("2026-11-16T12:00:00Z")),
            (Some("tomorrow"), None, Some("1970-01-01T00:00:00Z")),
        ] {
            let stored = stored(&token(expires, node)).unwrap();
            assert_eq!(stored.secret.expose_secret(), SECRET);
            assert_eq!(stored.expires.map(|end| end.to_string()).as_deref(), end);
            assert_eq!(stored.node.as_deref(), node);
        }
    }

    #[test]
    fn one_that_is_not_for_authentication_is_none() {
        let mut secret = token(None, None);
        secret.data.as_mut().unwrap().remove("usage-bootstrap-authentication");
        assert!(stored(&secret).is_none());
    }

    #[tokio::test]
    async fn the_embedded_one_needs_no_api() {
        let embedded = Some(Token { id: "abcdef".into(), secret: SECRET.to_owned().into() });
        let tokens = Tokens { embedded, client: watch::channel(None).1 };
        assert!(tokens.token("abcdef").await.unwrap().is_some());
        assert_eq!(tokens.token("ghijkl").await.unwrap_err(), NotReady);
    }
}
