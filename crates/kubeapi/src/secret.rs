//! A Secret that several may write at the same moment, and on which all agree afterwards.

use std::collections::BTreeMap;

use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::{
    Api, Client,
    api::{ObjectMeta, PostParams},
};

use crate::{ApiError, FIELD_MANAGER};

/// How often another writer may be faster before that is an error.
const ROUNDS: usize = 10;

/// What a Secret holds, as text.
pub type SecretData = BTreeMap<String, String>;

/// Why there is no agreement.
#[derive(Debug, thiserror::Error)]
pub enum ReconcileError<E> {
    /// The API refused, or did not answer.
    #[error(transparent)]
    Api(ApiError),
    /// What is there is not what it can be.
    #[error(transparent)]
    Content(E),
}

/// Reads a Secret and lets `change` say what it should hold instead, until it has nothing to say; `None` stands for a Secret
/// that is not there. No writer overwrites what it has not read: the first writer wins, and the others read again.
pub async fn reconcile_secret<E>(
    client: &Client,
    (namespace, name): (&str, &str),
    change: impl Fn(Option<&SecretData>) -> Result<Option<SecretData>, E>,
) -> Result<SecretData, ReconcileError<E>> {
    let api: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
    for _ in 0..ROUNDS {
        let read = api.get_opt(name).await;
        let found =
            read.map_err(|error| ReconcileError::Api(ApiError::of(format!("read Secret {namespace}/{name}"))(error)))?;
        let data = found.as_ref().map(text);
        let Some(wanted) = change(data.as_ref()).map_err(ReconcileError::Content)? else {
            return Ok(data.unwrap_or_default());
        };
        let written = match found {
            None => api.create(&params, &new(namespace, name, wanted.clone())).await,
            Some(mut found) => {
                found.data = Some(bytes(wanted.clone()));
                // It carries the version that was read, so a change in between is a conflict.
                api.replace(name, &params, &found).await
            }
        };
        match written {
            Ok(_) => return Ok(wanted),
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            Err(error) => {
                return Err(ReconcileError::Api(ApiError::of(format!("write Secret {namespace}/{name}"))(error)));
            }
        }
    }
    let doing = format!("write Secret {namespace}/{name}");
    let message = "another client keeps writing it".to_owned();
    Err(ReconcileError::Api(ApiError::Refused { doing, status: 409, message }))
}

fn text(secret: &Secret) -> SecretData {
    let data = secret.data.iter().flatten();
    data.map(|(name, value)| (name.clone(), String::from_utf8_lossy(&value.0).into_owned())).collect()
}

fn bytes(data: SecretData) -> BTreeMap<String, ByteString> {
    data.into_iter().map(|(name, text)| (name, ByteString(text.into_bytes()))).collect()
}

fn new(namespace: &str, name: &str, data: SecretData) -> Secret {
    let metadata =
        ObjectMeta { namespace: Some(namespace.to_owned()), name: Some(name.to_owned()), ..ObjectMeta::default() };
    Secret { metadata, data: Some(bytes(data)), ..Secret::default() }
}
