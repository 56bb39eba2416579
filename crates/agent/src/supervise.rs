//! Keeps a duty going: what fails is logged and started again, later each time, and never disturbs another duty.

use std::time::{Duration, Instant};

use explain::Explain;
use tokio::time::sleep;

use crate::AgentError;

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A duty that ran this long was well; the next failure is a new one.
const WELL: Duration = Duration::from_mins(1);

/// Runs a duty for ever. One that ends without an error (its credentials were renewed) starts again at once.
pub(crate) async fn forever<F>(name: &'static str, duty: impl Fn() -> F)
where
    F: Future<Output = Result<(), AgentError>>,
{
    let mut pause = FIRST_PAUSE;
    loop {
        let started = Instant::now();
        match duty().await {
            Ok(()) => tracing::info!(duty = name, "starting again"),
            Err(error) => {
                pause = next_pause(pause, started.elapsed());
                tracing::error!(duty = name, code = error.code().id, error = explain::chain(&error), again_in = ?pause);
                sleep(pause).await;
            }
        }
    }
}

/// Doubles, up to a limit; begins again after a good time.
fn next_pause(last: Duration, ran: Duration) -> Duration {
    if ran >= WELL { FIRST_PAUSE } else { (last * 2).min(LONGEST_PAUSE) }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn pauses_grow_to_a_limit_and_begin_again() {
        let pauses: Vec<u64> = std::iter::successors(Some(FIRST_PAUSE), |&last| Some(next_pause(last, Duration::ZERO)))
            .take(8)
            .map(|pause| pause.as_secs())
            .collect();
        assert_eq!(pauses, [0, 1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(next_pause(LONGEST_PAUSE, WELL), FIRST_PAUSE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failing_duty_is_started_again() {
        let starts = AtomicUsize::new(0);
        let duty = || async {
            starts.fetch_add(1, Ordering::Relaxed);
            Err(AgentError::Api { doing: "anything", why: "it is a test".into() })
        };
        assert!(tokio::time::timeout(Duration::from_mins(1), forever("test", duty)).await.is_err());
        assert_eq!(starts.load(Ordering::Relaxed), 6);
    }
}
