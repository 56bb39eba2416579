//! The archive: files below one directory, as `.tar.gz`.

use std::{
    collections::BTreeMap,
    io::{self, Read},
    path::{Component, Path},
};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use host::{RealDisk, write_atomic};
use jiff::Timestamp;

use crate::GatherError;

/// Only the owner may read it: it has no secrets, but it shows a lot.
const MODE: u32 = 0o600;

/// More than any machine has to say; whatever is larger is no archive of ours.
const LARGEST: u64 = 512 << 20;

/// Files below one directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Archive {
    /// By their path in the archive.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Archive {
    /// As `.tar.gz`, everything in a directory of this name.
    pub fn pack(&self, directory: &str, time: Timestamp) -> Result<Vec<u8>, GatherError> {
        let seconds = u64::try_from(time.as_second()).unwrap_or_default();
        let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
        for (path, bytes) in &self.files {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(MODE);
            header.set_mtime(seconds);
            let path = format!("{directory}/{path}");
            tar.append_data(&mut header, path, bytes.as_slice()).map_err(GatherError::Packing)?;
        }
        tar.into_inner().and_then(GzEncoder::finish).map_err(GatherError::Packing)
    }

    /// The files of an archive that [`Archive::pack`] made, without the directory they are in.
    pub fn unpack(packed: &[u8]) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        let mut tar = tar::Archive::new(GzDecoder::new(packed).take(LARGEST));
        for entry in tar.entries()? {
            let mut entry = entry?;
            let path = entry.path()?.into_owned();
            let parts: Vec<Component<'_>> = path.components().skip(1).collect();
            let is_plain = parts.iter().all(|part| matches!(part, Component::Normal(_)));
            if !entry.header().entry_type().is_file() || parts.is_empty() || !is_plain {
                continue;
            }
            let name = parts.iter().collect::<std::path::PathBuf>().to_string_lossy().into_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            files.insert(name, bytes);
        }
        Ok(Self { files })
    }

    /// Writes a packed archive: it is there as a whole or not at all, and nothing is overwritten.
    pub fn write(path: &Path, packed: &[u8]) -> Result<(), GatherError> {
        if path.symlink_metadata().is_ok() {
            return Err(GatherError::Taken(path.to_path_buf()));
        }
        write_atomic(&RealDisk::new("/"), path, packed, MODE).map_err(GatherError::Writing)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use explain::Explain;

    use super::*;
    use crate::codes;

    fn small() -> Archive {
        let long = format!("files/{}", "deep/".repeat(40) + "file.json");
        Archive { files: [("index.json".into(), b"{}".to_vec()), (long, b"text".to_vec())].into() }
    }

    #[test]
    fn what_is_packed_can_be_unpacked() {
        let packed = small().pack("gather-x", Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(Archive::unpack(&packed).unwrap(), small());
        assert!(Archive::unpack(b"no archive").is_err());
        assert!(Archive::unpack(&packed[..packed.len() / 2]).is_err(), "half an archive is none");
    }

    #[test]
    fn it_is_private_and_overwrites_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.tar.gz");
        Archive::write(&path, b"packed").unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(Archive::write(&path, b"other").unwrap_err().code(), codes::TAKEN);
        assert_eq!(std::fs::read(&path).unwrap(), b"packed");
        let nowhere = Archive::write(&dir.path().join("no/x.tar.gz"), b"").unwrap_err();
        assert_eq!(nowhere.code(), codes::NOT_WRITTEN);
    }
}
