//! A thread that writes the latest of what it is given, so that the sender never waits.

use std::{
    io,
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Events come in bursts; one write serves a burst.
const BURST: Duration = Duration::from_millis(50);

/// Writes values of one kind, of which only the latest matters.
pub(super) struct Writer<T> {
    work: Mutex<Option<(Sender<T>, JoinHandle<()>)>>,
}

impl<T: Send + 'static> Writer<T> {
    /// Starts the thread.
    pub(super) fn start(write: impl FnMut(&T) + Send + 'static) -> io::Result<Self> {
        let (give, take) = channel();
        let thread = thread::Builder::new().name("run-record".to_owned()).spawn(move || write_latest(&take, write))?;
        Ok(Self { work: Mutex::new(Some((give, thread))) })
    }

    /// Gives it something to write; nothing more after [`Writer::finish`].
    pub(super) fn put(&self, value: T) {
        if let Some((give, _)) = &*self.work.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = give.send(value); // only a thread that panicked takes nothing, and that is in the log
        }
    }
}

impl<T> Writer<T> {
    /// Returns when everything is written.
    pub(super) fn finish(&self) {
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((give, thread)) = work {
            drop(give);
            let _ = thread.join(); // that a thread panicked is in the log
        }
    }
}

impl<T> Drop for Writer<T> {
    fn drop(&mut self) {
        self.finish();
    }
}

fn write_latest<T>(take: &Receiver<T>, mut write: impl FnMut(&T)) {
    while let Ok(mut latest) = take.recv() {
        let until = Instant::now() + BURST;
        while let Ok(newer) = take.recv_timeout(until.saturating_duration_since(Instant::now())) {
            latest = newer;
        }
        write(&latest);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_last_value_is_always_written_and_a_burst_costs_little() {
        let written = Arc::new(Mutex::new(Vec::new()));
        let to = written.clone();
        let writer = Writer::start(move |value: &u32| to.lock().unwrap().push(*value)).unwrap();
        (1..=1000).for_each(|value| writer.put(value));
        writer.finish();
        writer.put(1001);
        let written = written.lock().unwrap();
        assert_eq!(written.last(), Some(&1000));
        assert!(written.len() < 1000, "{} writes", written.len());
    }
}
