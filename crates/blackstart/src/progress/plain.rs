//! One line per event on standard error, for logs and pipes.

use std::time::Duration;

use engine::{Event, Sink};

use super::labels::{self, Clock};
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
    let (_, word, _) = labels::mark(event.state);
    let of = format!("[{}/{}]", event.done, event.total);
    let who = event.step.as_deref().unwrap_or(&event.playbook);
    let again = if event.attempt > 1 { format!(" (attempt {})", event.attempt) } else { String::new() };
    let code = event.error().map(|error| format!(" {}", error.code)).unwrap_or_default();
    let took = if labels::is_end(event.state) { format!(" ({})", labels::duration(elapsed)) } else { String::new() };
    format!("{of} {who}: {word}{code}{again}: {}{took}\n", event.message())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::labels::tests::small_run;

    #[test]
    fn one_line_per_event() {
        let lines: String = small_run().iter().map(|event| line(event, Duration::from_secs(75))).collect();
        insta::assert_snapshot!(lines, @r"
        [1/3] cluster: run: 3 steps
        [1/3] etcd: wait: etcd to answer on :2379
        [1/3] etcd: retry BS-ENGINE-002: waited for etcd to answer on :2379; no progress for 60 s
        [1/3] etcd: change (attempt 2): write /etc/etcd/etcd.env (0600, 412 bytes)
        [1/3] etcd: stopped (attempt 2): stopped; run again to go on (1 min 15 s)
        [1/3] cluster: end: 1 verified, 0 of them changed, stopped before the end
        ");
    }
}
