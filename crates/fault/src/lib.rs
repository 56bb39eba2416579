//! Ends this program at one exact instant of a run, for the proofs of recovery in `tests/recovery`. Only in debug builds.
//!
//! `BLACKSTART_FAULT=STEP:INSTANT:ENDING` names the instant and what happens then:
//!
//! | instant    | when                                                                                       |
//! |------------|--------------------------------------------------------------------------------------------|
//! | `started`  | the step is about to look at the machine                                                   |
//! | `before-N` | its Nth change is recorded and about to be made                                            |
//! | `within-N` | its Nth change has begun: something is written but not synced, a command runs, a request is under way |
//! | `waiting`  | its changes are made, what they promise is not seen yet                                    |
//! | `ended`    | the promise is seen and recorded                                                           |
//!
//! The runner waits for its sinks, so the first, second and last two are exact by themselves; for `within` the disk and
//! the commands of the run are watched too (`watched`). `kill` ends the process by SIGKILL. `halt` stops all of it by
//! SIGSTOP, for a test that cuts the machine's power then. It happens once per boot: a mark in /run says that it has,
//! and where.

mod clock;
mod instant;
mod watched;

use std::{
    fs,
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use engine::{Event, Runner, Sink, State};
use nix::sys::signal::{Signal, raise};
use tokio::time::sleep;

pub use self::clock::installed as clock;
use self::instant::{Ending, Instant, Plan};

const VARIABLE: &str = "BLACKSTART_FAULT";
const MARK: &str = "/run/blackstart-fault";

/// How long a request has been under way when it is interrupted.
const UNDER_WAY: Duration = Duration::from_millis(3);

/// Prepares the run for its end, if one is asked for and has not been yet. `note` hears of one that cannot be understood.
pub fn install(runner: &mut Runner, note: impl Fn(&str)) {
    let Ok(text) = std::env::var(VARIABLE) else { return };
    let plan = match text.parse() {
        Ok(plan) => plan,
        Err(why) => return note(&format!("{VARIABLE}={text} is ignored: {why}\n")),
    };
    if fs::exists(MARK).unwrap_or_default() {
        return;
    }
    let fault = Arc::new(Fault {
        plan,
        changes: AtomicUsize::new(0),
        is_within: AtomicBool::new(false),
        checks: AtomicUsize::new(0),
    });
    runner.host.disk = Arc::new(watched::Disk { inner: runner.host.disk.clone(), fault: fault.clone() });
    runner.host.commands = Arc::new(watched::Commands { inner: runner.host.commands.clone(), fault: fault.clone() });
    runner.sinks.push(Arc::new(Listener(fault)));
}

/// A run that is to end at an instant.
struct Fault {
    plan: Plan,
    /// Changes that the step has begun.
    changes: AtomicUsize,
    /// Whether the change in which to end has begun.
    is_within: AtomicBool,
    /// Commands of the run that only look and have not ended.
    checks: AtomicUsize,
}

impl Fault {
    /// The change begins. It is the next thing the run does: what it writes, and a command that it starts, are seen as they
    /// happen. When the run comes to wait for anything else, that is a request under way.
    fn enter(self: &Arc<Self>) {
        self.is_within.store(true, Ordering::SeqCst);
        let fault = self.clone();
        tokio::spawn(async move {
            loop {
                sleep(UNDER_WAY).await;
                if fault.checks.load(Ordering::SeqCst) == 0 {
                    fault.strike("a request is under way");
                }
            }
        });
    }

    /// Something of the outside is being changed.
    fn touched(&self, what: &str) {
        if self.is_within.load(Ordering::SeqCst) {
            self.strike(what);
        }
    }

    /// The end. The process that makes the mark strikes; if it cannot be made, the test sees a run that goes on.
    fn strike(&self, when: &str) {
        let mark = fs::File::create_new(MARK);
        if mark.and_then(|mut mark| writeln!(mark, "{when}")).is_ok() {
            let _ = raise(match self.plan.ending {
                Ending::Kill => Signal::SIGKILL,
                Ending::Halt => Signal::SIGSTOP,
            });
        }
    }
}

/// Hears of the run.
struct Listener(Arc<Fault>);

impl Sink for Listener {
    fn event(&self, event: &Event) {
        let Self(fault) = self;
        if event.step.as_ref() != Some(&fault.plan.step) {
            return;
        }
        fault.touched("right after the change");
        let number = match event.state {
            State::Applying => fault.changes.fetch_add(1, Ordering::SeqCst) + 1,
            _ => 0,
        };
        if fault.plan.instant.is(event.state, number) {
            fault.strike(event.message());
        } else if event.state == State::Applying && fault.plan.instant == Instant::Within(number) {
            fault.enter();
        }
    }
}
