//! Where progress is reported to: read from the node's Secret. Nothing here ever shows the token. Pure.

use std::{collections::BTreeMap, fmt};

use kubeapi::k8s_openapi::ByteString;
use reqwest::{Url, header::HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;

use super::SigningKey;
use crate::names::key;

/// Where progress is reported to.
#[derive(Clone)]
pub struct Destination {
    pub(super) url: Url,
    pub(super) token: SecretString,
    pub(super) bearer: HeaderValue,
    pub(super) key: SigningKey,
    pub(super) ca: Option<String>,
    /// How the API calls the node.
    pub whose: Whose,
    /// A node is not touched while progress cannot be reported.
    pub required: bool,
}

/// How the API calls a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Whose {
    /// The node.
    #[serde(rename = "workerID", skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<String>,
    /// Its cluster.
    #[serde(rename = "clusterID", skip_serializing_if = "Option::is_none")]
    pub cluster_id: Option<String>,
    /// Where that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
}

impl Destination {
    /// From what a Secret holds; nothing where it names no API. What is wrong with it is one sentence, without any value.
    pub fn read(secret: &BTreeMap<String, ByteString>) -> Result<Option<Self>, String> {
        let required = match text(secret, key::PROGRESS_REQUIRED)?.as_deref() {
            None | Some("false") => false,
            Some("true") => true,
            Some(_) => return Err(format!("{} is neither true nor false", key::PROGRESS_REQUIRED)),
        };
        let Some(url) = text(secret, key::PROGRESS_URL)? else {
            let missing = format!("{} is true, and there is no {}", key::PROGRESS_REQUIRED, key::PROGRESS_URL);
            return if required { Err(missing) } else { Ok(None) };
        };
        let url = read_url(&url)?;
        let token = text(secret, key::PROGRESS_TOKEN)?
            .ok_or_else(|| format!("there is {} without {}", key::PROGRESS_URL, key::PROGRESS_TOKEN))?;
        let token = SecretString::from(token);
        let ca = text(secret, key::PROGRESS_CA)?;
        if let Some(ca) = &ca {
            tls::client(ca, None).map_err(|error| format!("{}: {}", key::PROGRESS_CA, explain::chain(&error)))?;
        }
        Ok(Some(Self {
            bearer: bearer(&token)?,
            key: SigningKey::new(&token)
                .ok_or_else(|| format!("{} begins with whsec_, and the rest is not base64", key::PROGRESS_TOKEN))?,
            url,
            token,
            ca,
            whose: Whose {
                worker_id: text(secret, key::WORKER)?,
                cluster_id: text(secret, key::CLUSTER)?,
                region: text(secret, key::REGION)?,
            },
            required,
        }))
    }
}

/// Only the address: a query may hold what others must not know.
impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Destination")
            .field("host", &self.url.host_str())
            .field("whose", &self.whose)
            .field("required", &self.required)
            .finish_non_exhaustive()
    }
}

/// A value without what an editor or `kubectl create secret --from-file` leaves at its end; an empty one is none.
fn text(secret: &BTreeMap<String, ByteString>, key: &str) -> Result<Option<String>, String> {
    let Some(ByteString(bytes)) = secret.get(key) else { return Ok(None) };
    let text = std::str::from_utf8(bytes).map_err(|_| format!("{key} is not text"))?.trim();
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

fn read_url(text: &str) -> Result<Url, String> {
    let name = key::PROGRESS_URL;
    let url = Url::parse(text).map_err(|error| format!("{name} is not a URL: {error}"))?;
    if url.scheme() != "https" {
        return Err(format!("{name} does not begin with https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(format!("{name} holds a user or a password: only {} is sent", key::PROGRESS_TOKEN));
    }
    Ok(url)
}

fn bearer(token: &SecretString) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret()))
        .map_err(|_| format!("{} has characters that no token has", key::PROGRESS_TOKEN))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "t0ken-of-w1";

    fn read(pairs: &[(&str, &str)]) -> Result<Option<Destination>, String> {
        let value = |text: &str| ByteString(text.as_bytes().to_vec());
        Destination::read(&pairs.iter().map(|(key, text)| ((*key).to_owned(), value(text))).collect())
    }

    #[test]
    fn what_is_wrong_with_a_secret_is_reported_without_its_values() {
        let url = ("progress-url", "https://progress.example/v1?key=hidden");
        let token = ("progress-token", TOKEN);
        let cases: [(&[(&str, &str)], &str); 15] = [
            (&[], "none"),
            (&[token], "none"),
            (&[("progress-url", " \n")], "none"),
            (&[("progress-required", "true")], "progress-required is true, and there is no progress-url"),
            (&[url, token, ("progress-required", "yes")], "progress-required is neither true nor false"),
            (&[url], "there is progress-url without progress-token"),
            (&[url, ("progress-token", "\n")], "there is progress-url without progress-token"),
            (&[url, ("progress-token", "a\u{1}b")], "progress-token has characters that no token has"),
            (&[url, ("progress-token", "whsec_!")], "progress-token begins with whsec_, and the rest is not base64"),
            (&[("progress-url", "example/v1"), token], "progress-url is not a URL: relative URL without a base"),
            (&[("progress-url", "http://127.0.0.1/"), token], "progress-url does not begin with https://"),
            (
                &[("progress-url", "https://me:hidden@a.example/"), token],
                "progress-url holds a user or a password: only progress-token is sent",
            ),
            (&[url, token, ("progress-ca.crt", "x")], "progress-ca.crt: the CA is not a readable PEM certificate"),
            (
                &[url, ("progress-token", "t0ken-of-w1\n"), ("region", "eu-de"), ("progress-required", "true")],
                r#"Destination { host: Some("progress.example"), whose: Whose { worker_id: None, cluster_id: None, region: Some("eu-de") }, required: true, .. }"#,
            ),
            (
                &[url, token, ("worker-id", "w"), ("cluster-id", "c")],
                r#"Destination { host: Some("progress.example"), whose: Whose { worker_id: Some("w"), cluster_id: Some("c"), region: None }, required: false, .. }"#,
            ),
        ];
        for (pairs, expected) in cases {
            let seen = match read(pairs) {
                Ok(None) => "none".to_owned(),
                Ok(Some(destination)) => {
                    assert_eq!(destination.token.expose_secret(), TOKEN, "without its new line");
                    assert!(!format!("{:?} {:?}", destination.bearer, destination.token).contains(TOKEN));
                    format!("{destination:?}")
                }
                Err(error) => error,
            };
            assert_eq!(seen, expected);
        }
        let binary = [("progress-url".to_owned(), ByteString(vec![0xff]))].into();
        assert_eq!(Destination::read(&binary).unwrap_err(), "progress-url is not text");
    }
}
