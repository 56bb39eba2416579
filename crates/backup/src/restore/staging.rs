//! etcd's data from a snapshot: made beside the old, then exchanged with it.
//!
//! Everything happens in etcd's own directory, which may be a disk of its own. What was there stays, under a name that is
//! printed. The decision with which etcd starts (`initial.env`) is written last: without data it must not be there.

use std::{
    fs::{self, File},
    io::{self, Read},
    net::IpAddr,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use etcd::{Checksum, DATA, DATA_DIR, INITIAL, Initial, peer_url};
use host::{Cmd, Host, write_atomic};
use jiff::Timestamp;

use crate::BackupError;

/// Above every revision that a client can have seen since the snapshot was taken: etcd's own advice for Kubernetes.
const BUMP: &str = "1000000000";
const MODE: u32 = 0o700;

/// Who the only member will be.
pub struct SoleMember<'a> {
    /// The cluster's name.
    pub cluster: &'a str,
    /// The master's name.
    pub name: &'a str,
    /// Its address.
    pub ip: IpAddr,
    /// What it is known by; see `join::machine_id`.
    pub machine: &'a str,
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Activated {
    /// Where the data is that was there before.
    pub aside: Option<PathBuf>,
}

/// A place beside etcd's data. It goes away with this value.
pub struct Staging<'a> {
    host: &'a Host,
    root: PathBuf,
    dir: PathBuf,
}

impl<'a> Staging<'a> {
    /// An empty one. `root` is what the machine calls `/`.
    pub fn new(host: &'a Host, root: &Path) -> Result<Self, BackupError> {
        let dir = on(root, DATA_DIR).join("restoring");
        let make = || {
            remove(&dir)?; // left by a crash
            fs::DirBuilder::new().recursive(true).mode(MODE).create(&dir)
        };
        make().map_err(BackupError::writing(&dir))?;
        Ok(Self { host, root: root.to_path_buf(), dir })
    }

    /// A place for a snapshot that is not a file yet.
    pub fn snapshot(&self) -> PathBuf {
        self.dir.join("snapshot.db")
    }

    /// Makes the data of a cluster with one member.
    pub async fn fill(&self, snapshot: &Path, member: &SoleMember<'_>) -> Result<(), BackupError> {
        let command = restore_command(snapshot, &self.data(), member);
        self.host.commands.run(&command).await.map_err(BackupError::NotRestored)?;
        sync_tree(&self.dir).map_err(BackupError::writing(&self.dir))
    }

    /// Puts it in the place of the old.
    pub fn activate(self, member: &SoleMember<'_>, now: Timestamp) -> Result<Activated, BackupError> {
        let (data, dir) = (on(&self.root, DATA), on(&self.root, DATA_DIR));
        let aside = dir.join(format!("member.before-{}", now.strftime("%Y%m%dT%H%M%SZ")));
        let exchange = || {
            let had_data = data.symlink_metadata().is_ok();
            if had_data {
                fs::rename(&data, &aside)?;
            }
            fs::rename(self.data().join("member"), &data)?;
            File::open(&dir)?.sync_all()?;
            Ok(had_data)
        };
        let had_data = exchange().map_err(BackupError::writing(&data))?;
        let initial = Initial::bootstrapping([(member.name, member.ip, member.machine)]);
        write_atomic(&*self.host.disk, Path::new(INITIAL), initial.text().as_bytes(), 0o600)?;
        Ok(Activated { aside: had_data.then_some(aside) })
    }

    fn data(&self) -> PathBuf {
        self.dir.join("data")
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        // The next restore removes it too; there is no caller left to return it to.
        let _ = remove(&self.dir);
    }
}

/// Looks at every byte of a snapshot, and says how many there are.
pub fn check_snapshot(path: &Path) -> Result<u64, BackupError> {
    let mut file = File::open(path).map_err(BackupError::reading(path))?;
    let (mut sum, mut buffer) = (Checksum::default(), vec![0; 64 << 10]);
    loop {
        match file.read(&mut buffer).map_err(BackupError::reading(path))? {
            0 => break,
            count => sum.update(&buffer[..count]),
        }
    }
    sum.finish().map_err(|source| BackupError::Snapshot { path: path.to_path_buf(), source })
}

fn restore_command(snapshot: &Path, data: &Path, member: &SoleMember<'_>) -> Cmd {
    let url = peer_url(member.ip);
    Cmd::new("etcdutl")
        .args(["snapshot", "restore"])
        .arg(snapshot)
        .arg("--data-dir")
        .arg(data)
        .args(["--name", member.name])
        .args(["--initial-cluster".to_owned(), format!("{}={url}", member.name)])
        .args(["--initial-advertise-peer-urls", &url])
        .args(["--initial-cluster-token".to_owned(), format!("{}-etcd", member.cluster)])
        .args(["--bump-revision", BUMP, "--mark-compacted"])
}

fn on(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

fn remove(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn sync_tree(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_tree(&entry.path())?;
        } else {
            File::open(entry.path())?.sync_all()?;
        }
    }
    File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use explain::Explain;
    use host::{Commands, Printed, Running};

    use super::*;
    use crate::codes;

    const MEMBER: SoleMember<'static> = SoleMember {
        cluster: "home",
        name: "master-01",
        ip: IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)),
        machine: "aa",
    };

    /// Makes what `etcdutl` makes, or says no.
    struct Tool {
        works: bool,
    }

    impl Commands for Tool {
        fn run<'a>(&'a self, command: &'a Cmd) -> Running<'a> {
            Box::pin(async move {
                let text = command.to_string();
                let words: Vec<&str> = text.split(' ').collect();
                let data = Path::new(words[words.iter().position(|word| *word == "--data-dir").unwrap() + 1]);
                fs::create_dir_all(data.join("member/snap")).unwrap();
                if !self.works {
                    let output = "no space left".to_owned();
                    return Err(host::CommandError::Failed { command: text, status: "exit status: 1".into(), output });
                }
                fs::write(data.join("member/snap/db"), "new").unwrap();
                Ok(Printed::default())
            })
        }
    }

    fn host(root: &Path, works: bool) -> Host {
        Host { commands: Arc::new(Tool { works }), ..Host::rooted(root) }
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_command_is_etcds_own() {
        let command = restore_command(Path::new("/root/x.db"), Path::new("/var/lib/etcd/restoring/data"), &MEMBER);
        insta::assert_snapshot!(command.to_string().replace(" --", "\n  --"));
    }

    #[tokio::test]
    async fn the_old_data_is_kept_aside() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("var/lib/etcd");
        fs::create_dir_all(dir.join("member")).unwrap();
        fs::write(dir.join("member/db"), "old").unwrap();
        fs::create_dir_all(dir.join("restoring/data/member")).unwrap();
        let host = host(root.path(), true);

        let staging = Staging::new(&host, root.path()).unwrap();
        assert_eq!(names(&dir.join("restoring")), Vec::<String>::new(), "what a crash left is gone");
        staging.fill(Path::new("/x.db"), &MEMBER).await.unwrap();
        assert_eq!(fs::read(dir.join("member/db")).unwrap(), b"old", "until it is activated nothing is changed");
        let activated = staging.activate(&MEMBER, Timestamp::UNIX_EPOCH).unwrap();
        let aside = dir.join("member.before-19700101T000000Z");
        assert_eq!(activated, Activated { aside: Some(aside.clone()) });
        assert_eq!(fs::read(aside.join("db")).unwrap(), b"old");
        assert_eq!(fs::read(dir.join("member/snap/db")).unwrap(), b"new");
        assert_eq!(names(&dir), ["initial.env", "member", "member.before-19700101T000000Z"]);
        let initial = Initial::parse(&fs::read_to_string(dir.join("initial.env")).unwrap()).unwrap();
        assert!(initial.bootstraps("master-01", "aa"));
    }

    #[tokio::test]
    async fn what_fails_leaves_everything_as_it_was() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("var/lib/etcd");
        let host = host(root.path(), false);
        let staging = Staging::new(&host, root.path()).unwrap();
        let error = staging.fill(Path::new("/x.db"), &MEMBER).await.unwrap_err();
        assert_eq!(error.code(), codes::NOT_RESTORED);
        drop(staging);
        assert_eq!(names(&dir), Vec::<String>::new());
    }

    #[test]
    fn only_a_whole_snapshot_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        assert_eq!(check_snapshot(&path).unwrap_err().code(), host::codes::READ);
        fs::write(&path, "hello").unwrap();
        assert_eq!(check_snapshot(&path).unwrap_err().code(), etcd::codes::BAD_SNAPSHOT);
    }
}
