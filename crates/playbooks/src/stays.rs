//! Steps of which nothing is taken back beyond their files.

use engine::{StepError, TakeBack};
use host::Host;

/// What was done stays. Why, is said where the step is listed.
pub(crate) struct Stays;

impl TakeBack for Stays {
    fn shows_act(&self, _key: &str) -> Option<String> {
        None
    }

    async fn act(&self, _key: &str, _host: &Host) -> Result<(), StepError> {
        Ok(())
    }
}
