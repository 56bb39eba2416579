//! What comes after the last stage: a backup for the new key, tokens that no node is to join with any more, and what is left
//! for the operator to do.

use std::path::{Path, PathBuf};

use agent::rotation::{Subject, Subjects};
use backup::{Source, store};
use etcd::Access;
use kubeapi::{
    Client,
    k8s_openapi::api::core::v1::Secret,
    kube::{
        Api, Error, ResourceExt,
        api::{DeleteParams, ListParams},
    },
};
use pki::Stage;
use spec::{Node, ValidatedCluster};

use crate::{Failure, commands::etcd::any_member, context::Context};

/// Every bootstrap token goes; how many that were.
pub(super) async fn revoke_tokens(client: &Client) -> Result<usize, Failure> {
    let failed = |error: Error| Failure::new(kubeapi::codes::REFUSED, format!("cannot revoke the tokens: {error}"));
    let secrets: Api<Secret> = Api::namespaced(client.clone(), "kube-system");
    let tokens = ListParams::default().fields("type=bootstrap.kubernetes.io/token");
    let mut revoked = 0;
    for token in secrets.list(&tokens).await.map_err(failed)? {
        match secrets.delete(&token.name_any(), &DeleteParams::default()).await {
            Err(Error::Api(status)) if status.code == 404 => {}
            gone => {
                gone.map_err(failed)?;
                revoked += 1;
            }
        }
    }
    Ok(revoked)
}

/// A backup beside the automatic ones, for the key that counts from now on.
pub(super) async fn back_up(context: &Context, cluster: &ValidatedCluster, node: &Node) -> Result<PathBuf, Failure> {
    let (host, layout) = (&context.host, &context.layout);
    let key = store::key(&*host.disk, &layout.config_dir, &layout.kubernetes_dir)?;
    let access = Access::read(&*host.disk, &layout.kubernetes_dir)?;
    let (etcd, _) = any_member(&access, cluster, node).await?;
    let dir = Path::new(store::DIR);
    store::prepare(dir)?;
    let source = Source {
        host,
        config_dir: &layout.config_dir,
        kubernetes_dir: &layout.kubernetes_dir,
        etcd: &etcd,
        cluster: cluster.name(),
        node: &node.name,
    };
    let path = dir.join(store::file_name(cluster.name(), &node.name, host.clock.now()));
    Ok(backup::create(&source, &key, &path, &|_| {}).await?.path)
}

/// What is left to do, or why it was halted.
pub(super) fn words(subjects: &Subjects, all: bool, last: Stage) -> String {
    let lines: &[(Stage, Subject, &str)] = &[
        (Stage::Trust, Subject::Ca, "restart pods that read the cluster's CA only when they start"),
        (Stage::Sign, Subject::Ca, "copy admin.conf again to where it is used outside of the cluster"),
        (Stage::Sign, Subject::ServiceAccount, "restart pods that read their token only when they start"),
        (Stage::Drop, Subject::Ca, "copy admin.conf to where it is used outside of the cluster"),
        (
            Stage::Drop,
            Subject::Join,
            "take /etc/cluster-config of the first master over its sealed directory and run `blackstart config seal` again: \
             directories of nodes to come are of the old keys",
        ),
        (
            Stage::Drop,
            Subject::Join,
            "keep the old join.key as long as backups made for it are kept: they do not open with the new one",
        ),
        (
            Stage::Drop,
            Subject::Backup,
            "copy /etc/cluster-config/backup.key to where you keep it, and keep the old one as long as its backups",
        ),
    ];
    let mut text = match last {
        Stage::Trust | Stage::Sign => {
            let typed = if all { "--all".to_owned() } else { Subject::list(subjects) };
            format!("halted; run `blackstart pki rotate {typed}` again when you have done this:\n")
        }
        Stage::Drop => format!("the cluster works with its new keys only: {}\n", Subject::list(subjects)),
    };
    for (_, _, line) in lines.iter().filter(|(stage, subject, _)| *stage == last && subjects.contains(subject)) {
        text += &format!("- {line}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_to_do_is_reported_once_for_each_subject() {
        let texts = |subjects: &[Subject]| {
            let subjects: Subjects = subjects.iter().copied().collect();
            Stage::ALL.map(|stage| words(&subjects, subjects.len() == Subject::ALL.len(), stage)).join("\n")
        };
        insta::assert_snapshot!(texts(&Subject::ALL));
        assert_eq!(texts(&[Subject::Encryption]).matches("\n- ").count(), 0);
    }
}
