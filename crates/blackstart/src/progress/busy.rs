//! Something that takes a while and has no steps: a line that says so, with the time that passes on a terminal.

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::{Output, output::note};

/// Does the work while saying what it is. With `-o json` nothing is printed.
pub(crate) fn busy<T>(out: Output, what: &str, work: impl FnOnce() -> T) -> T {
    busy_counting(out, what, |_| work())
}

/// The same for work that reports how far it is; on a terminal that is shown behind what it is.
pub(crate) fn busy_counting<T>(out: Output, what: &str, work: impl FnOnce(&dyn Fn(&str)) -> T) -> T {
    if out.is_json() {
        return work(&|_| {});
    }
    if !io::stderr().is_terminal() {
        note(&format!("{what} …\n"));
        return work(&|_| {});
    }
    let spinner = ProgressBar::new_spinner().with_message(what.to_owned());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        spinner.set_style(style);
    }
    spinner.enable_steady_tick(Duration::from_millis(120));
    let done = work(&|how_far| spinner.set_message(format!("{what}: {how_far}")));
    spinner.finish_and_clear();
    done
}
