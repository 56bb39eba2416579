//! One line per event on standard error, for logs and pipes.

use std::time::Duration;

use engine::{Event, Sink};

use super::words::{self, Clock};
use crate::output;

#[derive(Default)]
pub(super) struct Plain {
    clock: Clock,
}

impl Sink for Plain {
    fn event(&self, event: &Event) {
        output::note(&line(event, self.clock.elapsed(event)));
    }
}

fn line(event: &Event, elapsed: Duration) -> String {
    let (_, word, _) = words::mark(event.state);
    let of = format!("[{}/{}]", event.done, event.total);
    let who = event.step.as_deref().unwrap_or(&event.playbook);
    let again = if event.attempt > 1 { format!(" (attempt {})", event.attempt) } else { String::new() };
    let code = event.code.map(|code| format!(" {code}")).unwrap_or_default();
    let took = if words::is_end(event.state) { format!(" ({})", words::duration(elapsed)) } else { String::new() };
    format!("{of} {who}: {word}{code}{again}: {}{took}\n", event.message)
}
