//! The files by which a pod of ours says how it is; its probes ask for them.
//!
//! | file | there as long as |
//! |---|---|
//! | [`HEALTHY`] | the pod's loop goes on: its [`Heartbeat`] |
//! | [`READY`] | it does what it is there for: [`Ready`] |
//!
//! A thread of its own looks after the heartbeat, so that it notices too when the loop's own thread is stuck.

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

/// There as long as the loop goes on.
pub const HEALTHY: &str = "/tmp/healthy";
/// There as long as the pod does what it is there for.
pub const READY: &str = "/tmp/ready";
/// The loop beats every few seconds; one silent for longer is stuck. Long enough for a slow disk to take a program.
const STUCK: Duration = Duration::from_mins(3);
/// Between two checks.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Where the loop says that it goes on.
#[derive(Debug, Clone)]
pub struct Heartbeat {
    began: Instant,
    beat: Arc<AtomicU64>,
}

impl Heartbeat {
    /// Begins to look after the file.
    pub fn start(file: PathBuf) -> io::Result<Self> {
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
    pub fn beat(&self) {
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

/// Whether the pod does what it is there for.
#[derive(Debug)]
pub struct Ready {
    file: PathBuf,
    is_shown: bool,
}

impl Ready {
    /// Not yet, whatever an earlier container of this pod has left.
    pub fn not_yet(file: PathBuf) -> io::Result<Self> {
        remove(&file)?;
        Ok(Self { file, is_shown: false })
    }

    /// From now on.
    pub fn show(&mut self, is_ready: bool) {
        if is_ready == self.is_shown {
            return;
        }
        match if is_ready { fs::write(&self.file, "") } else { remove(&self.file) } {
            Ok(()) => self.is_shown = is_ready,
            Err(error) => tracing::warn!(%error, "cannot keep {}", self.file.display()),
        }
    }
}

/// Removes a file, if it is there.
pub fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_ready_from_when_it_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("ready");
        fs::write(&file, "of an earlier container").unwrap();
        let mut ready = Ready::not_yet(file.clone()).unwrap();
        assert!(!file.exists());
        for is_ready in [true, true, false, false, true] {
            ready.show(is_ready);
            assert_eq!(file.exists(), is_ready);
        }
        assert!(Ready::not_yet(dir.path().join("ready")).is_ok_and(|_| !file.exists()));
    }

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
