//! A way to stop work from another thread, for example on Ctrl-C.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::BundleError;

/// Shared by the task that may stop the work and those that do it. Work stops within a moment and leaves nothing half-made.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks the work to stop.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// An error once the work was asked to stop.
    pub(crate) fn check(&self) -> Result<(), BundleError> {
        if self.0.load(Ordering::Relaxed) { Err(BundleError::Stopped) } else { Ok(()) }
    }
}
