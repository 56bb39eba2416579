//! The file that says that this machine is done, with what was verified and when.
//!
//! Acts write and remove it, and not the engine: the engine would keep the marker before this one, and an undo restore it,
//! which may say what is no longer true. So the undo only ever removes it.

use std::path::Path;

use crate::paths::GPU_MARKER as FILE;
use engine::{About, Act, Planned, Stays, Step, StepError, Undo};
use host::{Disk, Host, HostError, create_dir_all, remove_file, write_atomic};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{super::ids, Evidence};
use crate::codes;

const VERSION: u32 = 1;
const KEY: &str = "marker";

/// What the file holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    version: u32,
    /// `ready` or `not-applicable`.
    state: String,
    verified_at: Timestamp,
    seen: Evidence,
}

/// The file as it is.
enum Noted {
    /// There is none.
    Nothing,
    /// One that another program has made, or another version: it says nothing.
    Foreign,
    /// What we wrote.
    Ours(Box<Content>),
}

/// What was found.
pub(super) struct Seen {
    noted: Noted,
    now: Evidence,
}

impl Seen {
    async fn read(host: &Host) -> Result<Self, StepError> {
        Ok(Self { noted: read(&*host.disk)?, now: Evidence::read(host).await? })
    }
}

fn read(disk: &dyn Disk) -> Result<Noted, HostError> {
    let Some(bytes) = disk.read_optional(Path::new(FILE))? else { return Ok(Noted::Nothing) };
    Ok(match serde_json::from_slice::<Content>(&bytes) {
        Ok(content) if content.version == VERSION => Noted::Ours(Box::new(content)),
        Ok(_) | Err(_) => Noted::Foreign,
    })
}

/// `ready` needs a proof, and a machine without a GPU needs none.
fn state(evidence: &Evidence) -> &'static str {
    if evidence.is_proof() { "ready" } else { "not-applicable" }
}

/// A marker that is there is true: comes before everything else, so that it never stands over what is being repaired.
pub(super) struct TrueMarker;

impl Step for TrueMarker {
    type Seen = Seen;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(ids::TRUE_MARKER, "Check what the marker says", "a stale one must not be used meanwhile")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        Seen::read(host).await
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let why = match &seen.noted {
            Noted::Nothing => return Ok(Vec::new()),
            Noted::Foreign => "it does not report what was verified".to_owned(),
            Noted::Ours(noted) => {
                let mut lost = seen.now.lost(&noted.seen);
                if lost.is_empty() && seen.now.gpu.is_some() && noted.seen.gpu.is_none() {
                    lost.push("there is a GPU now".to_owned());
                }
                if lost.is_empty() {
                    return Ok(Vec::new());
                }
                lost.join(", ")
            }
        };
        Ok(vec![Planned::act(KEY, format!("remove {FILE}: {why}"))])
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        Ok(remove_file(&*host.disk, Path::new(FILE))?)
    }
}

/// The marker says what is seen.
pub(super) struct Marker;

impl Step for Marker {
    type Seen = Seen;
    type Undo = Marked;

    fn about(&self) -> About {
        About::new(
            ids::MARKER,
            "Write down what was verified",
            "others ask for the marker before they rely on this machine",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        Seen::read(host).await
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let now = Evidence { complaint: None, ..seen.now.clone() };
        if matches!(&seen.noted, Noted::Ours(noted) if noted.state == state(&now) && noted.seen == now) {
            return Ok(Vec::new());
        }
        Ok(vec![Planned::act(KEY, format!("write {FILE}: {}", state(&seen.now)))])
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let seen = Evidence::read(host).await?;
        let content = Content { version: VERSION, state: state(&seen).to_owned(), verified_at: host.clock.now(), seen };
        let bad = |error| StepError::new(codes::BAD_NOTE, format!("{FILE} cannot be made: {error}"));
        let mut text = serde_json::to_vec_pretty(&content).map_err(bad)?;
        text.push(b'\n');
        create_dir_all(&*host.disk, Path::new("/var/lib"), 0o755)?;
        Ok(write_atomic(&*host.disk, Path::new(FILE), &text, 0o644)?)
    }
}

/// How it is undone.
pub(super) struct Marked;

impl Undo for Marked {
    fn shows_act(&self, _key: &str) -> Option<String> {
        Some(format!("remove {FILE}"))
    }

    async fn act(&self, _key: &str, host: &Host) -> Result<(), StepError> {
        Ok(remove_file(&*host.disk, Path::new(FILE))?)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Machine, *};

    const VAINFO: &str = "Package: vainfo\nStatus: install ok installed\nVersion: 2.12\n\n";

    async fn reported(machine: &Machine) -> String {
        format!("{}{}", machine.planned(&TrueMarker).await, machine.planned(&Marker).await)
    }

    #[tokio::test]
    async fn a_marker_is_true_or_gone() {
        let machine = Machine::default().apt(VAINFO);
        machine.write("/proc/sys/kernel/osrelease", "6.1.0\n");
        let mut text = format!("nothing was done yet:\n{}", reported(&machine).await);
        machine.write(FILE, "");
        text += &format!("another program's, empty:\n{}", reported(&machine).await);
        machine.apply(&TrueMarker).await;
        machine.apply(&Marker).await;
        text += &format!("written:\n{}{}", reported(&machine).await, machine.read(FILE).unwrap());
        machine.write("/var/lib/dpkg/status", &VAINFO.replace("2.12", "2.13"));
        text += &format!("an upgrade:\n{}", reported(&machine).await);
        machine.write("/var/lib/dpkg/status", &VAINFO.replace("vainfo", "vim"));
        text += &format!("a package was removed:\n{}", reported(&machine).await);
        insta::assert_snapshot!(text);
        for _ in 0..2 {
            Marked.act(KEY, &machine.host()).await.unwrap();
            assert!(machine.read(FILE).is_none());
        }
    }
}
