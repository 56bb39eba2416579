//! A stage of the payload: run, and run to its end.
//!
//! ```text
//! noted: newest dnf transaction, kernel ─► script (BOOTSTRAP_STAGE, token as a file) ─► noted: ended with 0
//!        found begun: a transaction that was interrupted is completed first ─► script again
//! ```
//! That it ended with 0 is all that a script can say, so it is noted, and the note is believed (see [`record`](super::record)): the one
//! step that rests on a marker. A script that was killed, with us or by a power loss, is run again: it has to bear that, as bash written
//! for it, dnf and Ansible do. One that failed by itself is not, unless it ended with 75 (`EX_TEMPFAIL`).
//!
//! The way back undoes everything newer than the transaction that was noted first, at once, and so once for both stages.

use std::{path::Path, sync::Arc, time::Duration};

use engine::{About, Act, Notes, Planned, Step, StepError, StepId, Undo};
use explain::Explain;
use host::{Cmd, Disk, Host, create_dir_all, write_atomic};
use upgrades::names::key;

use super::{
    dnf, ids, payload,
    record::{Begun, Record, kernel},
    script::{Ended, Script, Scripts},
};
use crate::{Run, codes};

/// By this a script says that another attempt may help.
const TEMPORARILY: &str = "exit status: 75";

/// Keys whose values no output shows.
const SECRET: [&str; 5] =
    [key::BOOTSTRAP_TOKEN, key::BOOTSTRAP_URL, key::PROGRESS_TOKEN, key::PROGRESS_URL, key::PULL_SECRET];

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// Before the reboot.
    First,
    /// After it, before the kubelet.
    Second,
}

impl Which {
    /// The step's name.
    pub(super) const fn id(self) -> StepId {
        match self {
            Self::First => ids::STAGE_1,
            Self::Second => ids::STAGE_2,
        }
    }

    const fn number(self) -> u8 {
        match self {
            Self::First => 1,
            Self::Second => 2,
        }
    }

    fn of(self, record: &mut Record) -> &mut Option<Begun> {
        match self {
            Self::First => &mut record.stage1,
            Self::Second => &mut record.stage2,
        }
    }
}

/// The stage has ended with 0.
pub(super) struct Stage {
    pub(super) which: Which,
    pub(super) run: Run,
    pub(super) scripts: Arc<dyn Scripts>,
}

impl Stage {
    /// Notes how the node is, or completes what an attempt before this one was interrupted at.
    async fn begin(&self, host: &Host) -> Result<(), StepError> {
        let disk = &*host.disk;
        let mut record = Record::of(disk, &self.run.order.run)?;
        let newest = dnf::newest(host).await?;
        let Some(begun) = self.which.of(&mut record) else {
            let kernel = kernel(host)?;
            *self.which.of(&mut record) = Some(Begun { transaction: newest, kernel, ended: false, repairing: None });
            return record.write(disk);
        };
        if begun.repairing.is_none() && newest > begun.transaction && dnf::is_interrupted(host, newest).await? {
            begun.repairing = Some(newest);
        }
        // The repair is transactions too: were it interrupted itself, the newest one would not be the one to repair.
        let Some(interrupted) = begun.repairing else { return Ok(()) };
        record.write(disk)?;
        dnf::repair(host, interrupted).await?;
        if let Some(begun) = self.which.of(&mut record) {
            begun.repairing = None;
        }
        record.write(disk)
    }

    fn script(&self, disk: &dyn Disk, has_token: bool) -> Result<Script, StepError> {
        let entry = payload::entry(disk)?;
        let id = |key| self.run.secret.get(key).unwrap_or_default().to_owned();
        let mut env = vec![
            ("BOOTSTRAP_STAGE", self.which.number().to_string()),
            ("WORKER_ID", id(key::WORKER)),
            ("CLUSTER_ID", id(key::CLUSTER)),
            ("REGION", id(key::REGION)),
            ("HOME", "/root".to_owned()),
            // Ansible refuses to work in any other encoding, and a unit has none.
            ("LC_ALL", "C.UTF-8".to_owned()),
            ("ANSIBLE_NOCOLOR", "1".to_owned()),
            // Lines come when they are printed, not with the last one.
            ("PYTHONUNBUFFERED", "1".to_owned()),
        ];
        if has_token {
            env.push(("BOOTSTRAP_TOKEN_FILE", payload::token().display().to_string()));
        }
        let within = Duration::from_secs(self.run.order.apply_seconds.max(1));
        Ok(Script { command: entry.command(), dir: payload::files(), env, within })
    }

    fn ended(&self, ended: Ended) -> Result<(), StepError> {
        let number = self.which.number();
        let (code, message, is_retryable) = match ended {
            Ended::Well => return Ok(()),
            Ended::Badly { status, was_killed: true, last } => {
                (codes::STAGE_KILLED, format!("stage {number} of the payload ended with {status}: {last}"), true)
            }
            Ended::Badly { status, was_killed: false, last } => {
                let is_temporary = status == TEMPORARILY;
                (
                    codes::STAGE_FAILED,
                    format!("stage {number} of the payload ended with {status}: {last}"),
                    is_temporary,
                )
            }
            Ended::Late { last } => {
                let within = self.run.order.apply_seconds;
                let message = format!("stage {number} of the payload printed nothing for {within} s after: {last}");
                (codes::TIMED_OUT, message, false)
            }
            Ended::NotStarted(why) => {
                (codes::STAGE_FAILED, format!("stage {number} of the payload does not start: {why}"), false)
            }
        };
        let error = StepError::new(code, message);
        Err(if is_retryable { error.retryable() } else { error })
    }
}

impl Step for Stage {
    type Seen = bool;
    type Undo = Undone;

    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        match self.which {
            Which::First => {
                About::new(self.which.id(), "Run stage 1", "the base of the node: packages, kernel, settings")
            }
            Which::Second => About::new(self.which.id(), "Run stage 2", "what Kubernetes needs, on the new kernel"),
        }
    }

    /// Whether it has ended.
    async fn observe(&self, host: &Host) -> Result<bool, StepError> {
        let mut record = Record::of(&*host.disk, &self.run.order.run)?;
        Ok(self.which.of(&mut record).as_ref().is_some_and(|begun| begun.ended))
    }

    fn plan(&self, has_ended: &bool) -> Result<Vec<Planned>, StepError> {
        let what = || format!("run stage {} of the payload", self.which.number());
        Ok(if *has_ended { Vec::new() } else { vec![Planned::act("run", what())] })
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let disk = &*host.disk;
        payload::of(&self.run, disk)?;
        let secrets: Vec<String> =
            SECRET.iter().filter_map(|key| self.run.secret.get(key)).map(str::to_owned).collect();
        let token = Token::offer(disk, self.run.secret.get(key::BOOTSTRAP_TOKEN))?;
        let script = self.script(disk, token.is_some())?;
        self.begin(host).await?;
        self.ended(self.scripts.run(&script, &secrets, host).await)?;
        let mut record = Record::of(disk, &self.run.order.run)?;
        if let Some(begun) = self.which.of(&mut record) {
            begun.ended = true;
        }
        record.write(disk)
    }
}

/// The file with the token, in memory and while the script is waited for.
struct Token<'a>(&'a dyn Disk);

impl<'a> Token<'a> {
    fn offer(disk: &'a dyn Disk, token: Option<&str>) -> Result<Option<Self>, StepError> {
        let Some(token) = token else { return Ok(None) };
        if let Some(dir) = payload::token().parent() {
            create_dir_all(disk, dir, 0o700)?;
        }
        let guard = Self(disk);
        write_atomic(disk, &payload::token(), token.as_bytes(), 0o600)?;
        Ok(Some(guard))
    }
}

impl Drop for Token<'_> {
    fn drop(&mut self) {
        // It is in memory only, and the next one overwrites it: there is no one to report it to here.
        let _ = payload::forget_token(self.0);
    }
}

/// How it is undone: packages as they were, and the former kernel the default.
pub(super) struct Undone {
    pub(super) which: Which,
    pub(super) before: Option<Begun>,
}

impl Undo for Undone {
    const ONLY_LIVE: bool = true;

    fn shows_act(&self, _key: &str) -> Option<String> {
        let Begun { transaction, kernel, .. } = self.before.as_ref()?;
        Some(format!("undo the dnf transactions after {transaction}, and make kernel {kernel} the default"))
    }

    async fn before(&self, _host: &Host) -> Result<Notes, StepError> {
        if self.which == Which::Second {
            return Ok(Notes::new());
        }
        let stays = "what the payload did beyond packages and declared files stays: the kernel's command line, users, \
                     services that it enabled, SELinux booleans, firewall rules";
        Ok(vec![stays.to_owned()])
    }

    async fn act(&self, _key: &str, host: &Host) -> Result<(), StepError> {
        let disk = &*host.disk;
        let Some(mut record) = Record::read(disk)? else { return Ok(()) };
        let Some(before) = record.before().cloned() else { return Ok(()) };
        payload::forget_token(disk)?;
        if record.undone_at.is_none() || record.undone_at != Some(dnf::newest(host).await?) {
            record.undone_at = Some(dnf::roll_back(host, before.transaction).await?);
            for begun in [&mut record.stage1, &mut record.stage2].into_iter().flatten() {
                begun.ended = false;
            }
            record.write(disk)?;
        }
        boot_by_default(host, &before.kernel).await
    }
}

/// Makes a kernel the default of the boot loader, where there is one and it has that kernel.
async fn boot_by_default(host: &Host, kernel: &str) -> Result<(), StepError> {
    let image = format!("/boot/vmlinuz-{kernel}");
    if !host.disk.exists(Path::new(&image))? {
        host.doing(format!("{image} is not there: the boot loader is left as it is"));
        return Ok(());
    }
    let failed = |error: &host::CommandError| {
        let message = format!("kernel {kernel} is not the default again: {}", explain::chain(error));
        StepError::new(codes::OLD_KERNEL, message)
    };
    match host.commands.run(&Cmd::new("grubby").args(["--set-default", &image])).await {
        Err(error) if error.code() == host::codes::NO_COMMAND => {
            host.doing("there is no grubby: the boot loader is left as it is");
            Ok(())
        }
        ended => ended.map(drop).map_err(|error| failed(&error)),
    }
}

#[cfg(test)]
mod tests;
