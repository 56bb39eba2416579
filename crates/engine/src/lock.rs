//! One run at a time on a machine.
//!
//! The lock is the kernel's: it goes away with the process, however that ends. The note in the file only shows a second
//! run who holds it.

use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use explain::{Code, Explain};
use host::{Host, HostError, create_dir_all, disk::LockGuard};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::codes;

/// Who holds the lock for a moment only, to replace files: a run waits for it and is not refused.
pub const RENEWAL: &str = "renewal";

const POLL: Duration = Duration::from_millis(10);
/// Longer than some twenty files take on a busy disk.
const MOMENT: Duration = Duration::from_secs(10);

/// Who holds the lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Process id.
    pub pid: u32,
    /// When its run started.
    pub since: Timestamp,
    /// What it runs.
    pub playbook: String,
}

/// Why the lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process has it.
    #[error("{}", held_text(.holder.as_ref(), .path))]
    Held {
        /// Who, as far as the note says.
        holder: Option<Holder>,
        /// The lock's file.
        path: PathBuf,
    },
    /// The file could not be made or written.
    #[error(transparent)]
    Host(#[from] HostError),
}

fn held_text(holder: Option<&Holder>, path: &Path) -> String {
    match holder {
        Some(Holder { pid, since, playbook }) => {
            format!("another run is working on this machine: process {pid}, `{playbook}`, since {since:.0}")
        }
        None => format!("another run is working on this machine (it holds {})", path.display()),
    }
}

impl Explain for LockError {
    fn code(&self) -> Code {
        match self {
            Self::Held { .. } => codes::LOCKED,
            Self::Host(error) => error.code(),
        }
    }
}

/// Takes the machine's lock for a run, or for a command that changes something without one; it is released when the
/// guard is dropped.
pub fn acquire(host: &Host, state_dir: &Path, playbook: &str) -> Result<Box<dyn LockGuard>, LockError> {
    create_dir_all(&*host.disk, state_dir, 0o755)?;
    let path = state_dir.join("lock");
    let until = Instant::now() + MOMENT;
    let guard = loop {
        if let Some(guard) = host.disk.try_lock(&path)? {
            break guard;
        }
        let holder = who_holds(host, &path);
        let is_brief = holder.as_ref().is_some_and(|holder| holder.playbook == RENEWAL);
        if !is_brief || Instant::now() > until {
            return Err(LockError::Held { holder, path });
        }
        thread::sleep(POLL);
    };
    let holder = Holder { pid: std::process::id(), since: host.clock.now(), playbook: playbook.to_owned() };
    guard.note(&serde_json::to_string(&holder).unwrap_or_default())?;
    Ok(guard)
}

/// The note is written a moment after the lock is taken: until then it may name a process that is long gone.
fn who_holds(host: &Host, path: &Path) -> Option<Holder> {
    for _ in 0..10 {
        let note = host.disk.read(path).ok().and_then(|text| serde_json::from_slice::<Holder>(&text).ok());
        if let Some(holder) = note
            && Path::new("/proc").join(holder.pid.to_string()).exists()
        {
            return Some(holder);
        }
        thread::sleep(POLL);
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_moment_is_waited_for_and_a_run_is_not() {
        for (held_by, is_waited_for) in [(RENEWAL, true), ("cluster", false)] {
            let root = tempfile::tempdir().unwrap();
            let host = Host::rooted(root.path());
            let (held, is_held) = mpsc::channel();
            let holder = thread::spawn({
                let host = Host::rooted(root.path());
                move || {
                    let guard = acquire(&host, Path::new("/state"), held_by).unwrap();
                    held.send(()).unwrap();
                    thread::sleep(Duration::from_millis(300));
                    drop(guard);
                }
            });
            is_held.recv().unwrap();
            let taken = acquire(&host, Path::new("/state"), "pki renew");
            assert_eq!(taken.is_ok(), is_waited_for, "{held_by}");
            holder.join().unwrap();
        }
    }
}
