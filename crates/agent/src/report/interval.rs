//! When to report again: now and then, soon after something has changed in the run, and never in a hurry.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// The longest time between two reports; a master that hears nothing for a few of these calls the node silent.
const LONGEST: Duration = Duration::from_secs(5);
/// The shortest one, however much happens.
const SHORTEST: Duration = Duration::from_secs(1);
/// Between two checks whether something has happened.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// Returns when there is something to report that is not what was `reported`, or when it is time for a sign of life.
pub(super) async fn until_changed_or_due<T: PartialEq>(now: impl Fn() -> T, reported: &T) {
    let end = Instant::now() + LONGEST;
    sleep(SHORTEST).await;
    while Instant::now() < end && now() == *reported {
        sleep(CHECK_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn at_once_when_something_changes_and_a_sign_of_life_otherwise() {
        for (changed_after, expected) in [(None, 5000), (Some(0), 1000), (Some(900), 1000), (Some(1900), 2000)] {
            let state = Cell::new("before");
            let begun = Instant::now();
            let change = async {
                if let Some(after) = changed_after {
                    sleep(Duration::from_millis(after)).await;
                    state.set("after");
                }
            };
            tokio::join!(until_changed_or_due(|| state.get(), &"before"), change);
            assert_eq!(begun.elapsed().as_millis(), expected, "changed after {changed_after:?}");
        }
    }
}
