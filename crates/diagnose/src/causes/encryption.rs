//! The key that encrypts Secrets in etcd: whether it is still the one with which they were written.

use std::path::Path;

use kubeapi::{k8s_openapi::api::core::v1::Secret, kube::Api};

use playbooks::cluster::ids;

use crate::{
    Context, Finding, Look, Part, Roles,
    codes::{ENCRYPTION_CHANGED, ENCRYPTION_KEY},
    finding::CouldNotLook,
    look::Looking,
    view::Unread,
};

/// See [`super`].
pub(crate) const LOOK: Look = Look {
    name: "encryption",
    about: "whether Secrets can be decrypted",
    codes: &[ENCRYPTION_KEY, ENCRYPTION_CHANGED],
    roles: Roles::Masters,
    look,
};

/// Whoever exchanges the key loses all Secrets: a few of them will do.
const TRIED: u32 = 5;

/// Where the API server keeps them; namespace and name follow.
const SECRETS: &str = "/registry/secrets/";

fn look<'a>(context: &'a Context<'a>) -> Looking<'a> {
    Box::pin(async move {
        if !context.was_done(ids::ENCRYPTION_KEY).await? {
            return Ok(Vec::new());
        }
        let path = context.layout.kubernetes_dir.join("encryption.yaml");
        let Some(config) = context.text(&path)? else {
            let evidence = format!("{} is not there", path.display());
            return Ok(vec![Finding::cause(ENCRYPTION_KEY, Part::ApiServer, evidence)]);
        };
        let sealed = context.text(context.layout.config_dir.join(join::seal::layout::ENCRYPTION_KEY))?;
        let is_changed = sealed.is_some_and(|key| !config.contains(key.trim()));
        let read = read_some(context).await?;
        match judge(&path, is_changed, &read) {
            Some(finding) => Ok(vec![finding]),
            None => read.map(|()| Vec::new()).map_err(CouldNotLook::from),
        }
    })
}

/// Has the API server read some Secrets. They are named by etcd, because a list comes from the server's memory, and one
/// that cannot decrypt never fills it. Only metadata is asked for: no secret comes here.
async fn read_some(context: &Context<'_>) -> Result<Result<(), Unread>, CouldNotLook> {
    let etcd = context.etcd_access()?.own();
    let keys = etcd.keys(SECRETS, TRIED).await.map_err(|_| CouldNotLook("etcd does not answer".to_owned()))?;
    let objects = context.objects().await?;
    for (namespace, name) in keys.iter().filter_map(|key| key.strip_prefix(SECRETS)?.split_once('/')) {
        let read = async |client| Api::<Secret>::namespaced(client, namespace).get_metadata_opt(name).await;
        if let Err(unread) = objects.ask(&format!("read Secret {namespace}/{name}"), read).await {
            return Ok(Err(unread));
        }
    }
    Ok(Ok(()))
}

/// What an API server says of a Secret that it cannot decrypt: one of these, depending on the kind of encryption. The
/// second is what a wrong key of the kind that we use comes to.
const UNDECIPHERED: &[&str] = &["unable to transform key", "not large enough for encryption", "no matching", "decrypt"];

fn judge(path: &Path, is_changed: bool, read: &Result<(), Unread>) -> Option<Finding> {
    let path = path.display();
    match read {
        Err(Unread::Other(why)) if UNDECIPHERED.iter().any(|words| why.contains(words)) => {
            let changed = if is_changed {
                format!("; {path} does not hold the key of the sealed directory")
            } else {
                String::new()
            };
            Some(Finding::cause(ENCRYPTION_KEY, Part::ApiServer, format!("{why}{changed}")))
        }
        Ok(()) if is_changed => {
            let evidence = format!("{path} does not hold the key of the sealed directory, and Secrets can be read");
            Some(Finding::warning(ENCRYPTION_CHANGED, Part::ApiServer, evidence))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_key_is_a_cause_only_where_secrets_are_lost() {
        // As a real API server says it of a secretbox and of AES.
        let lost = |words: &str| {
            Err(Unread::Other(format!("cannot read Secret default/a: 500 Internal error occurred: {words}")))
        };
        let secretbox = || lost("output array was not large enough for encryption");
        let aes = || lost("unable to transform key \"/registry/secrets/default/a\"");
        let away = || Err(Unread::Other("no answer".into()));
        for (is_changed, read, expected) in [
            (false, Ok(()), None),
            (true, Ok(()), Some(ENCRYPTION_CHANGED)),
            (true, secretbox(), Some(ENCRYPTION_KEY)),
            (false, aes(), Some(ENCRYPTION_KEY)),
            (true, away(), None),
        ] {
            let told = judge(Path::new("/etc/kubernetes/encryption.yaml"), is_changed, &read);
            assert_eq!(told.map(|finding| finding.code), expected, "{is_changed} {read:?}");
        }
    }
}
