//! The name by which targets know this machine: there, valid, and no other machine's.
//!
//! A package makes a random name when it is installed; a machine that was cloned after that has the name of the one it was
//! cloned from, and two machines of one name throw each other's sessions out. A clone is known by its machine-id: with each
//! name it is noted on which machine it was seen. A name that no run noted, and that is older than the machine-id, came
//! with the image; if it is a random one and was never used here, it is replaced too. What cannot be seen from here is a
//! copy that kept its machine-id: the report has the name, and `prep status` compares those of all nodes.
//!
//! A name is never changed while a session exists.
//!
//! The act writes name and note itself: the name is made at random by `iscsi-iname`, and an undo leaves it, where it would
//! restore a planned file to what was no name, or another machine's.

mod name;

use std::path::{Path, PathBuf};

use engine::{About, Act, Planned, Step, StepError, Undo};
use host::{Cmd, Disk, Host, HostError, write_atomic};
use name::{is_random, is_valid, read};
use serde::{Deserialize, Serialize};

use super::{super::ids, super::note};
use crate::codes;
use nodekit::systemd::systemctl;

/// Where the name is.
pub(super) const FILE: &str = "/etc/iscsi/initiatorname.iscsi";
const MACHINE_ID: &str = "/etc/machine-id";
const SESSIONS: &str = "/sys/class/iscsi_session";
/// Targets that this machine has a record of; one place for each family of distributions.
const RECORDS: [&str; 2] = ["/etc/iscsi/nodes", "/var/lib/iscsi/nodes"];
const MAKE: &str = "name";
const REMEMBER: &str = "note";

/// The machine has a name of its own.
pub(super) struct InitiatorName {
    note: PathBuf,
}

/// On which machine a name was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Noted {
    name: String,
    machine_id: String,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    /// What the file says.
    name: Option<String>,
    machine_id: String,
    noted: Option<Noted>,
    /// The name is older than the machine-id.
    is_older: bool,
    has_sessions: bool,
    has_records: bool,
}

/// What is wrong with the name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fault {
    /// There is none.
    Missing,
    /// It is no name.
    Invalid(String),
    /// It is another machine's.
    Cloned(String),
}

impl InitiatorName {
    pub(super) fn new(state_dir: &Path) -> Self {
        Self { note: state_dir.join("initiator.json") }
    }

    async fn make(&self, host: &Host) -> Result<(), StepError> {
        let printed = host.commands.run(&Cmd::new("iscsi-iname")).await;
        let printed = printed.map_err(|error| StepError::from_explained(&error))?.stdout;
        let text = format!(
            "## Made by `blackstart prep iscsi`; every machine has its own.\nInitiatorName={}\n",
            printed.trim()
        );
        if read(&text).is_none_or(|name| !is_valid(&name)) {
            let message = format!("`iscsi-iname` gives `{}`, which is no name", printed.trim());
            return Err(StepError::new(codes::ISCSI_UNPROVEN, message));
        }
        write_atomic(&*host.disk, Path::new(FILE), text.as_bytes(), 0o600)?;
        // One that runs goes on with the name it has read.
        systemctl(host, &["try-restart", "iscsid.service"]).await?;
        self.remember(host)
    }

    fn remember(&self, host: &Host) -> Result<(), StepError> {
        if let Some(name) = name(&*host.disk)? {
            note::write(&*host.disk, &self.note, &Noted { name, machine_id: machine_id(&*host.disk)? })?;
        }
        Ok(())
    }
}

impl Seen {
    fn fault(&self) -> Option<Fault> {
        let Some(name) = &self.name else { return Some(Fault::Missing) };
        if !is_valid(name) {
            return Some(Fault::Invalid(name.clone()));
        }
        let cloned = match &self.noted {
            Some(noted) => noted.name == *name && noted.machine_id != self.machine_id,
            None => self.is_older && !self.has_records && !self.has_sessions && is_random(name),
        };
        cloned.then(|| Fault::Cloned(name.clone()))
    }

    fn is_noted(&self) -> bool {
        let noted = self.noted.as_ref();
        noted.is_some_and(|noted| Some(&noted.name) == self.name.as_ref() && noted.machine_id == self.machine_id)
    }
}

impl Step for InitiatorName {
    type Seen = Seen;
    type Undo = Named;

    fn about(&self) -> About {
        About::new(ids::INITIATOR_NAME, "Give the machine its own initiator name", "targets identify machines by it")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let disk = &*host.disk;
        let noted = note::read(disk, &self.note)?;
        let name = name(disk)?;
        let is_older = noted.is_none() && name.is_some() && is_older(host).await?;
        let mut has_records = false;
        for dir in RECORDS {
            has_records |= has_entries(disk, dir)?;
        }
        let has_sessions = has_entries(disk, SESSIONS)?;
        Ok(Seen { name, machine_id: machine_id(disk)?, noted, is_older, has_sessions, has_records })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let act = |key: &str, what: String| Ok(vec![Planned::act(key, what)]);
        let why = match seen.fault() {
            None if seen.is_noted() => return Ok(Vec::new()),
            None => return act(REMEMBER, "note the initiator name and whose it is".to_owned()),
            Some(Fault::Cloned(name)) if seen.has_sessions => {
                let message = format!("the initiator name {name} came from another machine, and sessions use it");
                return Err(StepError::new(codes::NAME_OF_ANOTHER, message));
            }
            Some(Fault::Missing) => "there is none".to_owned(),
            Some(Fault::Invalid(name)) => format!("`{name}` is none"),
            Some(Fault::Cloned(name)) => format!("{name} came from another machine"),
        };
        act(MAKE, format!("make an initiator name: {why}"))
    }

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        if key == MAKE { self.make(host).await } else { self.remember(host) }
    }
}

/// The name that this machine has now.
pub(super) fn name(disk: &dyn Disk) -> Result<Option<String>, HostError> {
    let text = disk.read_optional(Path::new(FILE))?.unwrap_or_default();
    Ok(read(&String::from_utf8_lossy(&text)))
}

fn machine_id(disk: &dyn Disk) -> Result<String, HostError> {
    let bytes = disk.read_optional(Path::new(MACHINE_ID))?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

fn has_entries(disk: &dyn Disk, dir: &str) -> Result<bool, HostError> {
    let dir = Path::new(dir);
    Ok(disk.exists(dir)? && !disk.list(dir)?.is_empty())
}

/// Whether the name was written before the machine-id, in whole seconds.
async fn is_older(host: &Host) -> Result<bool, StepError> {
    if machine_id(&*host.disk)?.is_empty() {
        return Ok(false);
    }
    let stat = Cmd::new("stat").args(["--dereference", "--format=%Y", FILE, MACHINE_ID]);
    let printed = host.commands.run(&stat).await.map_err(|error| StepError::from_explained(&error))?;
    let times: Vec<i64> = printed.stdout.lines().filter_map(|line| line.trim().parse().ok()).collect();
    Ok(matches!(times[..], [name, machine] if name < machine))
}

/// How it is undone: the note goes, the name stays. Targets know the machine by it, and the one before it was no name,
/// or another machine's.
pub(super) struct Named {
    note: PathBuf,
}

impl Named {
    pub(super) fn new(state_dir: &Path) -> Self {
        Self { note: InitiatorName::new(state_dir).note }
    }
}

impl Undo for Named {
    async fn act(&self, _key: &str, host: &Host) -> Result<(), StepError> {
        Ok(host::remove_file(&*host.disk, &self.note)?)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Machine, *};

    const NOTE: &str = "/var/lib/node-bootstrap/iscsi/initiator.json";
    const OLD: &str = "iqn.1993-08.org.debian:01:9fe7844fb24f";

    fn step() -> InitiatorName {
        InitiatorName::new(Path::new("/var/lib/node-bootstrap/iscsi"))
    }

    /// A machine whose name is older than its machine-id, or not.
    fn machine(file: &str, noted: Option<(&str, &str)>, is_older: bool) -> Machine {
        let machine = Machine::default().answering(move |command| match command.split(' ').next().unwrap() {
            "stat" => Ok(if is_older { "100\n200\n" } else { "300\n200\n" }.to_owned()),
            "iscsi-iname" => Ok("iqn.1993-08.org.debian:01:708e87667be\n".to_owned()),
            _ => Ok(String::new()),
        });
        machine.write(MACHINE_ID, "this\n");
        if !file.is_empty() {
            machine.write(FILE, file);
        }
        if let Some((name, id)) = noted {
            machine.write(NOTE, &format!(r#"{{"name": "{name}", "machineId": "{id}"}}"#));
        }
        machine
    }

    #[tokio::test]
    async fn a_name_that_is_another_machines_is_replaced() {
        let file = format!("## DO NOT EDIT\nInitiatorName={OLD}\n");
        let chosen = "InitiatorName = iqn.2001-04.com.example:worker-01\n";
        let (session, record) =
            ("/sys/class/iscsi_session/session1/state", "/etc/iscsi/nodes/iqn.x/10.0.0.1,3260,1/default");
        let mut reported = String::new();
        for (case, file, noted, is_older, extra) in [
            ("no file", "", None, false, ""),
            ("a package that asks for a name", "GenerateName=yes\n", None, false, ""),
            ("no name", "InitiatorName=worker 1\n", None, false, ""),
            ("a name that was not noted", &file, None, false, ""),
            ("a name that was not noted, older than the machine", &file, None, true, ""),
            ("the same, but a user chose it", chosen, None, true, ""),
            ("the same, but it was used here", &file, None, true, record),
            ("the same, and it is used right now", &file, None, true, session),
            ("noted here", &file, Some((OLD, "this")), true, ""),
            ("noted on another machine", &file, Some((OLD, "that")), false, ""),
            ("noted on another machine, and used right now", &file, Some((OLD, "that")), false, session),
            ("changed since it was noted", chosen, Some((OLD, "this")), false, ""),
            ("changed on a clone by a user", chosen, Some((OLD, "that")), false, ""),
        ] {
            let machine = machine(file, noted, is_older);
            if !extra.is_empty() {
                machine.write(extra, "");
            }
            reported += &format!("{case}:\n{}", machine.planned(&step()).await);
        }
        insta::assert_snapshot!(reported);
    }

    #[tokio::test]
    async fn a_new_name_is_written_noted_and_kept() {
        let machine = machine("GenerateName=yes\n", None, true);
        machine.apply(&step()).await;
        assert_eq!(machine.planned(&step()).await, "  nothing\n");
        insta::assert_snapshot!(format!("{}{}", machine.read(FILE).unwrap(), machine.read(NOTE).unwrap()));
        assert!(machine.asked().contains(&"systemctl try-restart iscsid.service".to_owned()));

        let named = Named::new(Path::new("/var/lib/node-bootstrap/iscsi"));
        named.act(MAKE, &machine.host()).await.unwrap();
        named.act(REMEMBER, &machine.host()).await.unwrap();
        assert!(machine.read(NOTE).is_none() && machine.read(FILE).is_some());
    }
}
