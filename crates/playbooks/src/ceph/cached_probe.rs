//! Questions that cost too much to be asked at every check: `systemctl` starts a process, and the `ceph` command takes half a
//! second of a processor, while everything else on the machine is starting, too.

use std::time::Duration;

use engine::StepError;
use tokio::{sync::Mutex, time::Instant};

/// The last answer to a question, good for a while.
pub(super) struct CachedProbe<T> {
    every: Duration,
    last: Mutex<Option<(Instant, T)>>,
}

impl<T: Clone> CachedProbe<T> {
    pub(super) fn new(every: Duration) -> Self {
        Self { every, last: Mutex::new(None) }
    }

    /// The last answer, or a new one if that is too old.
    pub(super) async fn ask<F>(&self, ask: impl FnOnce() -> F) -> Result<T, StepError>
    where
        F: Future<Output = Result<T, StepError>>,
    {
        let mut last = self.last.lock().await;
        if let Some((_, answer)) = last.as_ref().filter(|(since, _)| since.elapsed() < self.every) {
            return Ok(answer.clone());
        }
        let answer = ask().await?;
        *last = Some((Instant::now(), answer.clone()));
        Ok(answer)
    }

    /// Lets the next question be asked: something was changed.
    pub(super) async fn forget(&self) {
        *self.last.lock().await = None;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_question_is_asked_again_after_a_while_or_a_change() {
        let cached = CachedProbe::new(Duration::from_secs(3));
        let asked = AtomicU32::new(0);
        let ask = async || cached.ask(async || Ok(asked.fetch_add(1, Ordering::Relaxed))).await.unwrap();
        assert_eq!((ask().await, ask().await), (0, 0));
        tokio::time::advance(Duration::from_secs(4)).await;
        assert_eq!((ask().await, ask().await), (1, 1));
        cached.forget().await;
        assert_eq!(ask().await, 2);
    }
}
