//! What was fetched for a run, as it is kept on the disk, and what is made of it.
//!
//! ```text
//! payload/served.ign   as it came          payload/machine-config.json  what the machine-config-daemon is given
//! payload/payload.json for which run       payload/auth.json            the pull secret, for podman
//! ```
//! All of it is 0600 in a directory of 0700. Nothing of it lies where the system itself would take it for an order.

use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{SHA256, digest};
use engine::StepError;
use host::{Disk, HostError, create_dir_all, write_atomic};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    images::Images,
    machine_config::MachineConfig,
    payload::Payload,
    problem::{self, Problem},
    registry::Credentials,
    transform::transform,
};
use crate::{Run, codes::PAYLOAD_GONE, paths};

/// What was fetched, for which run, when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Note {
    pub(super) run: String,
    pub(super) sha256: String,
    /// What the server's clock said.
    pub(super) date: Option<String>,
    /// What ours said at that moment.
    pub(super) at: Timestamp,
}

/// A payload with all that follows from it. It has no `Debug`: everything in it may be a key.
pub(super) struct Target {
    pub(super) images: Images,
    /// What the machine-config-daemon is given.
    pub(super) config: MachineConfig,
}

pub(super) fn served() -> PathBuf {
    paths::payload().join("served.ign")
}

fn note() -> PathBuf {
    paths::payload().join("payload.json")
}

/// What the machine-config-daemon is given.
pub(super) fn machine_config() -> PathBuf {
    paths::payload().join("machine-config.json")
}

/// The pull secret.
pub(super) fn auth() -> PathBuf {
    paths::payload().join("auth.json")
}

/// What is kept for this run, if it is whole.
pub(super) fn read_note(disk: &dyn Disk, run: &str) -> Result<Option<Note>, HostError> {
    let Some(text) = disk.read_optional(&note())? else { return Ok(None) };
    // One that is damaged or another run's says nothing: the payload is fetched anew.
    let Some(note) = serde_json::from_slice::<Note>(&text).ok().filter(|note| note.run == run) else {
        return Ok(None);
    };
    let served = disk.read_optional(&served())?;
    Ok(served.filter(|bytes| sha256(bytes) == note.sha256).map(|_| note))
}

/// Keeps what was fetched. The note comes last: without it nothing counts.
pub(super) fn keep(disk: &dyn Disk, bytes: &[u8], kept: &Note) -> Result<(), StepError> {
    create_dir_all(disk, Path::new(paths::STATE_DIR), 0o700)?;
    create_dir_all(disk, &paths::payload(), 0o700)?;
    write_atomic(disk, &served(), bytes, 0o600)?;
    let bad = |error| StepError::new(PAYLOAD_GONE, format!("{} cannot be made: {error}", note().display()));
    let text = serde_json::to_vec_pretty(kept).map_err(bad)?;
    Ok(write_atomic(disk, &note(), &text, 0o600)?)
}

/// The payload of this run.
pub(super) fn read(disk: &dyn Disk, run: &Run) -> Result<Vec<u8>, StepError> {
    let gone = || StepError::new(PAYLOAD_GONE, format!("{} is not of this run, or not there", served().display()));
    read_note(disk, &run.order.run)?.ok_or_else(gone)?;
    Ok(disk.read(&served())?)
}

impl Target {
    /// From what was fetched for this run.
    pub(super) fn read(disk: &dyn Disk, run: &Run) -> Result<Self, StepError> {
        Self::parse(&read(disk, run)?).map_err(|problems| problem::error(&problems))
    }

    /// From what was served; all that is wrong with it at once.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Vec<Problem>> {
        let payload = Payload::parse(bytes)?;
        match (Images::find(&payload), transform(&payload)) {
            (Ok(images), Ok(config)) => Ok(Self { images, config }),
            (images, config) => Err([images.err(), config.err()].into_iter().flatten().flatten().collect()),
        }
    }

    /// What the machine-config-daemon is given, as bytes: the same payload gives the same.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.config.raw().to_string().into_bytes()
    }

    /// Its sum: what the target is.
    pub(super) fn digest(&self) -> String {
        sha256(&self.bytes())
    }

    /// What may pull images: of the payload, else of the Secret, else of the machine.
    pub(super) fn credentials(&self, disk: &dyn Disk, run: &Run) -> Result<Credentials, StepError> {
        Credentials::find(self.config.files(), &run.secret, disk)
    }
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::{samples::Sample, testing::Machine},
        *,
    };

    #[test]
    fn what_is_kept_is_of_one_run_and_whole() {
        let machine = Machine::default();
        let (host, run) = (machine.host(), machine.run());
        let bytes = Sample::default().served();
        assert_eq!(read_note(&*host.disk, "a").unwrap(), None);
        machine.fetched(&bytes);
        let note = read_note(&*host.disk, &run.order.run).unwrap().unwrap();
        assert_eq!(note.sha256, sha256(&bytes));
        assert_eq!(read_note(&*host.disk, "another").unwrap(), None);
        let mode = |path: PathBuf| host.disk.meta(&path).unwrap().unwrap().mode;
        assert_eq!((mode(served()), mode(paths::payload()), mode(paths::STATE_DIR.into())), (0o600, 0o700, 0o700));
        let target = Target::read(&*host.disk, &run).unwrap();
        assert_eq!(target.digest(), Target::parse(&bytes).unwrap().digest());
        machine.write("/var/lib/blackstart-reprovision/payload/served.ign", "{}");
        assert!(Target::read(&*host.disk, &run).is_err());
    }
}
