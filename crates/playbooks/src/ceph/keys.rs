//! The keys that this node's roles need are on this machine, and only these.
//!
//! The file that names the cluster is written last: with it, everything is there. What is there is never asked for again.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use ::ceph::{Entity, Handed, Key, keyring_text, owned, paths};
use engine::{About, Act, Notes, Planned, Step, StepError, Undo};
use host::{Change, Content, Disk, Host, HostError};
use spec::{Node, Role};

use super::{
    daemon::Kind,
    foreign, ids,
    source::Source,
    undo::{Daemons, remove_all},
};
use nodekit::cleanup::tree::Own;

const ASK: &str = "ask";
const OWN: &str = "own";

/// Keyrings, and the file that names the cluster.
pub(crate) struct Keys {
    node: Node,
    source: Arc<Source>,
}

/// What was found.
pub(crate) struct Seen {
    /// What daemons will make and is not there yet.
    claims: Vec<Planned>,
    is_complete: bool,
    /// What the daemons cannot read.
    not_theirs: Vec<PathBuf>,
}

impl Keys {
    pub(crate) fn new(node: &Node, source: &Arc<Source>) -> Self {
        Self { node: node.clone(), source: source.clone() }
    }

    fn manager_dir(&self) -> Option<PathBuf> {
        self.node.has(Role::CephMgr).then(|| paths::mgr(&self.node.name))
    }

    /// Whose key goes where.
    fn keyrings(&self) -> Vec<(Entity, PathBuf)> {
        let mut keyrings = Vec::new();
        if self.node.has(Role::CephMon) {
            keyrings.push((Entity::Admin, paths::ADMIN_KEYRING.into()));
        }
        if self.node.has(Role::CephOsd) {
            keyrings.push((Entity::BootstrapOsd, paths::BOOTSTRAP_OSD_KEYRING.into()));
        }
        let of_manager = |dir: PathBuf| (Entity::Mgr(self.node.name.clone()), dir.join("keyring"));
        keyrings.extend(self.manager_dir().map(of_manager));
        keyrings
    }

    fn changes(&self, handed: &Handed) -> Result<Vec<Change>, StepError> {
        let secret = |path: PathBuf, entity: &Entity, key: &Key| Change::File {
            path,
            mode: 0o600,
            content: Content::Secret(keyring_text([(entity, key)]).into_bytes()),
        };
        let named = |path: PathBuf| Change::File {
            path,
            mode: 0o644,
            content: Content::Plain(format!("{}\n", handed.fsid).into_bytes()),
        };
        let mut changes = Vec::new();
        if let Some(dir) = self.manager_dir() {
            changes.push(Change::Directory { path: dir.clone(), mode: 0o750 });
            changes.push(named(dir.join(paths::CEPH_FSID)));
        }
        for (entity, path) in self.keyrings() {
            let missing = || ::ceph::BadIdentity { field: format!("key.{entity}") };
            let key = handed.key(&entity).ok_or_else(|| StepError::from_explained(&missing()))?;
            changes.push(secret(path, &entity, key));
        }
        changes.push(named(paths::FSID.into()));
        Ok(changes)
    }

    /// What the answer is written to.
    fn written(&self) -> Vec<PathBuf> {
        let named = self.manager_dir().map(|dir| dir.join(paths::CEPH_FSID));
        let keyrings = self.keyrings().into_iter().map(|(_, path)| path);
        named.into_iter().chain(keyrings).chain([paths::FSID.into()]).collect()
    }

    fn is_complete(&self, disk: &dyn Disk) -> Result<bool, HostError> {
        let mut is_complete = paths::own_fsid(disk)?.is_some();
        for (_, path) in self.keyrings() {
            is_complete &= disk.exists(&path)?;
        }
        Ok(is_complete)
    }
}

impl Step for Keys {
    type Seen = Seen;
    type Undo = Given;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::KEYS, "Take over Ceph's keys", "every daemon of Ceph proves itself with one")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let is_complete = self.is_complete(&*host.disk)?;
        let logs = Own::claim(&*host.disk, Path::new(paths::LOGS))?.filter(|_| !is_complete);
        let claim = |own: Own| Planned::claim(own.key(), format!("claim {} for Ceph", paths::LOGS));
        let not_theirs = match self.manager_dir() {
            Some(dir) if is_complete => owned::foreign(host, &[dir.join("keyring"), dir]).await?,
            _ => Vec::new(),
        };
        Ok(Seen { claims: logs.map(claim).into_iter().collect(), is_complete, not_theirs })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let own = || Planned::act(OWN, "let Ceph's manager read its key");
        if seen.is_complete {
            return Ok((!seen.not_theirs.is_empty()).then(own).into_iter().collect());
        }
        let what = format!("ask {} for this node's keys of Ceph", self.source.described());
        let ask = Planned::fetch(ASK, what, self.written());
        Ok([seen.claims.clone(), vec![ask], self.manager_dir().map(|_| own()).into_iter().collect()].concat())
    }

    async fn fetch(&self, _act: &Act, host: &Host) -> Result<Vec<Change>, StepError> {
        let handed = self.source.handed(host).await?;
        foreign::refuse(&*host.disk, &handed.fsid)?;
        self.changes(&handed)
    }

    /// The only one: [`OWN`].
    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        match self.manager_dir() {
            Some(dir) => Ok(owned::give(host, &dir).await?),
            None => Ok(()),
        }
    }
}

/// How keys are undone: with everything that has our fsid, and the file that says which that is at the very end.
pub(crate) struct Given;

impl Undo for Given {
    fn shows_act(&self, key: &str) -> Option<String> {
        match key {
            ASK => Some("remove this node's keys of Ceph".to_owned()),
            OWN => None,
            _ => Own::from_key(key).map(|_| format!("remove {key}")),
        }
    }

    async fn before(&self, host: &Host) -> Result<Notes, StepError> {
        Daemons(Kind::Mgr).before(host).await
    }

    async fn act(&self, key: &str, host: &Host) -> Result<(), StepError> {
        if let Some(own) = Own::from_key(key) {
            return own.remove(host, &[]).await;
        }
        remove_all(&*host.disk, &[paths::ADMIN_KEYRING, paths::BOOTSTRAP_OSD_KEYRING, paths::FSID])
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{cluster, handed, left, machine, source},
        *,
    };

    #[test]
    fn each_role_has_its_files_and_the_cluster_is_named_last() {
        let cluster = cluster();
        let mut reported = String::new();
        for node in cluster.nodes() {
            let keys = Keys::new(node, &source(&cluster, &node.name));
            let changes = keys.changes(&handed(&cluster, &node.name)).unwrap();
            let files = changes.iter().filter(|change| matches!(change, Change::File { .. }));
            assert_eq!(files.map(|change| change.path().to_path_buf()).collect::<Vec<_>>(), keys.written());
            let shown: Vec<String> = changes.iter().map(ToString::to_string).collect();
            reported += &format!("{}:\n  {}\n", node.name, shown.join("\n  "));
        }
        insta::assert_snapshot!(reported);
    }

    #[test]
    fn what_was_not_handed_is_named() {
        let cluster = cluster();
        let keys = Keys::new(cluster.node("m1").unwrap(), &source(&cluster, "m1"));
        let error = keys.changes(&handed(&cluster, "m4")).unwrap_err();
        assert!(error.to_string().contains("`key.client.admin`"), "{error}");
    }

    #[tokio::test]
    async fn keys_are_taken_back_with_what_carries_our_fsid() {
        const OURS: &str = "6a8f1f3e-0d6c-4a43-9d0e-2f1f4d1c9b10";
        let (root, host) = machine(&[
            (paths::FSID, OURS),
            (paths::ADMIN_KEYRING, "[client.admin]"),
            ("/etc/ceph/rbdmap", "# of the package"),
            ("/var/lib/ceph/mgr/ceph-m1/ceph_fsid", OURS),
            ("/var/lib/ceph/mgr/ceph-m1/keyring", "[mgr.m1]"),
            ("/var/lib/ceph/mgr/ceph-x/keyring", "[mgr.x]"),
        ]);
        for _ in 0..2 {
            Given.before(&host).await.unwrap();
            Given.act(ASK, &host).await.unwrap();
            assert_eq!(left(root.path()), ["/etc/ceph/rbdmap", "/var/lib/ceph/mgr/ceph-x/keyring"]);
        }
    }
}
