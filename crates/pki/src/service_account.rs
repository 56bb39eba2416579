//! The key pair that signs service account tokens. Replacing it ends every token, so that is only done by a rotation
//! (`rotation.rs`), while which `sa.pub` holds the public keys of both.

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use host::Change;
use rcgen::PublicKeyData;

use crate::{PkiError, Shared, existing::Existing, key, table::SERVICE_ACCOUNT, write};

/// What has to be written for the pair to be there. The key comes first: from it the public one can be made again.
pub(crate) fn complete(existing: &Existing, shared: Shared) -> Result<Vec<Change>, PkiError> {
    let key_path = existing.path(SERVICE_ACCOUNT.key);
    let public_path = existing.path(SERVICE_ACCOUNT.public);
    let key = existing.parse(SERVICE_ACCOUNT.key, key::from_pem)?;
    let publics = existing.parse(SERVICE_ACCOUNT.public, key::publics_from_pem)?;
    match (key, publics) {
        (Some(key), Some(publics)) if publics.iter().any(|one| key.public_key_raw() == one) => Ok(Vec::new()),
        (Some(_), Some(_)) => Err(PkiError::KeyMismatch { key: key_path, other: public_path }),
        (Some(key), None) => Ok(vec![write::public(public_path, key.public_key_pem())]),
        (None, None) if shared == Shared::Make => {
            let key =
                key::generate().map_err(|error| PkiError::Issue { path: key_path.clone(), source: error.into() })?;
            Ok(vec![write::secret(key_path, key.serialize_pem()), write::public(public_path, key.public_key_pem())])
        }
        (None, _) => Err(PkiError::MayNotMake { missing: vec![key_path] }),
    }
}

/// The `kid` in the header of every token that this key (`sa.key`, PEM) signs: Kubernetes takes SHA-256 of the public key.
pub fn token_key_id(key_pem: &[u8]) -> Option<String> {
    let key = key::from_pem(key_pem).ok()?;
    Some(BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, &key.subject_public_key_info())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_the_hash_of_the_public_key() {
        let key = key::generate().unwrap();
        let public = key.public_key_pem();
        let body: String = public.lines().filter(|line| !line.starts_with('-')).collect();
        let der = base64::prelude::BASE64_STANDARD.decode(body).unwrap();
        let expected = BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, &der));
        assert_eq!(token_key_id(key.serialize_pem().as_bytes()), Some(expected));
        assert_eq!(token_key_id(b"no key"), None);
    }
}
