//! What lies where an OSD is to be made: read first, then decided. Nothing here writes.
//!
//! ```text
//! look    the beginning of a device or file, and the signatures that `wipefs` finds anywhere on it ─► Content
//! evaluate   Content, our own fsid, whether the configuration says `wipe` ─► Verdict
//! ```
//! Only what is empty is free. What cannot be recognised is data: nothing is written without a reason.

use std::{
    fmt,
    io::Read,
    path::{Path, PathBuf},
};

use explain::{Code, Explain};
use host::{Cmd, CommandError, Disk, Host, HostError};
use serde::Deserialize;

use crate::{Fsid, codes};

/// How much is read. Partition tables, file systems and Ceph's own label all begin within it.
const HEAD: u64 = 1 << 20;
/// Ceph's label is one block at the very beginning.
const LABEL: usize = 4096;
/// How it begins; a UUID and a line's end follow.
const MAGIC: &[u8] = b"bluestore block device\n";

/// What lies on a device or in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// There is no such device or file.
    Missing,
    /// Nothing, as far as one can see.
    Empty,
    /// An OSD.
    Osd(Label),
    /// What others put there, by the names that `wipefs` has for it: `gpt`, `ext4`, `LVM2_member`.
    Signatures(Vec<String>),
    /// Something unknown.
    Data,
}

/// What an OSD says of itself. The label holds a key, too, which is never read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The OSD's own UUID, which it has from the first moment.
    pub osd: Fsid,
    /// Its cluster; written near the end of its making.
    pub cluster: Option<Fsid>,
}

impl Label {
    /// Reads a label at the beginning of a device; `None` if there is none.
    fn parse(head: &[u8]) -> Option<Self> {
        let uuid = head.strip_prefix(MAGIC)?.get(..36)?;
        let osd = Fsid::parse(&String::from_utf8_lossy(uuid))?;
        Some(Self {
            osd,
            cluster: field(&head[..head.len().min(LABEL)], "ceph_fsid").and_then(|text| Fsid::parse(&text)),
        })
    }
}

/// A value in the label's map: name and value are texts, each behind its length as 32 bits.
fn field(label: &[u8], name: &str) -> Option<String> {
    let key = [&u32::try_from(name.len()).ok()?.to_le_bytes(), name.as_bytes()].concat();
    let at = label.windows(key.len()).position(|window| window == key)?;
    let (length, rest) = label[at + key.len()..].split_first_chunk::<4>()?;
    let value = rest.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// What may be done with a place for an OSD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// An OSD may be made there.
    Free,
    /// An OSD of ours is there, or was begun there; which one, its own UUID says.
    Ours(Label),
    /// What is there may be destroyed first: the configuration says so.
    Wipe(String),
    /// Nothing may be done.
    Refused(Refusal),
}

/// Why nothing may be done with a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What was seen there.
    pub seen: String,
    /// Whether `wipe: true` would change that.
    pub can_be_wiped: bool,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.seen)
    }
}

/// Decides what may be done. `begun` are OSDs that this machine has begun to make, by their UUID: their label may not
/// name a cluster yet.
pub fn evaluate(content: &Content, ours: &Fsid, begun: &[Fsid], wipe: bool) -> Verdict {
    let refused = |seen: String| Verdict::Refused(Refusal { seen, can_be_wiped: true });
    let destroyed = |seen: String| if wipe { Verdict::Wipe(seen) } else { refused(seen) };
    match content {
        Content::Missing => Verdict::Refused(Refusal { seen: "there is no such device".into(), can_be_wiped: false }),
        Content::Empty => Verdict::Free,
        Content::Osd(label) if label.cluster.as_ref() == Some(ours) || begun.contains(&label.osd) => {
            Verdict::Ours(label.clone())
        }
        Content::Osd(Label { cluster: Some(other), .. }) => {
            destroyed(format!("it holds an OSD of the Ceph cluster {other}"))
        }
        Content::Osd(Label { cluster: None, osd }) => destroyed(format!("it holds the unfinished OSD {osd}")),
        Content::Signatures(names) => destroyed(format!("it holds {}", described(names))),
        Content::Data => destroyed("it holds data of an unknown kind".into()),
    }
}

/// Signatures in words.
fn described(names: &[String]) -> String {
    let word = |name: &String| match name.as_str() {
        "gpt" | "dos" | "PMBR" | "sun" | "mac" | "bsd" => "a partition table".to_owned(),
        "LVM2_member" | "LVM1_member" => "a physical volume of LVM".to_owned(),
        "linux_raid_member" => "a part of a RAID".to_owned(),
        "crypto_LUKS" => "an encrypted volume".to_owned(),
        "swap" => "swap space".to_owned(),
        "zfs_member" => "a part of a ZFS pool".to_owned(),
        _ => format!("a file system ({name})"),
    };
    let mut words: Vec<String> = names.iter().map(word).collect();
    words.dedup();
    words.join(" and ")
}

/// What could not be found out about a device.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// It cannot be read.
    #[error(transparent)]
    Disk(#[from] HostError),
    /// `wipefs` cannot be run.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// `wipefs` says something that makes no sense.
    #[error("unexpected output of `wipefs` about {path}")]
    Garbled {
        /// The device.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
}

impl Explain for CheckError {
    fn code(&self) -> Code {
        match self {
            Self::Disk(error) => error.code(),
            Self::Command(error) => error.code(),
            Self::Garbled { .. } => codes::GARBLED,
        }
    }
}

/// Looks at a device or file, which is not written to. A file that does not exist is empty: it will be made.
pub async fn check(host: &Host, path: &Path, is_file: bool) -> Result<Content, CheckError> {
    let head = match head(&*host.disk, path) {
        Err(error) if error.is_not_found() => return Ok(if is_file { Content::Empty } else { Content::Missing }),
        read => read?,
    };
    if let Some(label) = Label::parse(&head) {
        return Ok(Content::Osd(label));
    }
    let signatures = signatures(host, path).await?;
    Ok(match (signatures.is_empty(), head.iter().all(|byte| *byte == 0)) {
        (false, _) => Content::Signatures(signatures),
        (true, true) => Content::Empty,
        (true, false) => Content::Data,
    })
}

fn head(disk: &dyn Disk, path: &Path) -> Result<Vec<u8>, HostError> {
    let mut head = Vec::new();
    let read = disk.open(path)?.take(HEAD).read_to_end(&mut head);
    read.map_err(|source| HostError { doing: "read", path: path.to_path_buf(), source })?;
    Ok(head)
}

/// Copies of partition tables and the marks of some RAIDs are at the end, far from what is read here.
async fn signatures(host: &Host, path: &Path) -> Result<Vec<String>, CheckError> {
    let command = Cmd::new("wipefs").args(["--no-act", "--json", "--output", "TYPE"]).arg(path);
    let printed = host.commands.run(&command).await?;
    names(&printed.stdout).map_err(|source| CheckError::Garbled { path: path.to_path_buf(), source })
}

fn names(json: &str) -> Result<Vec<String>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Found {
        signatures: Vec<Signature>,
    }
    #[derive(Deserialize)]
    struct Signature {
        r#type: String,
    }
    // Where there is no signature, there is no answer either.
    if json.trim().is_empty() {
        return Ok(Vec::new());
    }
    let found: Found = serde_json::from_str(json)?;
    let mut names: Vec<String> = found.signatures.into_iter().map(|signature| signature.r#type).collect();
    names.dedup();
    Ok(names)
}

#[cfg(test)]
mod tests;
