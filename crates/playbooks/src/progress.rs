//! How far the run on this node is, in a small file: for whoever looks from outside, without a lock and at any moment.
//!
//! It names the boot it was written in, so that what an earlier boot left behind is not taken for the present.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use engine::{Event, Sink, State};
use host::{Disk, write_atomic};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The machine's boot this was written in.
    pub boot_id: String,
    /// What the run as a whole is doing.
    pub phase: Phase,
    /// Steps that are verified, and steps in all.
    pub done: usize,
    /// Steps in all.
    pub total: usize,
    /// Everything that is waited for, or what went wrong.
    pub message: String,
    /// When that was.
    pub time: Timestamp,
}

/// What a run as a whole is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Steps are being worked on.
    Working,
    /// Every promise is kept.
    Done,
    /// The run ended before that.
    Failed,
}

impl Progress {
    /// The file's name in the state directory.
    pub const FILE: &str = "progress.json";

    /// Reads the file; `None` if there is none, or if it cannot be understood: it is only information.
    pub fn read(disk: &dyn Disk, state_dir: &Path) -> Option<Self> {
        serde_json::from_slice(&disk.read(&state_dir.join(Self::FILE)).ok()?).ok()
    }
}

/// Keeps the file up to date with the events of a run.
pub struct ProgressFile {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    boot_id: String,
    seen: Mutex<Seen>,
}

/// What the events have told so far.
#[derive(Default)]
struct Seen {
    /// What each step waits for, the longest wait first.
    waiting: Vec<(Option<String>, String)>,
    /// The first failure.
    failed: Option<String>,
}

impl Seen {
    fn wait(&mut self, step: Option<&str>, what: &str) {
        match self.waiting.iter_mut().find(|(one, _)| one.as_deref() == step) {
            Some((_, known)) => what.clone_into(known),
            None => self.waiting.push((step.map(str::to_owned), what.to_owned())),
        }
    }
}

impl ProgressFile {
    /// In this state directory.
    pub fn new(disk: &Arc<dyn Disk>, state_dir: &Path) -> Self {
        let boot_id = disk.read(Path::new(BOOT_ID)).unwrap_or_default();
        Self {
            disk: disk.clone(),
            path: state_dir.join(Progress::FILE),
            boot_id: String::from_utf8_lossy(&boot_id).trim().to_owned(),
            seen: Mutex::default(),
        }
    }
}

impl ProgressFile {
    /// Notes that there was no run at all, and why.
    pub fn never_began(&self, why: &str, now: Timestamp) {
        self.write(&Progress {
            boot_id: self.boot_id.clone(),
            phase: Phase::Failed,
            done: 0,
            total: 0,
            message: why.to_owned(),
            time: now,
        });
    }

    /// Nobody decides from it, so a disk that is full must not end the run here: the ledger will tell.
    fn write(&self, progress: &Progress) {
        if let Ok(text) = serde_json::to_vec(progress) {
            let _ = write_atomic(&*self.disk, &self.path, &text, 0o644);
        }
    }
}

impl Sink for ProgressFile {
    fn event(&self, event: &Event) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let phase = match event.state {
            State::RunStarted => Phase::Working,
            State::Waiting | State::Retrying => {
                seen.wait(event.step.as_deref(), &event.message);
                Phase::Working
            }
            State::Verified | State::Unchanged | State::Failed | State::Cancelled => {
                let before = seen.waiting.len();
                seen.waiting.retain(|(step, _)| *step != event.step);
                if before == seen.waiting.len() && event.state != State::Failed {
                    return; // nobody was told that it is being waited for
                }
                if event.state == State::Failed {
                    let code = event.code.map(|code| format!("{code}: ")).unwrap_or_default();
                    let step = event.step.as_deref().unwrap_or("run");
                    seen.failed.get_or_insert_with(|| format!("{code}step `{step}`: {}", event.message));
                }
                Phase::Working
            }
            State::RunFinished if event.done == event.total => Phase::Done,
            State::RunFinished => Phase::Failed,
            _ => return,
        };
        let message = match (phase, &seen.failed) {
            (Phase::Failed, Some(first)) => first.clone(),
            (Phase::Working, _) if !seen.waiting.is_empty() => {
                seen.waiting.iter().map(|(_, what)| what.as_str()).collect::<Vec<_>>().join("; ")
            }
            _ => event.message.clone(),
        };
        self.write(&Progress {
            boot_id: self.boot_id.clone(),
            phase,
            done: event.done,
            total: event.total,
            message,
            time: event.time,
        });
    }
}
