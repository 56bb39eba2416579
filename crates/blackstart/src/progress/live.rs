//! A live display on a terminal: one line per step that is being worked on, with what it does or waits for and for how
//! long; finished steps scroll up.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use engine::{Event, Sink, State};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::labels::{self, Clock};
use crate::output::painted;

/// The last line: how far the run is.
const TOTAL: &str = "[{pos}/{len}] {msg} {elapsed}";

/// A step that is being worked on.
const STEP: &str = "{spinner} {prefix}  {wide_msg} {elapsed:>5}";

pub(super) struct Live {
    bars: MultiProgress,
    total: ProgressBar,
    running: Mutex<HashMap<String, ProgressBar>>,
    clock: Clock,
    color: bool,
}

impl Live {
    pub(super) fn new(color: bool) -> Self {
        let bars = MultiProgress::new();
        let total = bars.add(ProgressBar::new(0));
        total.set_style(style(TOTAL));
        Self { bars, total, running: Mutex::default(), clock: Clock::default(), color }
    }

    /// The line of a step, made when it is first heard of.
    fn with_bar(&self, step: &str, change: impl FnOnce(&ProgressBar)) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = running.entry(step.to_owned()).or_insert_with(|| {
            let bar = self.bars.insert_before(&self.total, ProgressBar::new_spinner());
            bar.set_style(style(STEP));
            bar.set_prefix(step.to_owned());
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        change(bar);
    }

    fn finish_step(&self, step: &str, event: &Event) {
        let bar = self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(step);
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        self.say(&finished_line(event, self.clock.elapsed(event), self.color));
        self.total.set_position(event.done as u64);
    }

    fn say(&self, line: &str) {
        // The terminal may be gone; the work goes on.
        let _ = self.bars.println(line);
    }
}

impl Sink for Live {
    fn event(&self, event: &Event) {
        let elapsed = self.clock.elapsed(event);
        match (event.step.as_deref(), event.state) {
            (None, State::RunStarted) => {
                self.total.set_length(event.total as u64);
                self.total.set_message(format!("{} on {}", event.playbook, event.node));
                self.total.enable_steady_tick(Duration::from_millis(500));
            }
            (None, State::RunFinished) => {
                self.total.finish_and_clear();
                let took = labels::duration(elapsed);
                self.say(&format!("{} on {}: {} ({took})", event.playbook, event.node, event.message()));
            }
            (None, _) => self.say(&finished_line(event, elapsed, self.color)),
            (Some(step), state) if labels::is_end(state) => self.finish_step(step, event),
            (Some(step), State::Waiting) => {
                self.with_bar(step, |bar| bar.set_message(format!("waiting for {}", event.message())));
            }
            (Some(step), State::Retrying) => {
                self.say(&finished_line(event, elapsed, self.color));
                self.with_bar(step, |bar| bar.set_message(format!("trying again after: {}", event.message())));
            }
            (Some(step), _) => self.with_bar(step, |bar| bar.set_message(event.message().to_owned())),
        }
    }
}

fn finished_line(event: &Event, elapsed: Duration, color: bool) -> String {
    let (sign, word, style) = labels::mark(event.state);
    let who = event.step.as_deref().unwrap_or(&event.playbook);
    let code = event.error().map(|error| format!("{}: ", error.code)).unwrap_or_default();
    let marked = painted(color, style, format!("{sign} {word:<9}"));
    format!("{marked} {who}  {code}{} ({})", event.message(), labels::duration(elapsed))
}

/// The templates are fixed and tested; a broken one would still show the message.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::labels::tests::small_run;

    #[test]
    fn the_templates_are_whole() {
        for template in [TOTAL, STEP] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }

    #[test]
    fn what_scrolls_up_says_in_words_what_the_colour_says() {
        let mut events = small_run();
        events.retain(|event| labels::is_end(event.state) || event.state == State::Retrying);
        let lines = |color| {
            let line = |event| finished_line(event, Duration::from_secs(75), color);
            events.iter().map(line).collect::<Vec<_>>().join("\n")
        };
        insta::assert_snapshot!(lines(false), @r"
        ! retry     etcd  BS-ENGINE-002: waited for etcd to answer on :2379; no progress for 60 s (1 min 15 s)
        ! stopped   etcd  stopped; run again to go on (1 min 15 s)
        ");
        let styles = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
        assert_ne!(lines(true), lines(false));
        assert_eq!(styles.replace_all(&lines(true), ""), lines(false));
    }
}
