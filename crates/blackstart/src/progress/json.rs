//! One event per line on standard output, as `docs/reference/events.md` describes them.

use engine::{Event, Sink};

use crate::output;

pub(super) struct Json;

impl Sink for Json {
    fn event(&self, event: &Event) {
        if let Ok(mut line) = serde_json::to_vec(event) {
            line.push(b'\n');
            // A script that stopped reading must not stop the work: the run goes on unheard.
            let _ = output::print(&line);
        }
    }
}
