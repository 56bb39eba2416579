//! Asks a registry for a manifest.

use std::time::Duration;

use explain::chain;
use reqwest::{
    Method, RequestBuilder, Response, StatusCode,
    header::{ACCEPT, AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE},
};
use serde::Deserialize;

use super::{Credentials, challenge::Challenge};
use crate::drivers::rhcos::images::Image;

const WITHIN: Duration = Duration::from_secs(20);
const MANIFESTS: &str = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, \
                         application/vnd.docker.distribution.manifest.list.v2+json, \
                         application/vnd.docker.distribution.manifest.v2+json";
/// A token is some kilobytes.
const MOST: usize = 1 << 20;

/// What a registry says to one image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Reply {
    /// It would give it.
    Has,
    /// It does not have it.
    Lacks,
    /// It does not give it to us.
    Denies(String),
    /// It was not reached, or is not who it should be, or says something else.
    Silent(String),
}

/// Asks as a node would.
pub(in super::super) struct Client {
    http: reqwest::Client,
}

#[derive(Deserialize)]
struct Issued {
    token: Option<String>,
    access_token: Option<String>,
}

impl Client {
    /// One that believes these CAs; the error says why there is none.
    pub(in super::super) fn new(roots: &str) -> Result<Self, String> {
        tls::client(roots, None).map(|http| Self { http }).map_err(|error| chain(&error))
    }

    /// Whether it would give the image to these.
    pub(in super::super) async fn ask(&self, image: &Image, credentials: &Credentials) -> Reply {
        self.try_ask(image, credentials).await.unwrap_or_else(|reply| reply)
    }

    async fn try_ask(&self, image: &Image, credentials: &Credentials) -> Result<Reply, Reply> {
        let basic = credentials.basic(&image.registry, &image.repository);
        let first = self.head(image, None).await?;
        if first.status() != StatusCode::UNAUTHORIZED {
            return Ok(reply(first.status(), credentials));
        }
        let headers = first.headers().get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let authorization = match Challenge::parse(headers) {
            Some(Challenge::Basic) => basic.ok_or_else(|| denied("it wants a name and a password", credentials))?,
            Some(Challenge::Bearer { realm, query }) => {
                self.token(&realm, &query, basic.as_deref(), credentials).await?
            }
            None => return Err(Reply::Denies("it wants something that is neither a password nor a token".to_owned())),
        };
        Ok(reply(self.head(image, Some(&authorization)).await?.status(), credentials))
    }

    async fn head(&self, image: &Image, authorization: Option<&str>) -> Result<Response, Reply> {
        let Image { registry, repository, digest } = image;
        let url = format!("https://{registry}/v2/{repository}/manifests/{digest}");
        send(with(self.http.request(Method::HEAD, url).header(ACCEPT, MANIFESTS), authorization)?).await
    }

    async fn token(
        &self,
        realm: &str,
        query: &[(String, String)],
        basic: Option<&str>,
        credentials: &Credentials,
    ) -> Result<String, Reply> {
        let bad = |why: &str| Reply::Silent(format!("its token service {why}"));
        let mut url = reqwest::Url::parse(realm).map_err(|_| bad("has no usable address"))?;
        if url.scheme() != "https" {
            return Err(bad("is not reached by https, so it gets no password"));
        }
        url.query_pairs_mut().extend_pairs(query);
        let mut answer = send(with(self.http.get(url), basic)?).await?;
        match answer.status() {
            StatusCode::OK => {}
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                return Err(denied("its token service refuses the credentials", credentials));
            }
            status => return Err(bad(&format!("answers {}", status.as_u16()))),
        }
        let mut body = Vec::new();
        while let Some(part) = answer.chunk().await.map_err(|error| Reply::Silent(chain(&error.without_url())))? {
            if body.len() + part.len() > MOST {
                return Err(bad("sends too much"));
            }
            body.extend_from_slice(&part);
        }
        let issued: Issued = serde_json::from_slice(&body).map_err(|_| bad("sends no token"))?;
        let token = issued.token.or(issued.access_token).ok_or_else(|| bad("sends no token"))?;
        Ok(format!("Bearer {token}"))
    }
}

fn with(request: RequestBuilder, authorization: Option<&str>) -> Result<RequestBuilder, Reply> {
    let Some(text) = authorization else { return Ok(request) };
    let unusable = |_| Reply::Denies("the credentials have characters that no header can have".to_owned());
    let mut value = HeaderValue::from_str(text).map_err(unusable)?;
    value.set_sensitive(true);
    Ok(request.header(AUTHORIZATION, value))
}

async fn send(request: RequestBuilder) -> Result<Response, Reply> {
    request.timeout(WITHIN).send().await.map_err(|error| Reply::Silent(chain(&error.without_url())))
}

fn reply(status: StatusCode, credentials: &Credentials) -> Reply {
    match status.as_u16() {
        // Some lead to where the bytes are.
        200 | 307 | 308 => Reply::Has,
        404 => Reply::Lacks,
        401 | 403 => denied(&format!("it answers {}", status.as_u16()), credentials),
        other => Reply::Silent(format!("it answers {other}")),
    }
}

fn denied(why: &str, credentials: &Credentials) -> Reply {
    Reply::Denies(format!("{why} (credentials from {})", credentials.from()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Secret, drivers::rhcos::server::Server, drivers::rhcos::testing::Machine};

    #[test]
    fn what_an_answer_means() {
        let nobody = Credentials::default();
        for (status, expected) in [(200, Reply::Has), (307, Reply::Has), (404, Reply::Lacks)] {
            assert_eq!(reply(StatusCode::from_u16(status).unwrap(), &nobody), expected);
        }
        assert!(matches!(reply(StatusCode::FORBIDDEN, &nobody), Reply::Denies(_)));
        assert!(matches!(reply(StatusCode::BAD_GATEWAY, &nobody), Reply::Silent(_)));
    }

    /// The credentials of a user, as a pull secret of the Secret has them.
    fn credentials(registry: &str, user: &str) -> Credentials {
        let text = format!(r#"{{"auths": {{"{registry}": {{"username": "{user}", "password": "hunter2"}}}}}}"#);
        let secret = Secret::new([("pull-secret".to_owned(), text)].into());
        Credentials::find(&[], &secret, &*Machine::default().host().disk).unwrap()
    }

    #[tokio::test]
    async fn a_registry_is_asked_as_podman_asks() {
        let server = Server::start().await;
        let registry = server.address.as_str();
        let client = Client::new(&server.ca).unwrap();
        let mut text = String::new();
        for (repository, user) in [
            ("open/os", "nobody"),
            ("basic/os", "core"),
            ("basic/os", "stranger"),
            ("bearer/os", "core"),
            ("bearer/os", "stranger"),
            ("odd/os", "core"),
            ("none/os", "core"),
        ] {
            let image = Image::parse(&format!("{registry}/{repository}@sha256:{}", "1".repeat(64))).unwrap();
            let reply = client.ask(&image, &credentials(registry, user)).await;
            text += &format!("{repository} as {user}: {reply:?}\n");
        }
        let image = Image::parse(&format!("{registry}/open/os@sha256:{}", "1".repeat(64))).unwrap();
        let stranger = Client::new(&Server::start().await.ca).unwrap().ask(&image, &Credentials::default()).await;
        assert!(matches!(&stranger, Reply::Silent(why) if why.contains("certificate")), "{stranger:?}");
        insta::assert_snapshot!(text);
    }
}
