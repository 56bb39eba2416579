//! Reading a backup: opening it, and looking at every byte of it.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufReader, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use age::{DecryptError, Decryptor};
use aws_lc_rs::digest::{Context, SHA256};
use etcd::Checksum;

use crate::{
    BackupError, Contents, FileEntry, Key, Manifest,
    contents::{LARGEST, SNAPSHOT, directory_of},
    manifest,
    write::hex,
};

const PIECE: usize = 64 << 10;
/// What every file of `age` begins with.
const MAGIC: &[u8] = b"age-encryption.org/v1\n";

/// A backup that has not been opened.
pub struct Locked {
    decryptor: Decryptor<BufReader<Watched>>,
    path: PathBuf,
    /// Whether the end of the file has been read.
    ended: Arc<AtomicBool>,
}

/// A backup of which every byte is as it was written.
pub struct Verified {
    /// What is in it.
    pub manifest: Manifest,
    /// Its small files.
    pub contents: Contents,
}

/// A file that notes when its end is seen: what is damaged there was most likely cut short.
struct Watched {
    file: File,
    ended: Arc<AtomicBool>,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        if count == 0 && !buffer.is_empty() {
            self.ended.store(true, Ordering::Relaxed);
        }
        Ok(count)
    }
}

impl Locked {
    /// Looks at the beginning of a file.
    pub fn open(path: &Path) -> Result<Self, BackupError> {
        let ended = Arc::new(AtomicBool::new(false));
        let file = File::open(path).map_err(BackupError::reading(path))?;
        let input = BufReader::new(Watched { file, ended: Arc::clone(&ended) });
        match Decryptor::new_buffered(input) {
            Ok(decryptor) => Ok(Self { decryptor, path: path.to_path_buf(), ended }),
            Err(DecryptError::Io(error)) if error.raw_os_error().is_some() => Err(BackupError::reading(path)(error)),
            Err(_) if !begins_as_one(path).map_err(BackupError::reading(path))? => {
                let why = "it does not begin as one".to_owned();
                Err(BackupError::NotABackup { path: path.to_path_buf(), why })
            }
            Err(_) => Err(broken(path, &ended, io::Error::other("its beginning was changed"))),
        }
    }

    /// True if it opens with a passphrase, false if with a key.
    pub fn needs_passphrase(&self) -> bool {
        self.decryptor.is_scrypt()
    }

    /// Looks at every byte.
    pub fn verify(self, key: &Key) -> Result<Verified, BackupError> {
        self.unpack(key, &mut io::sink())
    }

    /// The same, and writes the snapshot. Only when this has returned it is known to be whole.
    pub fn unpack(self, key: &Key, snapshot: &mut dyn Write) -> Result<Verified, BackupError> {
        let Self { decryptor, path, ended } = self;
        let opened = key.open(decryptor).map_err(|error| closed(&path, key, &error))?;
        let broken = |error: io::Error| broken(&path, &ended, error);
        let mut archive = tar::Archive::new(opened);
        let mut reading = Reading { seen: Vec::new(), small: BTreeMap::new(), snapshot: Checksum::default() };
        for entry in archive.entries().map_err(broken)? {
            let mut entry = entry.map_err(broken)?;
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            reading.take(&name, &mut entry, snapshot).map_err(|failure| match failure {
                Failure::Reading(error) => broken(error),
                Failure::Writing(error) => BackupError::writing("the snapshot")(error),
                Failure::Strange(why) => BackupError::Damaged { path: path.clone(), why },
            })?;
        }
        // An archive ends before its file does, and only the end of the file proves that nothing is missing.
        io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(broken)?;
        reading.finish(&path)
    }
}

/// What was read so far.
struct Reading {
    seen: Vec<FileEntry>,
    small: BTreeMap<String, Vec<u8>>,
    snapshot: Checksum,
}

enum Failure {
    Reading(io::Error),
    Writing(io::Error),
    Strange(String),
}

impl Reading {
    fn take(&mut self, name: &str, entry: &mut impl Read, snapshot: &mut dyn Write) -> Result<(), Failure> {
        if self.seen.iter().any(|one| one.name == name) {
            return Err(Failure::Strange(format!("{name} is in it twice")));
        }
        if name != SNAPSHOT && name != manifest::NAME && directory_of(name).is_none() {
            return Err(Failure::Strange(format!("{name:?} belongs nowhere")));
        }
        let (mut sum, mut size, mut kept) = (Context::new(&SHA256), 0, Vec::new());
        let mut buffer = vec![0; PIECE];
        loop {
            let count = entry.read(&mut buffer).map_err(Failure::Reading)?;
            if count == 0 {
                break;
            }
            let piece = &buffer[..count];
            size += count as u64;
            sum.update(piece);
            if name == SNAPSHOT {
                self.snapshot.update(piece);
                snapshot.write_all(piece).map_err(Failure::Writing)?;
            } else if size > LARGEST {
                return Err(Failure::Strange(format!("{name} is larger than any such file")));
            } else {
                kept.extend_from_slice(piece);
            }
        }
        self.seen.push(FileEntry { name: name.to_owned(), size, sha256: hex(sum) });
        if name != SNAPSHOT {
            self.small.insert(name.to_owned(), kept);
        }
        Ok(())
    }

    fn finish(mut self, path: &Path) -> Result<Verified, BackupError> {
        let damaged = |why: &str| BackupError::Damaged { path: path.to_path_buf(), why: why.to_owned() };
        let text = self.small.remove(manifest::NAME).ok_or_else(|| damaged("it has no manifest"))?;
        self.seen.retain(|one| one.name != manifest::NAME);
        let manifest = Manifest::read(path, &text, &self.seen)?;
        let whole = self.snapshot.finish();
        whole.map_err(|source| BackupError::Snapshot { path: path.to_path_buf(), source })?;
        Ok(Verified { manifest, contents: Contents { files: self.small } })
    }
}

/// Whether a file was one before something happened to it.
fn begins_as_one(path: &Path) -> io::Result<bool> {
    let mut beginning = Vec::new();
    File::open(path)?.take(MAGIC.len() as u64).read_to_end(&mut beginning)?;
    Ok(beginning == MAGIC)
}

/// Why a backup did not open.
fn closed(path: &Path, key: &Key, error: &DecryptError) -> BackupError {
    let path = path.to_path_buf();
    match error {
        DecryptError::NoMatchingKeys | DecryptError::DecryptionFailed | DecryptError::KeyDecryptionFailed => {
            BackupError::WrongKey { path, by_passphrase: matches!(key, Key::Passphrase(_)) }
        }
        DecryptError::InvalidMac | DecryptError::InvalidHeader => {
            BackupError::Damaged { path, why: "its beginning was changed".into() }
        }
        other => BackupError::NotABackup { path, why: other.to_string() },
    }
}

/// What an error on the way means.
fn broken(path: &Path, ended: &AtomicBool, error: io::Error) -> BackupError {
    if error.raw_os_error().is_some() {
        return BackupError::reading(path)(error);
    }
    if ended.load(Ordering::Relaxed) {
        return BackupError::Truncated { path: path.to_path_buf() };
    }
    BackupError::Damaged { path: path.to_path_buf(), why: error.to_string() }
}

#[cfg(test)]
mod tests;
