//! What a machine makes before it asks for the cluster's keys for the first time, to be known again by.
//!
//! Masters remember its hash with the first grant, and give the keys to no other machine under that name. The machine keeps it on
//! its disk, synced before the first request: one that crashes between grant and writing asks again and is known.

use std::path::Path;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use host::{Change, Content, Disk, HostError};

use crate::{
    mac,
    secret::{BadSecret, NoRandomness},
};

/// The file's name in a master's state directory.
pub const FILE: &str = "keys-claim";

const BYTES: usize = 32;
const PURPOSE: &str = "blackstart claim of keys v1";

/// 32 random bytes of one machine. They never travel.
#[derive(Clone, PartialEq, Eq)]
pub struct Claim([u8; BYTES]);

impl std::fmt::Debug for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Claim").finish_non_exhaustive()
    }
}

/// Why a machine has no claim.
#[derive(Debug, thiserror::Error)]
pub enum NoClaim {
    /// The file cannot be read or written.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The file holds something else.
    #[error(transparent)]
    Content(#[from] BadSecret),
    /// Nothing can be made without random bytes.
    #[error(transparent)]
    Randomness(#[from] NoRandomness),
}

impl explain::Explain for NoClaim {
    fn code(&self) -> explain::Code {
        match self {
            Self::Host(error) => error.code(),
            Self::Content(error) => error.code(),
            Self::Randomness(_) => crate::codes::OWN_KEY,
        }
    }
}

impl Claim {
    /// A new one.
    pub fn generate() -> Result<Self, NoRandomness> {
        mac::random().map(Self)
    }

    /// This machine's, made and synced now if it has none.
    pub fn ensure(disk: &dyn Disk, state_dir: &Path) -> Result<Self, NoClaim> {
        let path = state_dir.join(FILE);
        if let Some(text) = disk.read_optional(&path)? {
            return Ok(Self::parse(&String::from_utf8_lossy(&text))?);
        }
        let claim = Self::generate()?;
        let content = Content::Secret(format!("{}\n", BASE64.encode(claim.0)).into_bytes());
        host::create_dir_all(disk, state_dir, 0o755)?;
        Change::File { path, mode: 0o600, content }.apply(disk)?;
        Ok(claim)
    }

    fn parse(text: &str) -> Result<Self, BadSecret> {
        let bytes = BASE64.decode(text.trim()).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or(BadSecret("a claim of the cluster's keys"))
    }

    /// What masters get and remember.
    pub fn hash(&self) -> String {
        BASE64.encode(mac::sign(&self.0, PURPOSE, &[]))
    }
}

/// The form of a hash.
pub(crate) fn is_hash(text: &str) -> bool {
    BASE64.decode(text).is_ok_and(|bytes| bytes.len() == BYTES)
}

#[cfg(test)]
mod tests {
    use host::disk::model::ModelDisk;

    use super::*;

    #[test]
    fn made_once_and_read_again() {
        let disk = ModelDisk::default();
        let dir = Path::new("/var/lib/cluster-state");
        let claim = Claim::ensure(&disk, dir).unwrap();
        assert_eq!(Claim::ensure(&disk, dir).unwrap(), claim);
        assert!(is_hash(&claim.hash()) && !is_hash("hello"));
        assert_ne!(claim.hash(), Claim::generate().unwrap().hash());
        let text = String::from_utf8(disk.read(&dir.join(FILE)).unwrap()).unwrap();
        assert_ne!(text.trim(), claim.hash(), "what is sent is not what is kept");
        assert_eq!(format!("{claim:?}"), "Claim { .. }");
    }
}
