//! Something that takes a while and has no steps: a line that says so, with the time that passes on a terminal.

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::{Output, output::note};

/// Does the work while saying what it is. Scripts are not told.
pub(crate) fn busy<T>(out: Output, what: &str, work: impl FnOnce() -> T) -> T {
    if out.is_json() {
        return work();
    }
    if !io::stderr().is_terminal() {
        note(&format!("{what} …\n"));
        return work();
    }
    let spinner = ProgressBar::new_spinner().with_message(what.to_owned());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        spinner.set_style(style);
    }
    spinner.enable_steady_tick(Duration::from_millis(120));
    let done = work();
    spinner.finish_and_clear();
    done
}
