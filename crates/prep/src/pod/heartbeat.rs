//! The heartbeat: `/tmp/healthy` is there as long as the loop goes on.
//!
//! A thread of its own looks after it, so that it notices too when the loop's own thread is stuck.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// The loop beats every few seconds; one silent for longer is stuck. Long enough for a slow disk to take a program.
const STUCK: Duration = Duration::from_mins(3);
/// Between two checks.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Where the loop says that it goes on.
#[derive(Clone)]
pub(super) struct Heartbeat {
    began: Instant,
    beat: Arc<AtomicU64>,
}

impl Heartbeat {
    /// Begins to look after the file.
    pub(super) fn start(file: PathBuf) -> io::Result<Self> {
        let heartbeat = Self { began: Instant::now(), beat: Arc::default() };
        let own = heartbeat.clone();
        thread::Builder::new().name("heartbeat".to_owned()).spawn(move || {
            let mut was_alive = None;
            loop {
                own.check(&file, STUCK, &mut was_alive);
                thread::sleep(CHECK_INTERVAL);
            }
        })?;
        Ok(heartbeat)
    }

    /// The loop goes on.
    pub(super) fn beat(&self) {
        self.beat.store(self.seconds(), Ordering::Relaxed);
    }

    fn seconds(&self) -> u64 {
        self.began.elapsed().as_secs()
    }

    fn check(&self, file: &Path, stuck: Duration, was_alive: &mut Option<bool>) {
        let is_alive = self.seconds().saturating_sub(self.beat.load(Ordering::Relaxed)) < stuck.as_secs();
        let done = if is_alive { fs::write(file, "") } else { remove(file) };
        if let Err(error) = done {
            tracing::warn!(%error, "cannot keep {}", file.display());
        }
        if *was_alive == Some(true) && !is_alive {
            tracing::error!("nothing has gone on for {} s; {} is removed", stuck.as_secs(), file.display());
        }
        *was_alive = Some(is_alive);
    }
}

/// Removes a file, if it is there.
pub(super) fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_there_as_long_as_the_loop_beats() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("healthy");
        let began = Instant::now().checked_sub(Duration::from_secs(500)).unwrap();
        let heartbeat = Heartbeat { began, beat: Arc::default() };
        let mut was_alive = None;
        let mut check = || {
            heartbeat.check(&file, STUCK, &mut was_alive);
            file.exists()
        };
        assert!(!check());
        heartbeat.beat();
        assert!(check());
        heartbeat.beat.store(500 - STUCK.as_secs(), Ordering::Relaxed);
        assert!(!check() && !check());
        heartbeat.beat();
        assert!(check());
    }
}
