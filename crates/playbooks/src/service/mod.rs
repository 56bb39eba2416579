//! A systemd service runs with the configuration it should have, and is healthy.
//!
//! Most of what a node does is such a step: files, a process, and a question whose answer proves that the process does its
//! work. The unit itself is there already: all of them are written at once, see `cluster/unit_files.rs`. Which configuration
//! a process was started with is written in its environment (the unit carries a sum over everything it reads), so a crash
//! between writing a file and restarting the service is noticed by looking.

mod probe;
#[cfg(test)]
mod tests;
mod undo;

use std::{
    marker::PhantomData,
    path::Path,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use engine::{About, Act, Planned, Step, StepError, Undo, Verdict};
use host::{Change, Content, Host};
pub(crate) use probe::{Health, Probe};
use render::{CONFIG_VARIABLE, RenderedFile};
pub(crate) use undo::{Started, clear, shows, stop};

use nodekit::systemd::{self, Unit};

/// systemd is asked at most this often while a process is known to run: a question costs more than the answer is worth
/// on a machine that is busy starting a control plane.
const TRUSTED: Duration = Duration::from_millis(700);

/// What Linux returns for a process that is gone.
const NO_SUCH_PROCESS: i32 = 3;

/// A service that runs and is healthy.
pub(crate) struct Service<U = Started> {
    about: About,
    rendered: render::Service,
    probe: Probe,
    last: Mutex<Option<(Instant, Unit)>>,
    undo: PhantomData<U>,
}

/// What was found of a service.
pub(crate) struct Seen {
    missing: Vec<Change>,
    is_live: bool,
    unit: Unit,
    configuration: Configuration,
    health: Health,
    last_log_line: String,
}

impl<U: Undo> Service<U> {
    /// A service that is proved by `probe` to work.
    pub(crate) fn new(about: About, rendered: render::Service, probe: Probe) -> Self {
        Self { about, rendered, probe, last: Mutex::new(None), undo: PhantomData }
    }

    fn wanted(&self) -> Vec<Change> {
        self.rendered.files.iter().map(file).collect()
    }

    /// The unit, as systemd showed it a moment ago or shows it now.
    async fn unit(&self, host: &Host) -> Result<Unit, StepError> {
        let remembered = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((when, state)) = remembered
            && when.elapsed() < TRUSTED
            && state.is_up()
            && let Some(pid) = state.pid
            && host.disk.exists(Path::new(&format!("/proc/{pid}")))?
        {
            return Ok(state);
        }
        let state = systemd::check(host, self.rendered.name).await?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), state.clone()));
        Ok(state)
    }

    fn forget(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whether a process was started with the configuration as it is now.
    fn configuration(&self, host: &Host, unit: &Unit) -> Result<Configuration, StepError> {
        let Some(pid) = unit.pid else { return Ok(Configuration::Unknown) };
        let process = Path::new("/proc").join(pid.to_string());
        // Between its birth and its first instruction a service is a copy of systemd or of a command before it. The program
        // is looked at first: once it is the right one, the environment cannot be that of the copy any more.
        let program = host.disk.read_link(&process.join("exe")).unwrap_or_default();
        let has_begun = program
            .and_then(|program| Some(self.rendered.name.starts_with(&*program.file_name()?.to_string_lossy())))
            .unwrap_or_default();
        if !has_begun {
            return Ok(Configuration::Unknown);
        }
        let environment = match host.disk.read_optional(&process.join("environ")) {
            // It ended while it was looked at.
            Err(error) if error.source.raw_os_error() == Some(NO_SUCH_PROCESS) => None,
            read => read?,
        };
        // The kernel puts the environment in place after the program.
        let Some(environment) = environment.filter(|environment| !environment.is_empty()) else {
            return Ok(Configuration::Unknown);
        };
        let wanted = format!("{CONFIG_VARIABLE}={}", self.rendered.config_hash);
        let is_wanted = environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes());
        Ok(if is_wanted { Configuration::Current } else { Configuration::Other })
    }
}

/// What a process was started with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Configuration {
    /// What the files say now.
    Current,
    /// Something else.
    Other,
    /// There is no process, or it has not begun.
    Unknown,
}

/// A rendered file as a change. Whatever is not for everybody is a secret.
pub(crate) fn file(rendered: &RenderedFile) -> Change {
    let bytes = rendered.text.clone().into_bytes();
    let is_private = rendered.mode.trailing_zeros() >= 6;
    let content = if is_private { Content::Secret(bytes) } else { Content::Plain(bytes) };
    Change::File { path: rendered.path.clone(), mode: rendered.mode, content }
}

impl<U: Undo> Step for Service<U> {
    type Seen = Seen;
    type Undo = U;

    fn about(&self) -> About {
        self.about.clone()
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let missing = Change::missing(self.wanted(), &*host.disk)?;
        let is_live = host.is_live;
        let unit = if is_live { self.unit(host).await? } else { Unit::default() };
        let configuration = if is_live { self.configuration(host, &unit)? } else { Configuration::Unknown };
        let health =
            if configuration == Configuration::Current { self.probe.check(host).await? } else { Health::Unknown };
        let fails = unit.is_failing() || (unit.restarts > 0 && health != Health::Good);
        let last_log_line = if fails { systemd::last_log_line(host, self.rendered.name).await } else { String::new() };
        Ok(Seen { missing, is_live, unit, configuration, health, last_log_line })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let mut changes = Planned::files(&seen.missing);
        if !seen.is_live {
            return Ok(changes);
        }
        let name = self.rendered.name;
        let act = |key: &str, what: String| Planned::act(key, what);
        // A process that starts now may have read what is about to be replaced.
        if seen.unit.is_up() && (seen.configuration == Configuration::Other || !changes.is_empty()) {
            changes.push(act("restart", format!("restart {name}: its configuration has changed")));
        } else if !seen.unit.is_up() {
            changes.push(act("start", format!("start {name}")));
        }
        Ok(changes)
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        let name = self.rendered.name;
        if !seen.is_live {
            return Verdict::Met;
        }
        let output = if seen.last_log_line.is_empty() {
            String::new()
        } else {
            format!("; last log line: {}", seen.last_log_line)
        };
        let waiting = |what: String, progress: &str| Verdict::Waiting { what, progress: progress.to_owned() };
        if seen.configuration != Configuration::Current {
            let Unit { active, sub, restarts, .. } = &seen.unit;
            let again = if *restarts > 0 { format!(", started {restarts} times again") } else { String::new() };
            return waiting(format!("{name} to run; it is {active} ({sub}){again}{output}"), "");
        }
        match &seen.health {
            Health::Good => Verdict::Met,
            Health::Unknown => waiting(format!("{name} to run"), ""),
            Health::NotYet { what, progress } => waiting(format!("{what}{output}"), progress),
        }
    }

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        self.forget();
        let name = self.rendered.name;
        match key.as_str() {
            // A unit that failed too often is not started by `start` alone.
            "start" => {
                if self.unit(host).await?.active == "failed" {
                    systemd::systemctl(host, &["reset-failed", name]).await?;
                }
                systemd::systemctl(host, &["start", "--no-block", name]).await?
            }
            _ => systemd::systemctl(host, &["restart", "--no-block", name]).await?,
        };
        self.forget();
        Ok(())
    }
}
