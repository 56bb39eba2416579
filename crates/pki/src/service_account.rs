//! The key pair that signs service account tokens. Replacing it would end every token, so it never is.

use host::Change;

use crate::{PkiError, Shared, existing::Existing, key, table::SERVICE_ACCOUNT, write};

/// What has to be written for the pair to be there. The key comes first: from it the public one can be made again.
pub(crate) fn settle(existing: &Existing, shared: Shared) -> Result<Vec<Change>, PkiError> {
    let key_path = existing.path(SERVICE_ACCOUNT.key);
    let public_path = existing.path(SERVICE_ACCOUNT.public);
    let key = existing.parse(SERVICE_ACCOUNT.key, key::from_pem)?;
    let public = existing.parse(SERVICE_ACCOUNT.public, key::public_from_pem)?;
    match (key, public) {
        (Some(key), Some(public)) if key.public_key_raw() == public => Ok(Vec::new()),
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
