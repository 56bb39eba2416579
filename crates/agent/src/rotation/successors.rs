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
//! A KMS of cluster.yaml comes before the key in `encryption.yaml`; one that is in use and stays keeps its place at every stage.
//! CAs and the service account key go the same way, in [`pki::rotation`].

use std::path::PathBuf;

use aws_lc_rs::rand;
use base64::{Engine, prelude::BASE64_STANDARD};
use host::Change;
use jiff::Timestamp;
use join::JoinKey;
use pki::{Existing, Input, Shared, Stage};
use render::{Encryption, EncryptionKey, EncryptionProvider};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use spec::{Kms, ValidatedCluster};

use super::{Subject, Subjects};
use crate::{
    Agent, AgentError, join_key,
    sealed::{ENCRYPTION, secret},
};

/// Beside cluster.yaml, where the operator has put one.
pub const BACKUP_KEY: &str = "backup.key";

/// New keys of every subject of a rotation. Cannot be printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Successors {
    pki: pki::Successors,
    encryption: Option<NewEncryption>,
    join: Option<String>,
    backup: Option<String>,
}

/// What Secrets are to be encrypted with: a key, and the KMS that was in cluster.yaml when the rotation began. It is the same
/// for all masters, whatever their copies of cluster.yaml say.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct NewEncryption {
    name: String,
    secret: String,
    kms: Option<Kms>,
}

impl Successors {
    /// New ones.
    pub fn make(cluster: &ValidatedCluster, subjects: &Subjects, now: Timestamp) -> Result<Self, AgentError> {
        let has = |subject| subjects.contains(&subject);
        let mut pki = pki::Successors::default();
        if has(Subject::Ca) {
            pki = pki::Successors::of_cas(cluster.name(), now)?;
        }
        if has(Subject::ServiceAccount) {
            pki = pki.with_service_account()?;
        }
        let join_key = || Ok::<_, AgentError>(JoinKey::generate()?.text().expose_secret().to_owned());
        Ok(Self {
            pki,
            encryption: has(Subject::Encryption).then(|| NewEncryption::make(cluster.kms())).transpose()?,
            join: has(Subject::Join).then(join_key).transpose()?,
            backup: has(Subject::Backup).then(|| backup::Key::generate().expose_secret().to_owned()),
        })
    }

    /// How Secrets are to be encrypted, if that is one of the subjects.
    pub fn encryption(&self) -> Option<Encryption> {
        let NewEncryption { name, secret, kms } = self.encryption.clone()?;
        Some(Encryption::with(EncryptionKey { name, secret }, kms.as_ref()))
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

impl NewEncryption {
    /// The key has a name of its own: it is what says in etcd which key a Secret was encrypted with.
    fn make(kms: Option<&Kms>) -> Result<Self, AgentError> {
        let (mut secret, mut name) = ([0; 32], [0; 4]);
        rand::fill(&mut secret).and_then(|()| rand::fill(&mut name)).map_err(|_| join::NoRandomness)?;
        let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { name: format!("key-{name}"), secret: BASE64_STANDARD.encode(secret), kms: kms.cloned() })
    }
}

/// `None` for a file that is not ours.
fn encryption_at(present: &str, mut new: Encryption, stage: Stage) -> Option<String> {
    let (kms, present) = Encryption::parse(present)?.without_common_kms(&mut new);
    let ordered = stage.ordered(present.providers, new.providers);
    let providers = kms.map(EncryptionProvider::Kms).into_iter().chain(ordered).collect();
    Some(Encryption { providers }.text())
}

fn join_at(present: &str, new: &str, stage: Stage) -> String {
    let lines = stage.ordered(present.split_whitespace().collect(), vec![new]);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::Arc};

    use super::*;
    use crate::{
        sealed,
        testing::{Scripted, agent},
    };

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
        write(&agent, "/etc/kubernetes/encryption.yaml", &Encryption::first("b2xk", None).text());
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

    /// Every stage of every subject: its own files change, all others stay, and a second run finds nothing to do.
    #[test]
    fn each_subject_changes_its_own_files_at_each_stage() {
        for subject in Subject::ALL {
            let agent = master();
            let successors = Successors::make(&agent.cluster, &Subjects::from([subject]), Timestamp::now()).unwrap();
            for stage in Stage::ALL {
                let before: Vec<String> = FILES.iter().map(|(_, files)| read(&agent, files[0])).collect();
                for change in successors.changes(&agent, stage).unwrap() {
                    change.apply(&*agent.host.disk).unwrap();
                }
                assert!(successors.changes(&agent, stage).unwrap().is_empty(), "{subject} changes again at {stage:?}");
                for ((owner, files), before) in FILES.iter().zip(before) {
                    let moves = *owner == subject && (subject != Subject::Backup || stage == Stage::Drop);
                    assert_eq!(read(&agent, files[0]) != before, moves, "{subject} at {stage:?}: {files:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_in_use_is_first_and_all_are_good() {
        for (stage, expected) in Stage::ALL.into_iter().zip(["old new ", "new old ", "new "]) {
            assert_eq!(join_at("old\n", "new", stage).replace('\n', " "), expected, "{stage:?}");
        }
    }

    /// From any provider to any other. Whatever is planned at a stage, planning again changes nothing.
    #[test]
    fn providers_of_encryption_come_and_go() {
        let kms = |name: &str| {
            let timeout = std::time::Duration::from_secs(3);
            (!name.is_empty()).then(|| Kms { name: name.to_owned(), socket: "/run/kms.sock".into(), timeout })
        };
        let names = |text: &str| {
            let providers = Encryption::parse(text).unwrap().providers;
            let prefix = |provider: &EncryptionProvider| provider.prefix().rsplit(':').nth(1).unwrap().to_owned();
            providers.iter().map(prefix).collect::<Vec<_>>().join(" ")
        };
        for (from, to, expected) in [
            ("", "", ["key1 key-2", "key-2 key1", "key-2"]),
            ("", "a", ["key1 a key-2", "a key-2 key1", "a key-2"]),
            ("a", "", ["a key1 key-2", "key-2 a key1", "key-2"]),
            ("a", "b", ["a key1 b key-2", "b key-2 a key1", "b key-2"]),
            ("a", "a", ["a key1 key-2", "a key-2 key1", "a key-2"]),
        ] {
            let key = EncryptionKey { name: "key-2".into(), secret: "bmV3".into() };
            let new = Encryption::with(key, kms(to).as_ref());
            let mut present = Encryption::first("b2xk", kms(from).as_ref()).text();
            for (stage, expected) in Stage::ALL.into_iter().zip(expected) {
                present = encryption_at(&present, new.clone(), stage).unwrap();
                assert_eq!(names(&present), expected, "{from} to {to} at {stage:?}");
                assert_eq!(
                    encryption_at(&present, new.clone(), stage).unwrap(),
                    present,
                    "{from} to {to} at {stage:?}"
                );
            }
        }
        assert!(encryption_at("kind: Something", Encryption::first("b2xk", None), Stage::Trust).is_none());
    }

    #[test]
    fn the_sealed_directory_follows() {
        let agent = master();
        let successors = Successors::make(&agent.cluster, &Subjects::from(Subject::ALL), Timestamp::now()).unwrap();
        let apply = |changes: Vec<Change>| changes.iter().for_each(|change| change.apply(&*agent.host.disk).unwrap());
        let before = read(&agent, "/etc/cluster-config/join-secret");
        for (stage, is_new) in [(Stage::Trust, false), (Stage::Sign, true), (Stage::Drop, true)] {
            apply(successors.changes(&agent, stage).unwrap());
            apply(sealed::following(&agent).unwrap());
            let new = successors.encryption().unwrap();
            let key = &new.keys().next().unwrap().secret;
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
        let successors = Successors::make(&agent.cluster, &Subjects::from([Subject::Join]), Timestamp::now()).unwrap();
        for change in successors.changes(&agent, Stage::Drop).unwrap() {
            change.apply(&*agent.host.disk).unwrap();
        }
        assert_eq!(read(&agent, "/etc/cluster-config/join.key"), sealed_key);
        for change in sealed::following(&agent).unwrap() {
            change.apply(&*agent.host.disk).unwrap();
        }
        assert_eq!(read(&agent, "/etc/cluster-config/join.key"), read(&agent, "/etc/kubernetes/pki/join.key"));
    }
}
