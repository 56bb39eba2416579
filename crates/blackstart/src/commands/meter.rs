//! How much of a large file has come, on a terminal; elsewhere a line that says what is being done.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};

use crate::{Output, output::note};

/// Shown until it is dropped.
pub(super) struct Meter(Option<ProgressBar>);

impl Meter {
    pub(super) fn new(out: Output, what: &'static str) -> Self {
        if out.is_json() {
            return Self(None);
        }
        if !io::stderr().is_terminal() {
            note(&format!("{what} …\n"));
            return Self(None);
        }
        let bar = ProgressBar::new(0).with_message(what);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {bytes} of {total_bytes} {elapsed}") {
            bar.set_style(style);
        }
        Self(Some(bar))
    }

    pub(super) fn show(&self, done: u64, total: u64) {
        if let Some(bar) = &self.0 {
            bar.set_length(total);
            bar.set_position(done);
        }
    }

    /// Something else is being done now.
    pub(super) fn say(&self, what: &'static str) {
        if let Some(bar) = &self.0 {
            bar.set_message(what);
            bar.tick();
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
