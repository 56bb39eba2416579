//! The keys that take the place of the present ones, and the files of a master at each stage.
//!
//! | stage | `encryption.yaml` | `join.key` | `backup.key` |
//! |---|---|---|---|
//! | trust | old, new | old, new | old |
//! | sign  | new, old | new, old | old |
//! | drop  | new      | new      | new |
//!
//! Whatever is first is in use, and all of them are good: so at each stage every master can read what any other has
//! written, and lets in whom any other lets in. A backup is read by people only, so there is nothing to be prepared for it.
//! CAs and the service account key go the same way, in [`pki::rotation`].

use std::path::PathBuf;

use aws_lc_rs::rand;
use base64::{Engine, prelude::BASE64_STANDARD};
use host::{Change, Content};
use jiff::Timestamp;
use join::{JoinKey, seal::layout};
use pki::{Existing, Input, Shared, Stage};
use render::{Encryption, EncryptionKey};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};

use super::{Subject, Subjects};
use crate::{Agent, AgentError, join_key};

/// Beside cluster.yaml, where the operator has put one.
pub const BACKUP_KEY: &str = "backup.key";
/// Beside the kubeconfigs.
pub(super) const ENCRYPTION: &str = "encryption.yaml";

/// New keys of every subject of a rotation. Cannot be printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Successors {
    pki: pki::Successors,
    encryption: Option<NewKey>,
    join: Option<String>,
    backup: Option<String>,
}

/// A key for encryption at rest.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct NewKey {
    name: String,
    secret: String,
}

impl Successors {
    /// New ones.
    pub fn make(cluster: &str, subjects: &Subjects, now: Timestamp) -> Result<Self, AgentError> {
        let has = |subject| subjects.contains(&subject);
        let mut pki = pki::Successors::default();
        if has(Subject::Ca) {
            pki = pki::Successors::of_authorities(cluster, now)?;
        }
        if has(Subject::ServiceAccount) {
            pki = pki.with_service_account()?;
        }
        let join_key = || Ok::<_, AgentError>(JoinKey::generate()?.text().expose_secret().to_owned());
        Ok(Self {
            pki,
            encryption: has(Subject::Encryption).then(NewKey::generate).transpose()?,
            join: has(Subject::Join).then(join_key).transpose()?,
            backup: has(Subject::Backup).then(|| backup::Key::generate().expose_secret().to_owned()),
        })
    }

    /// The key with which Secrets are to be encrypted, if it is one of the subjects.
    pub fn encryption(&self) -> Option<EncryptionKey> {
        let NewKey { name, secret } = self.encryption.clone()?;
        Some(EncryptionKey { name, secret })
    }

    /// The changes that bring a master to a stage; nothing, if it is there.
    pub(super) fn changes(&self, agent: &Agent, stage: Stage) -> Result<Vec<Change>, AgentError> {
        let (disk, now) = (&*agent.host.disk, agent.host.clock.now());
        let existing = Existing::read(disk, &agent.paths.kubernetes_dir)?;
        let input = Input::new(&agent.cluster, &agent.node, Shared::Bring);
        let mut changes = pki::rotation(&existing, &input, &self.pki, stage, now)?;
        let text = |path: &PathBuf| Ok::<_, AgentError>(String::from_utf8_lossy(&disk.read(path)?).into_owned());
        if let Some(new) = self.encryption() {
            let path = agent.paths.kubernetes_dir.join(ENCRYPTION);
            let wanted =
                encryption_at(&text(&path)?, new, stage).ok_or_else(|| AgentError::ForeignKey(path.clone()))?;
            changes.push(secret(path, wanted));
        }
        if let Some(new) = &self.join
            && let Some(path) = join_key::file(&agent.host, &agent.paths)?
        {
            let wanted = join_at(&text(&path)?, new, stage);
            changes.push(secret(path, wanted));
        }
        if let Some(new) = self.backup.as_ref().filter(|_| stage == Stage::Drop) {
            let path = agent.paths.config_dir.join(BACKUP_KEY);
            if disk.exists(&path)? {
                changes.push(secret(path, new.clone()));
            }
        }
        Ok(Change::missing(changes, disk)?)
    }
}

impl NewKey {
    /// With a name of its own: it is what tells in etcd which key a Secret was encrypted with.
    fn generate() -> Result<Self, AgentError> {
        let (mut secret, mut name) = ([0; 32], [0; 4]);
        rand::fill(&mut secret).and_then(|()| rand::fill(&mut name)).map_err(|_| join::NoRandomness)?;
        let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { name: format!("key-{name}"), secret: BASE64_STANDARD.encode(secret) })
    }
}

/// `None` for a file that somebody else has written.
fn encryption_at(present: &str, new: EncryptionKey, stage: Stage) -> Option<String> {
    let present = Encryption::parse(present)?;
    Some(Encryption { keys: stage.ordered(present.keys, vec![new]) }.text())
}

fn join_at(present: &str, new: &str, stage: Stage) -> String {
    let lines = stage.ordered(present.split_whitespace().collect(), vec![new]);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn secret(path: PathBuf, text: String) -> Change {
    Change::File { path, mode: 0o600, content: Content::Secret(text.into_bytes()) }
}

/// What of the sealed directory of a master follows its keys, beside what is in the PKI's table: the first master would
/// start the cluster anew with these, and any would join anew with its secret. Only what is there.
pub(crate) fn sealed(agent: &Agent) -> Result<Vec<Change>, AgentError> {
    let (disk, dir) = (&*agent.host.disk, &agent.paths.config_dir);
    let mut changes = Vec::new();
    let held = disk.read_optional(&agent.paths.kubernetes_dir.join(ENCRYPTION))?;
    let key = dir.join(layout::ENCRYPTION_KEY);
    if let Some(encryption) = held.and_then(|text| Encryption::parse(&String::from_utf8_lossy(&text)))
        && disk.exists(&key)?
        && let Some(first) = encryption.keys.first()
    {
        changes.push(secret(key, format!("{}\n", first.secret)));
    }
    let keys = join_key::read(&agent.host, &agent.paths)?;
    let Some((current, former)) = keys.split_first() else { return Ok(changes) };
    let key = dir.join(layout::JOIN_KEY);
    if disk.exists(&key)? && join_key::file(&agent.host, &agent.paths)?.is_some_and(|file| file != key) {
        let lines = keys.iter().map(|key| format!("{}\n", key.text().expose_secret()));
        changes.push(secret(key, lines.collect()));
    }
    if let Some(own) = join_key::own_secret(agent)?
        && former.iter().any(|key| key.made(&own))
    {
        let new = current.node_secret(&own.node, own.generation.next(agent.host.clock.now()), own.expires);
        changes.push(secret(dir.join(layout::SECRET), format!("{}\n", new.text().expose_secret())));
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::Arc};

    use super::*;
    use crate::testing::{Scripted, agent};

    fn write(agent: &Agent, path: &str, text: &str) {
        secret(path.into(), text.to_owned()).apply(&*agent.host.disk).unwrap();
    }

    fn read(agent: &Agent, path: &str) -> String {
        String::from_utf8(agent.host.disk.read(Path::new(path)).unwrap()).unwrap()
    }

    /// The first master of a sealed cluster.
    fn master() -> Agent {
        let agent = agent("master-01", &Arc::new(Scripted::default()));
        let disk = &*agent.host.disk;
        let input = Input::new(&agent.cluster, &agent.node, Shared::Make);
        let existing = Existing::read(disk, &agent.paths.kubernetes_dir).unwrap();
        for change in pki::plan(&existing, &input, Timestamp::now()).unwrap() {
            change.apply(disk).unwrap();
        }
        let key = JoinKey::generate().unwrap();
        write(&agent, "/etc/kubernetes/encryption.yaml", &Encryption::first("b2xk").text());
        write(&agent, "/etc/cluster-config/encryption.key", "b2xk\n");
        write(&agent, "/etc/cluster-config/join.key", key.text().expose_secret());
        let own = key.node_secret("master-01", join::Generation(1), None);
        write(&agent, "/etc/cluster-config/join-secret", own.text().expose_secret());
        write(&agent, "/etc/cluster-config/backup.key", "old\n");
        agent
    }

    const FILES: &[(Subject, &[&str])] = &[
        (Subject::Ca, &["/etc/kubernetes/pki/ca.crt"]),
        (Subject::ServiceAccount, &["/etc/kubernetes/pki/sa.pub"]),
        (Subject::Encryption, &["/etc/kubernetes/encryption.yaml"]),
        (Subject::Join, &["/etc/cluster-config/join.key"]),
        (Subject::Backup, &["/etc/cluster-config/backup.key"]),
    ];

    /// Every stage of every subject: its own files change, all others stay, and a second look finds nothing to do.
    #[test]
    fn each_subject_changes_its_own_files_at_each_stage() {
        for subject in Subject::ALL {
            let agent = master();
            let successors = Successors::make("demo", &Subjects::from([subject]), Timestamp::now()).unwrap();
            for stage in Stage::ALL {
                let before: Vec<String> = FILES.iter().map(|(_, files)| read(&agent, files[0])).collect();
                for change in successors.changes(&agent, stage).unwrap() {
                    change.apply(&*agent.host.disk).unwrap();
                }
                assert!(successors.changes(&agent, stage).unwrap().is_empty(), "{subject} settles at {stage:?}");
                for ((owner, files), before) in FILES.iter().zip(before) {
                    let moves = *owner == subject && (subject != Subject::Backup || stage == Stage::Drop);
                    assert_eq!(read(&agent, files[0]) != before, moves, "{subject} at {stage:?}: {files:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_in_use_is_first_and_all_are_good() {
        let new = |stage| {
            let key = EncryptionKey { name: "key-2".into(), secret: "bmV3".into() };
            let text = encryption_at(&Encryption::first("b2xk").text(), key, stage).unwrap();
            let names = Encryption::parse(&text).unwrap().keys.into_iter().map(|key| key.name);
            (names.collect::<Vec<_>>().join(" "), join_at("old\n", "new", stage).replace('\n', " "))
        };
        let expected = [("key1 key-2", "old new "), ("key-2 key1", "new old "), ("key-2", "new ")];
        for (stage, (keys, lines)) in Stage::ALL.into_iter().zip(expected) {
            assert_eq!(new(stage), (keys.to_owned(), lines.to_owned()), "{stage:?}");
        }
        assert!(
            encryption_at("kind: Something", EncryptionKey { name: "a".into(), secret: "b".into() }, Stage::Trust)
                .is_none()
        );
    }

    #[test]
    fn the_sealed_directory_follows() {
        let agent = master();
        let successors = Successors::make("demo", &Subjects::from(Subject::ALL), Timestamp::now()).unwrap();
        let apply = |changes: Vec<Change>| changes.iter().for_each(|change| change.apply(&*agent.host.disk).unwrap());
        let before = read(&agent, "/etc/cluster-config/join-secret");
        for (stage, is_new) in [(Stage::Trust, false), (Stage::Sign, true), (Stage::Drop, true)] {
            apply(successors.changes(&agent, stage).unwrap());
            apply(sealed(&agent).unwrap());
            let key = successors.encryption().unwrap().secret;
            assert_eq!(read(&agent, "/etc/cluster-config/encryption.key").trim() == key, is_new, "{stage:?}");
            assert_eq!(read(&agent, "/etc/cluster-config/join-secret") != before, is_new, "{stage:?}");
        }
        let key = JoinKey::parse(&read(&agent, "/etc/cluster-config/join.key")).unwrap();
        assert!(key.made(&join_key::own_secret(&agent).unwrap().unwrap()));
    }

    /// A master that was given the key keeps it elsewhere, and what its sealed directory still has follows.
    #[test]
    fn a_key_that_was_given_is_replaced_where_it_lies() {
        let agent = master();
        let sealed_key = read(&agent, "/etc/cluster-config/join.key");
        write(&agent, "/etc/kubernetes/pki/join.key", &sealed_key);
        let successors = Successors::make("demo", &Subjects::from([Subject::Join]), Timestamp::now()).unwrap();
        for change in successors.changes(&agent, Stage::Drop).unwrap() {
            change.apply(&*agent.host.disk).unwrap();
        }
        assert_eq!(read(&agent, "/etc/cluster-config/join.key"), sealed_key);
        for change in sealed(&agent).unwrap() {
            change.apply(&*agent.host.disk).unwrap();
        }
        assert_eq!(read(&agent, "/etc/cluster-config/join.key"), read(&agent, "/etc/kubernetes/pki/join.key"));
    }
}
