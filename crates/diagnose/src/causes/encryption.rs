//! What encrypts Secrets in etcd: whether the key is still the one with which they were written, and the KMS answers.

use std::{path::Path, time::Duration};

use kubeapi::{k8s_openapi::api::core::v1::Secret, kube::Api};
use render::{Encryption, EncryptionProvider};
use spec::Kms;
use tokio::{net::UnixStream, time::timeout};

use playbooks::cluster::ids;

use crate::{
    Check, Checking, Context, Finding, Inconclusive, Part, Roles,
    codes::{ENCRYPTION_CHANGED, ENCRYPTION_KEY, KMS_DIFFERS, KMS_SILENT},
    view::Unread,
};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "encryption",
    "whether Secrets can be decrypted",
    &[ENCRYPTION_KEY, ENCRYPTION_CHANGED, KMS_SILENT, KMS_DIFFERS],
    check,
)
.only(Roles::Masters);

/// With another key all Secrets are lost: a few of them will do.
const TRIED: u32 = 5;

/// A plugin of this machine accepts at once or not at all.
const LIMIT: Duration = Duration::from_secs(2);

/// Where the API server keeps them; namespace and name follow.
const SECRETS: &str = "/registry/secrets/";

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if !context.was_done(ids::ENCRYPTION_KEY).await? {
            return Ok(Vec::new());
        }
        let path = context.layout.kubernetes_dir.join("encryption.yaml");
        let Some(config) = context.text(&path)? else {
            let evidence = format!("{} is not there", path.display());
            return Ok(vec![Finding::cause(ENCRYPTION_KEY, Part::ApiServer, evidence)]);
        };
        let encryption = Encryption::parse(&config);
        if let Some(silent) = silent_kms(encryption.as_ref()).await {
            return Ok(vec![silent]);
        }
        let differs = encryption.as_ref().and_then(|encryption| kms_differs(encryption.kms(), context.cluster.kms()));
        let sealed = context.text(context.layout.config_dir.join(join::seal::layout::ENCRYPTION_KEY))?;
        let is_changed = sealed.is_some_and(|key| !config.contains(key.trim()));
        let read = read_some(context).await?;
        match evaluate(&path, is_changed, &read) {
            Some(finding) => Ok(differs.into_iter().chain([finding]).collect()),
            None => read.map(|()| differs.into_iter().collect()).map_err(Inconclusive::from),
        }
    })
}

/// The first KMS in use whose plugin accepts no connection.
async fn silent_kms(encryption: Option<&Encryption>) -> Option<Finding> {
    for provider in encryption.into_iter().flat_map(|encryption| &encryption.providers) {
        let EncryptionProvider::Kms(kms) = provider else { continue };
        let why = match timeout(LIMIT, UnixStream::connect(&kms.socket)).await {
            Ok(Ok(_)) => continue,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no answer".to_owned(),
        };
        let evidence = format!("{} (KMS `{}`): {why}", kms.socket.display(), kms.name);
        return Some(Finding::cause(KMS_SILENT, Part::ApiServer, evidence));
    }
    None
}

/// cluster.yaml was changed, and no rotation has followed.
fn kms_differs(used: Option<&Kms>, wanted: Option<&Kms>) -> Option<Finding> {
    if used == wanted {
        return None;
    }
    let name =
        |kms: Option<&Kms>| kms.map_or_else(|| "a key of the masters".to_owned(), |kms| format!("KMS `{}`", kms.name));
    let evidence = format!("{} encrypts; cluster.yaml wants {}", name(used), name(wanted));
    Some(Finding::warning(KMS_DIFFERS, Part::ApiServer, evidence))
}

/// Has the API server read some Secrets. They are named by etcd, because a list comes from the server's memory, and one
/// that cannot decrypt never fills it. Only metadata is asked for: no secret comes here.
async fn read_some(context: &Context) -> Result<Result<(), Unread>, Inconclusive> {
    let etcd = context.etcd_access()?.own();
    let keys = etcd.keys(SECRETS, TRIED).await.map_err(|_| Inconclusive("etcd does not answer".to_owned()))?;
    let objects = context.objects().await?;
    for (namespace, name) in keys.iter().filter_map(|key| key.strip_prefix(SECRETS)?.split_once('/')) {
        let read = async |client| Api::<Secret>::namespaced(client, namespace).get_metadata_opt(name).await;
        if let Err(unread) = objects.ask(&format!("read Secret {namespace}/{name}"), read).await {
            return Ok(Err(unread));
        }
    }
    Ok(Ok(()))
}

/// What an API server answers for a Secret that it cannot decrypt: one of these, depending on the kind of encryption. The
/// second is what a wrong key of the kind that we use comes to.
const UNDECIPHERED: &[&str] = &["unable to transform key", "not large enough for encryption", "no matching", "decrypt"];

fn evaluate(path: &Path, is_changed: bool, read: &Result<(), Unread>) -> Option<Finding> {
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
    fn a_kms_that_cluster_yaml_does_not_name_is_a_warning() {
        let kms =
            |name: &str| Kms { name: name.to_owned(), socket: "/run/kms.sock".into(), timeout: Duration::from_secs(3) };
        let (a, b) = (kms("a"), kms("b"));
        for (used, wanted, expected) in [
            (None, None, None),
            (Some(&a), Some(&a), None),
            (None, Some(&a), Some("a key of the masters encrypts; cluster.yaml wants KMS `a`")),
            (Some(&a), None, Some("KMS `a` encrypts; cluster.yaml wants a key of the masters")),
            (Some(&a), Some(&b), Some("KMS `a` encrypts; cluster.yaml wants KMS `b`")),
        ] {
            let found = kms_differs(used, wanted);
            assert_eq!(found.as_ref().map(|found| found.evidence.as_str()), expected);
        }
    }

    #[tokio::test]
    async fn a_plugin_that_does_not_listen_is_a_cause() {
        let socket = std::env::temp_dir().join(format!("blackstart-kms-{}.sock", std::process::id()));
        let kms = Kms { name: "vault".into(), socket: socket.clone(), timeout: Duration::from_secs(3) };
        let encryption = Encryption::first("b2xk", Some(&kms));
        assert_eq!(silent_kms(Some(&encryption)).await.and_then(|found| found.code), Some(KMS_SILENT));
        let listening = tokio::net::UnixListener::bind(&socket).unwrap();
        assert!(silent_kms(Some(&encryption)).await.is_none());
        drop(listening);
        std::fs::remove_file(&socket).unwrap();
        assert!(silent_kms(Some(&Encryption::first("b2xk", None))).await.is_none());
    }

    #[test]
    fn a_changed_key_is_a_cause_only_where_secrets_are_lost() {
        // As a real API server answers for a secretbox and for AES.
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
            let reported = evaluate(Path::new("/etc/kubernetes/encryption.yaml"), is_changed, &read);
            assert_eq!(reported.and_then(|finding| finding.code), expected, "{is_changed} {read:?}");
        }
    }
}
