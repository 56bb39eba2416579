//! A live display on a terminal: one line per step that is being worked on, with what it does or waits for and for how
//! long; settled steps scroll up.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use engine::{Event, Sink, State};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::words::{self, Clock};
use crate::output::painted;

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
        total.set_style(style("[{pos}/{len}] {msg} {elapsed}"));
        Self { bars, total, running: Mutex::default(), clock: Clock::default(), color }
    }

    /// The line of a step, made when it is first heard of.
    fn with_bar(&self, step: &str, change: impl FnOnce(&ProgressBar)) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = running.entry(step.to_owned()).or_insert_with(|| {
            let bar = self.bars.insert_before(&self.total, ProgressBar::new_spinner());
            bar.set_style(style("{spinner} {prefix}  {wide_msg} {elapsed:>5}"));
            bar.set_prefix(step.to_owned());
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        change(bar);
    }

    fn settle(&self, step: &str, event: &Event) {
        let bar = self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(step);
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        self.say(&settled(event, self.clock.elapsed(event), self.color));
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
                let took = words::duration(elapsed);
                self.say(&format!("{} on {}: {} ({took})", event.playbook, event.node, event.message));
            }
            (None, _) => self.say(&settled(event, elapsed, self.color)),
            (Some(step), state) if words::is_end(state) => self.settle(step, event),
            (Some(step), State::Waiting) => {
                self.with_bar(step, |bar| bar.set_message(format!("waiting for {}", event.message)));
            }
            (Some(step), State::Retrying) => {
                self.say(&settled(event, elapsed, self.color));
                self.with_bar(step, |bar| bar.set_message(format!("trying again after: {}", event.message)));
            }
            (Some(step), _) => self.with_bar(step, |bar| bar.set_message(event.message.clone())),
        }
    }
}

fn settled(event: &Event, elapsed: Duration, color: bool) -> String {
    let (sign, word, style) = words::mark(event.state);
    let who = event.step.as_deref().unwrap_or(&event.playbook);
    let code = event.code.map(|code| format!("{code}: ")).unwrap_or_default();
    let marked = painted(color, style, format!("{sign} {word:<9}"));
    format!("{marked} {who}  {code}{} ({})", event.message, words::duration(elapsed))
}

/// The templates are fixed and tested; a broken one would still show the message.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
