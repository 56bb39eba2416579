//! It works: `iscsiadm` has an answer, and where this machine can be a target too, a login to itself has shown it.
//!
//! A target needs the program `tgtd`, which is not installed for this alone. Where it is there, the login is made once per
//! boot: a kernel or a package may have changed in between, and it takes a few seconds. [`login`] is how.
//! The act itself notes the boot of a login that went well: a note that is written before, as a planned file would be, proves nothing.

mod login;

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use engine::{About, Act, Planned, Step, StepError, Undo, Verdict};
use host::{Cmd, CommandError, Host};
use serde::{Deserialize, Serialize};

use super::{
    super::ids,
    super::{boot_id, note},
};
use crate::codes;

/// What makes a machine a target.
const TARGET: [&str; 2] = ["/usr/sbin/tgtd", "/usr/sbin/tgtadm"];
const LOGIN: &str = "login";

/// It works.
pub(super) struct Proof {
    state_dir: PathBuf,
}

/// What was proved, and in which boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Noted {
    boot_id: String,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    /// `iscsiadm` is there; before the packages are, it cannot be checked.
    can_ask: bool,
    can_be_target: bool,
    is_noted: bool,
}

impl Proof {
    pub(super) fn new(state_dir: &Path) -> Self {
        Self { state_dir: state_dir.to_path_buf() }
    }

    fn note(&self) -> PathBuf {
        self.state_dir.join("login.json")
    }

    fn check(&self, host: &Host) -> Result<Seen, StepError> {
        let disk = &*host.disk;
        let noted: Option<Noted> = note::read(disk, &self.note())?;
        let mut can_be_target = true;
        for program in TARGET {
            can_be_target &= disk.exists(Path::new(program))?;
        }
        let boot_id = boot_id(disk)?;
        let is_noted = noted.is_some_and(|noted| noted.boot_id == boot_id);
        Ok(Seen { can_ask: true, can_be_target, is_noted })
    }
}

/// What was proved, for the report.
pub(super) fn proved(host: &Host, state_dir: &Path) -> Result<&'static str, StepError> {
    let Seen { can_be_target, is_noted, .. } = Proof::new(state_dir).check(host)?;
    Ok(match (is_noted, can_be_target) {
        (true, _) => "a login to a target on this machine, with the same bytes on both sides",
        (false, true) => "iscsiadm answers; no login was made in this boot",
        (false, false) => "iscsiadm answers; no login was made, as tgt, which makes a target, is not installed",
    })
}

impl Step for Proof {
    type Seen = Seen;
    type Undo = Proved;

    fn about(&self) -> About {
        About::new(ids::ISCSI_PROOF, "See that it works", "a daemon that runs has not yet attached anything")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let can_ask = ask(host).await?;
        Ok(Seen { can_ask, ..self.check(host)? })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        if !seen.can_ask || !seen.can_be_target || seen.is_noted {
            return Ok(Vec::new());
        }
        let what = "log in to a target on this machine, compare what is read, and log out".to_owned();
        Ok(vec![Planned::act(LOGIN, what)])
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        if seen.can_ask {
            return Verdict::Met;
        }
        Verdict::Waiting { what: "iscsiadm to be installed".to_owned(), progress: String::new() }
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        login::prove(host, &self.state_dir).await?;
        note::write(&*host.disk, &self.note(), &Noted { boot_id: boot_id(&*host.disk)? })
    }
}

/// Asks `iscsiadm` which sessions there are. None is an answer too, with an exit code of its own. False if it is not there.
async fn ask(host: &Host) -> Result<bool, StepError> {
    const NONE: &str = "exit status: 21";
    match host.commands.run(&Cmd::new("iscsiadm").args(["--mode", "session"]).env("LC_ALL", "C")).await {
        Ok(_) => Ok(true),
        Err(CommandError::Failed { status, .. }) if status == NONE => Ok(true),
        Err(CommandError::Failed { status, output, .. }) => {
            let message = format!("iscsiadm cannot list the sessions ({status}): {output}");
            Err(StepError::new(codes::ISCSI_UNPROVEN, message))
        }
        Err(CommandError::NotStarted { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(false),
        Err(error @ CommandError::NotStarted { .. }) => Err(StepError::from_explained(&error)),
    }
}

/// How it is undone: what a login that was killed may have left goes.
pub(super) struct Proved {
    state_dir: PathBuf,
}

impl Proved {
    pub(super) fn new(state_dir: &Path) -> Self {
        Self { state_dir: state_dir.to_path_buf() }
    }
}

impl Undo for Proved {
    async fn act(&self, _key: &str, host: &Host) -> Result<(), StepError> {
        login::clean(host, &self.state_dir).await?;
        Ok(host::remove_file(&*host.disk, &Proof::new(&self.state_dir).note())?)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Machine, *};

    #[tokio::test]
    async fn a_login_is_made_once_per_boot_where_there_is_a_target() {
        let proof = Proof::new(Path::new("/state"));
        let none = || Err("exit status: 21|iscsiadm: No active sessions.".to_owned());
        let mut reported = String::new();
        for (case, files, is_broken) in [
            ("no program for a target", &[][..], false),
            ("a target is possible", &TARGET[..], false),
            ("iscsiadm cannot say", &[], true),
        ] {
            let machine = Machine::default().answering(move |_| {
                if is_broken { Err("exit status: 20|iscsiadm: could not connect to iscsid".to_owned()) } else { none() }
            });
            machine.write("/proc/sys/kernel/random/boot_id", "boot-1\n");
            for file in files {
                machine.write(file, "");
            }
            reported += &format!("{case}:\n{}", machine.planned(&proof).await);
            machine.write("/state/login.json", r#"{"bootId": "boot-1"}"#);
            reported += &format!("  then:\n{}", machine.planned(&proof).await);
            machine.write("/proc/sys/kernel/random/boot_id", "boot-2\n");
            reported += &format!("  after a boot:\n{}", machine.planned(&proof).await);
        }
        insta::assert_snapshot!(reported);
    }
}
