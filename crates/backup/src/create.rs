//! Making a backup: files, snapshot, manifest; and then reading all of it back.

use std::{
    io,
    path::{Path, PathBuf},
};

use etcd::{Checksum, Etcd};
use host::Host;
use tokio::task::yield_now;

use crate::{BackupError, Contents, FreshFile, Key, Locked, Manifest, contents::SNAPSHOT, manifest, write::Writer};

/// Where the parts of a backup come from.
pub struct Source<'a> {
    /// The machine.
    pub host: &'a Host,
    /// Its configuration directory.
    pub config_dir: &'a Path,
    /// Certificates and keys.
    pub kubernetes_dir: &'a Path,
    /// The member that gives the snapshot.
    pub etcd: &'a Etcd,
    /// The cluster's name.
    pub cluster: &'a str,
    /// The name of the master this is.
    pub node: &'a str,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The snapshot is being written.
    Snapshot {
        /// Bytes so far.
        done: u64,
        /// Bytes in the end.
        total: u64,
    },
    /// It is being read back.
    Verifying,
}

/// A backup that was made.
#[derive(Debug)]
pub struct Made {
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// What is in it.
    pub manifest: Manifest,
}

/// Makes a backup. It has its name only when every byte of it has been read back.
pub async fn create(
    source: &Source<'_>,
    key: &Key,
    to: &Path,
    progress: &dyn Fn(Progress),
) -> Result<Made, BackupError> {
    let writing = |error: io::Error| BackupError::writing(to)(error);
    let contents = Contents::read(&*source.host.disk, source.config_dir, source.kubernetes_dir)?;
    let mut file = FreshFile::create(to)?;
    let status = source.etcd.status().await?;
    let made = source.host.clock.now();
    let mut writer = Writer::new(&mut file, key, made).map_err(writing)?;
    for (name, bytes) in &contents.files {
        writer.file(name, bytes).map_err(writing)?;
    }

    let mut snapshot = source.etcd.snapshot().await?;
    let (total, mut done, mut sum) = (snapshot.size(), 0, Checksum::default());
    let mut entry = writer.entry(SNAPSHOT, total).map_err(writing)?;
    while let Some(piece) = snapshot.piece().await? {
        sum.update(&piece);
        entry.write(&piece).map_err(writing)?;
        done += piece.len() as u64;
        progress(Progress::Snapshot { done, total });
    }
    entry.finish().map_err(writing)?;
    sum.finish().map_err(|source| BackupError::Snapshot { path: to.to_path_buf(), source })?;

    let manifest = |files| Manifest {
        version: manifest::VERSION,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        cluster: source.cluster.to_owned(),
        node: source.node.to_owned(),
        made,
        etcd_version: status.version.clone(),
        etcd_revision: status.revision(),
        files,
    };
    let (_, manifest) = writer.finish(manifest).map_err(writing)?;
    file.sync()?;
    progress(Progress::Verifying);
    Locked::open(file.hidden())?.verify(key)?;
    // A request to stop meanwhile is heeded now, before the file has its name.
    yield_now().await;
    let size = file.hidden().metadata().map_err(BackupError::reading(to))?.len();
    file.finish()?;
    Ok(Made { path: to.to_path_buf(), size, manifest })
}
