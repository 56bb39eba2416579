//! What a rotation does to Secrets, once every API server works with the new keys.
//!
//! Nothing is remembered of what was done: etcd shows which key a Secret was encrypted with, and a token shows which key
//! has signed it. So it can be interrupted anywhere, and that nothing is left is its proof.

use agent::key_of_token;
use etcd::Etcd;
use futures::{StreamExt, stream};
use kubeapi::{
    Client,
    k8s_openapi::api::core::v1::Secret,
    kube::{
        Api, Error, ResourceExt,
        api::{ListParams, Patch, PatchParams, PostParams},
    },
};
use render::EncryptionProvider;
use serde_json::json;

use crate::{Failure, codes};

/// Where the API server keeps Secrets; namespace and name follow.
const SECRETS: &str = "/registry/secrets/";
/// A Secret may have a megabyte.
const PAGE: u32 = 50;
/// At the same time.
const WRITERS: usize = 8;
/// Another client may write the same Secret at the same moment; it then has the new key already, or is tried again.
const PASSES: usize = 5;

/// No value begins with it.
const NO_PREFIX: &str = "\0";

const TOKENS: &str = "type=kubernetes.io/service-account-token";

/// Writes every Secret again that another provider encrypted, until there is none; returns how many that were.
///
/// A KMS has keys of its own, and only the API server knows which one is current. So with a KMS every Secret is written once,
/// and the API server skips what is encrypted with the current key.
pub(super) async fn encrypt(
    etcd: &Etcd,
    client: &Client,
    provider: &EncryptionProvider,
    say: &dyn Fn(&str),
) -> Result<usize, Failure> {
    let prefix = &provider.prefix();
    let (mut written, mut failure) = (0, None);
    for pass in 0..PASSES {
        let writes_all = pass == 0 && matches!(provider, EncryptionProvider::Kms(_));
        let left = if writes_all {
            encrypted_otherwise(etcd, NO_PREFIX).await?
        } else {
            encrypted_otherwise(etcd, prefix).await?
        };
        if left.is_empty() {
            return Ok(written);
        }
        let total = left.len();
        let mut writing = stream::iter(left).map(|key| write_again(client, key)).buffer_unordered(WRITERS);
        let mut done = 0;
        while let Some(outcome) = writing.next().await {
            match outcome {
                Ok(()) => done += 1,
                Err(why) => failure = Some(why),
            }
            say(&format!("{done} of {total} Secrets"));
        }
        written += done;
    }
    let left = encrypted_otherwise(etcd, prefix).await?;
    match left.first() {
        None => Ok(written),
        Some(first) => {
            let first = first.strip_prefix(SECRETS).unwrap_or(first);
            let why = failure.unwrap_or_else(|| "another client keeps writing it".to_owned());
            let message = format!("{} of the old key are left, {first} for example: {why}", left.len());
            Err(Failure::new(codes::NOT_ENCRYPTED, message))
        }
    }
}

/// The keys in etcd of Secrets that do not begin with this.
async fn encrypted_otherwise(etcd: &Etcd, prefix: &str) -> Result<Vec<String>, Failure> {
    let (mut found, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = etcd.values(SECRETS, after.as_deref(), PAGE).await?;
        let Some((last, _)) = page.last() else { return Ok(found) };
        after = Some(last.clone());
        let is_other = |(_, value): &(String, Vec<u8>)| !value.starts_with(prefix.as_bytes());
        found.extend(page.into_iter().filter(is_other).map(|(key, _)| key));
    }
}

/// The API server writes what is unchanged only if another key would encrypt it now, which is so here.
async fn write_again(client: &Client, key: String) -> Result<(), String> {
    let Some((namespace, name)) = key.strip_prefix(SECRETS).and_then(|rest| rest.split_once('/')) else {
        return Err(format!("{key} is not the key of a Secret"));
    };
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let written = async {
        let Some(secret) = secrets.get_opt(name).await? else { return Ok(()) };
        secrets.replace(name, &PostParams::default(), &secret).await.map(drop)
    };
    match written.await {
        // Gone, or just written by another client: the next check shows it.
        Err(Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        written => written.map_err(|error| error.to_string()),
    }
}

/// Secrets with a token of another key lose it, and the controller manager makes a new one. Those that wait for theirs.
pub(super) async fn renew_tokens(client: &Client, key: &str) -> Result<Vec<String>, Failure> {
    let failed = |error: Error| Failure::new(agent::codes::API, format!("cannot renew tokens in Secrets: {error}"));
    let all: Api<Secret> = Api::all(client.clone());
    let mut waiting = Vec::new();
    for secret in all.list(&ListParams::default().fields(TOKENS)).await.map_err(failed)? {
        let token = secret.data.as_ref().and_then(|data| data.get("token"));
        let signer = token.map(|token| key_of_token(&String::from_utf8_lossy(&token.0)));
        if signer.as_ref().is_some_and(|signer| signer.as_deref() == Some(key)) {
            continue;
        }
        let (namespace, name) = (secret.namespace().unwrap_or_default(), secret.name_any());
        if signer.is_some() {
            let secrets: Api<Secret> = Api::namespaced(client.clone(), &namespace);
            let patch = Patch::Merge(json!({ "data": { "token": null } }));
            match secrets.patch(&name, &PatchParams::default(), &patch).await {
                Err(Error::Api(status)) if status.code == 404 => continue,
                patched => drop(patched.map_err(failed)?),
            }
        }
        waiting.push(format!("the token in Secret {namespace}/{name}"));
    }
    Ok(waiting)
}
